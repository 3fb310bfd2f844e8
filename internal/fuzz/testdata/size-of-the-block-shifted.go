//fuzz:launch seed=30077229 grid=1x1x1 block=8x1x1 at0=39<13 bound=13 count0=18 data0=13 data1=44 ends=14<48/6!1 fused=13 in0=14 in1=15 n=13 out0=13 out1=13 sums=13 width=12

package main

import (
	"quern.dev/kernel"
)

type rec1P0 struct {
	c int32
}

//quern:kernel block=8
func kernelP0(t kernel.Thread, n int, p float64, q int32, r float64, in0 []int64, in1 []rec1P0, count0 uint8, ends []uint32, at0 []uint8, width int, data0 []int, data1 []rec1P0, out0 []int, out1 []float32) {
	for i := 0; i < n; i += t.Stride() {
		wout0 := out0[i:1:1]
		_ = wout0
		wout1 := out1[i:1:1]

		acc := uint64(0)

		{
			wout1[0] = float32(t.BlockDim.X << i)

		}
		v1 := 0

		v2 := 0
		acc = uint64(v1)
		acc = acc + uint64(v2)

	}
}
