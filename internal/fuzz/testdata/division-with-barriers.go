//fuzz:launch seed=1202000550 grid=2x1x1 block=32x1x1 atomicAdd=3 atomicMin=1 in0=65 n=64 out0=64 out1=64 out2=128 sums=64

package main

import (
	"math"
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []int, out0 []int32, out1 []int, out2 []uint16, sums []uint64) {
	cells0 := kernel.Shared[[33]int64](t)

	cells1 := 0
	_ = cells1
	counts := t
	_ = counts
	i, tid := t.Global(), t.ThreadIdx.X

	acc := uint64(0)
	if out2[0] >= 4 {
		v1 := 0/(out1[i]|1) - 1
		acc = imageP0(float64(v1))
	}
	if tid < 3 {
		out0[i] *= int32(out1[i])

	} else {
		if t.Stride() > 0 && in0[i] < 0 {
		} else {
			acc = 0
		}
	}
	v3 := 0
	_ = v3

	for r8 := range 2 {
		acc = acc + uint64(r8)
		for r9 := range 3 {
			acc = acc + uint64(r9)
			cells0[tid] = 0 % max(int64(out2[0]), 1)

			v10 := 0
			_ = v10
			t.Sync()

		}
		v11 := 0 != i
		acc = acc + uint64(truthP0(v11))
	}

	v12 := 0

	acc = acc + uint64(v12)
	sums[i] = acc
}

func truthP0(b bool) int {
	if b {
		return 1
	}
	return 0
}

func imageP0(x float64) uint64 {
	if x != x {
		return 1
	}
	return math.Float64bits(x)
}
