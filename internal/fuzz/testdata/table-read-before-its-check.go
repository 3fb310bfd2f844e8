//fuzz:launch seed=63703962 grid=2x1x1 block=32x1x1 at0=72<64!1 at1=41<100!1 at2=100<100!3 atomicMax=3 atomicOr=2 count0=18 data0=100 ends=65<73/2!2 in0=64 n=64 out0=64 out1=192 out2=64 sums=64 width=4

package main

import (
	"math/bits"
	"quern.dev/kernel"
)

var tab2P0 = [5]uint{}

//quern:kernel
func kernelP0(t kernel.Thread) {
	cells0 := kernel.Shared[[34]int8](t)

	cells1 := t
	_ = cells1
	counts := t
	_ = counts
	i, tid := t.Global(), t.ThreadIdx.X

	acc := uint64(0)

	//quern:unroll 4
	for v2 := 1; v2 < 2; v2++ {
	}
	cells0[tid] = 0

	v6 := 0

	step14 := 2 + bits.TrailingZeros64(acc)&1
	for v13 := 0; v13 < 11; v13 += step14 {
		v15, v16 := bits.Mul32(0, uint32(tab2P0[i]))
		v17 := &v15
		*v17++
		var v18 int = 0

		acc = uint64(v16)

		acc = uint64(v18)
	}

	v19 := v6

	_ = v19

	v26 := 0
	_ = v26

}
