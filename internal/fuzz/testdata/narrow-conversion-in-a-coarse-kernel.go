//fuzz:launch seed=3000982 grid=1x1x1 block=4x4x1 atomicAnd=3 h=3 in0=8 out0=18 sums=6 w=2

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, w int, h int, in0 []int32, out0 []int, sums []uint64) {
	x, y := t.Global2()
	if x < w && y < h {

		acc := uint64(0)

		v2 := h | int(uint16(in0[0]))

		acc = uint64(v2)
		sums[y*w+x] = acc
	}
}

// sim coarse: sums[0] = 65539, want 3: int(uint16(x)) of an int32 lost the uint16.
