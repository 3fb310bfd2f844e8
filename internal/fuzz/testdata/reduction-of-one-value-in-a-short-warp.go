//fuzz:launch seed=602000440 grid=1x1x1 block=7x1x1 n=7 sums=7

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=7
func kernelP0(t kernel.Thread, n int, p uint64, q int64, sums []uint64) {

	i := t.Global()

	acc := uint64(0)
	v1 := kernel.WarpReduceAdd(t, q)

	acc = uint64(v1)

	sums[i] = acc
}

// cuda proven: sums[4] = 18446744073709551604, want 18446744073709551602
