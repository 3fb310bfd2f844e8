//fuzz:launch seed=102003532 grid=2x1x1 block=32x1x1 atomicMax=2 atomicMin=4 atomicOr=1 atomicXor=3 bound=64 fused=64 in0=64 in1=65 n=64 out0=256 sums=64

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=32
func kernelP0(t kernel.Thread, n int, p uint32, q uint, r float64, in0 []uint32, in1 []int32, out0 []uint64, fused []float32, bound []float32, sums []uint64) {

	i := t.Global()

	acc := uint64(0)

	v2 := out0[4] > 9223372036854775807
	{

		{

			acc = uint64(truthP0(truthP0(v2) < 0))
		}

	}

	acc = uint64(truthP0(v2))

	sums[i] = acc
}

func truthP0(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sim coarse: sums[0] = 0, want 1: see compared-with-the-largest-int64.go.
