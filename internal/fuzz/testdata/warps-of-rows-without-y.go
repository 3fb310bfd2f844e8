//fuzz:launch seed=78400545 grid=1x1x1 block=7x1x1 at0=29<7 at1=29<7 at2=29<7 count0=40 data0=29 data1=7 in0=9 in1=9 in2=8 n=7 out0=56 out1=56 out2=56 sums=7 width=9

package main

import (
	"quern.dev/kernel"
)

type rec1P0 struct {
	c int8
}

type rec2P0 struct {
	c bool
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []uint8, in1 []uint32, in2 []rec2P0, count0 int16, at0 []uint64, at1 []int8, at2 []int, width int, data0 []rec1P0, data1 []rec1P0, out0 []uint64, out1 []int, out2 []uint32) {
	cells0 := 0
	_ = cells0
	cells1 := false
	_ = cells1
	counts := t
	_ = counts
	i, tid := 0, 0
	_ = tid
	acc := uint64(0)
	var v1 uint16
	_ = v1

	v3 := t
	_ = v3
	var v4 int
	if t.Warp() == 0 {
		v4 = kernel.WarpReduceOr(t, 0)
	}
	_ = v4
	v5 := 0

	v6 := 3
	_ = v6
	var v7 int

	_ = v5

	_ = v7

	v18 := out2[i]

	acc = acc + uint64(v18)

}
