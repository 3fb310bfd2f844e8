//fuzz:launch seed=63203695 grid=3x1x1 block=8x1x1 at0=92<42 atomicMax=2 count0=33 count1=26 data0=92 data1=92 in0=30 n=28 out0=224 out1=112 sums=28 width=12

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=8
func kernelP0(t kernel.Thread, n int, in0 []int, count0 uint64, count1 int16, at0 []uint16, width int, data0 []float64, data1 []uint8, out0 []float32, out1 []int) {
	for i := t.Global(); i < n; i += t.Stride() {
		wout1 := out1[i : i+4 : i+4]

		acc := uint64(0)
		v1 := *(*[3]int)(in0[1:])

		wout1[3] = out1[0] * 63 << (uint8(acc) - 9)

		acc = uint64(v1[2])

	}
}

// cuda narrow: out1[3] = 315, want 0
