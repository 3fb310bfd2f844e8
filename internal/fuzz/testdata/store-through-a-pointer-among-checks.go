//fuzz:launch seed=203000743 grid=1x1x1 block=16x1x1 atomicAdd=1 atomicMax=2 atomicMin=2 bound=16 fused=16 in0=18 in1=17 n=16 out0=48 out1=16 out2=16 sums=16

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=16
func kernelP0(t kernel.Thread, n int, in0 []bool, in1 []uint, out0 []int32, out1 []uint32, out2 []int32, fused []float64, bound []float64, sums []uint64, atomicAdd []float32) {
	if i := t.Global(); i < n {
		acc := uint64(0)

		kernel.AtomicAdd(&atomicAdd[0], 0)

		ok := uint8(7)
		{
			fn16 := func(a16 uint64) uint8 {
				return 0
			}
			v17 := fn16(0)
			v18 := &ok
			{
				v18 = &v17
			}
			*v18 ^= uint8(out0[1])

			acc = uint64(v17)

		}

		sums[i] = acc
	}
}

// sim narrow: sums[0] = 0, want 7: the read of v17 moved before the store, together with
// the check of sums[i].
