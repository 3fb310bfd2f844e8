//fuzz:launch seed=3001590 grid=2x1x1 block=64x1x1 in0=129 out0=128 sums=128 n=128

package main

import "quern.dev/kernel"

//quern:kernel block=64
func kernelP0(t kernel.Thread, n int, p bool, q int, r bool, in0 []int, out0 []bool, sums []uint64) {
	i := t.Global()
	acc := uint64(in0[i])
	out0[i] = acc > 9223372036854775807
	if acc > 9223372036854775807 {
		acc = 3
	}
	sums[i] = acc
}

// sim coarse: sums[0] = 0, want 1: a value without an upper bound was assumed to be at
// most 1<<63 - 1.
