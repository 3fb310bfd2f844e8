//fuzz:launch seed=104003763 grid=1x1x1 block=31x1x1 in0=35 n=35

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []bool) {
	for i := 0; i < n; i += t.Stride() {
		var v1 int = 1
		{
			v4 := in0[0:1]
			if v4[v1] {
			}
		}
		v1 = i >> 1
		v1 += 9223372036854775806
	}
}

// compile: nil pointer: the bound that would keep v1 in int32 overflows int64.
