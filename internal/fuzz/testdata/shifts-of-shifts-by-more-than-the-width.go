//fuzz:launch seed=63201046 grid=1x1x1 block=32x1x1 at0=264<42 atomicAnd=3 atomicXor=1 count0=28 data0=264 in0=33 in1=32 n=32 out0=96 out1=32 sums=32 width=4

package main

import (
	"math/bits"
	"quern.dev/kernel"
)

func cutfint64P0(x float32) int64 {
	return int64(x)
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, p [5]int, q float32, in0 []uint64, in1 []float32, count0 uint16, at0 []int, width int, data0 []uint, out0 []uint, out1 []int, sums []uint64) {
	cells0 := t
	_ = cells0
	cells1 := t
	_ = cells1
	counts := t
	_ = counts
	i, tid := t.Global(), 0
	_ = tid
	acc := uint64(0)
	step3 := uint64(2)
	for v2 := uint64(0); v2 < 4; v2 += step3 {
	}

	v8 := 0
	_ = v8

	v9 := 0
	_ = v9

	v10 := 0
	_ = v10
	var v11 int

	var v12 int

	//quern:nounroll
	for j13 := 0; j13 < 4; j13 += 3 {
	}
	step16 := uint(1)
	for v15 := uint(2); v15 < 4; v15 += step16 {
	}

	_ = v12
	v24 := cutfint64P0(q)

	for v28 := range 6 {
		acc = uint64(v28)
		var v29 kernel.Vec2[uint8]

		v30 := 0

		{
			v31 := 0

			v24 <<= 30
			acc = uint64(v31)
		}

		acc = uint64(v29.Y)
		acc = uint64(v30)
	}

	v44, v45 := bits.Sub32(0, uint32(v11), 1)

	acc = uint64(v24)

	acc = acc + uint64(v44)
	acc = acc + uint64(v45)
	sums[i] = acc
}

// cuda narrow: sums[0] = 14987979564183977984, want 4294967296
