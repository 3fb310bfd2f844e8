//fuzz:launch seed=50001435 grid=3x1x1 block=31x1x1 n=93 out0=93

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=31
func kernelP0(t kernel.Thread, n int, out0 []int32) {
	var v2 *int8
	*v2 += *v2 * 0
	out0[t.Global()%n] = 1
}
