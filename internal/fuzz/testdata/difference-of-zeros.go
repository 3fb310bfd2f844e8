//fuzz:launch seed=51800047 grid=1x1x1 block=7x1x1 n=7 in0=7 in1=64 out0=64 sums=7

package main

import "quern.dev/kernel"

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []uint64, in1 []uint32, out0 []uint16, sums []uint64) {
	shared := kernel.Shared[[64]uint32](t)
	i := t.Global()
	if i >= n {
		return
	}
	x := in0[i]
	zero := uint64(0)
	zero -= 119722 & (zero * x)
	high := uint64(0)
	high -= high<<3 + x<<32>>32<<32
	shared[i] = uint32(x)
	sums[i] = uint64(in1[zero]) + uint64(shared[zero+uint64(i)])
	out0[zero+uint64(i)] = uint16(x)
	sums[i] += uint64(in1[high+(x<<32)+3])
}

// cuda: ILLEGAL_ADDRESS: ptxas folded the upper half of the first difference to -1.
