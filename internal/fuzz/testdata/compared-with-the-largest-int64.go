//fuzz:launch seed=104004470 grid=1x1x1 block=31x1x1 atomicAnd=2 atomicMax=4 in0=31 in1=31 n=29 out0=29 sums=29

package main

import (
	"quern.dev/kernel"
)

type rec1P0 struct {
	a float32
	b int32
	c int8
	d int64
	e uint8
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, p uint64, q float32, r uint64, in0 []uint, in1 []rec1P0, out0 []uint16, sums []uint64) {
	i := t.Global()
	if i >= n {
		return
	}
	acc := uint64(0)
	for v1, v2 := 0, 3; v1 < v2; v1, v2 = 1, v2-1 {
		v3 := rec1P0{0, 0, int8(acc), 0, 0}
		_ = v3

		{
			if !(v2 > 1192301300) && !(acc > 9223372036854775807) {

				acc--
			}

		}

	}

	sums[i] = acc
}

// sim without fold proven: sums[0] = 18446744073709551614, want 18446744073709551615:
// MaxInt64 - acc was assumed to be nonnegative although nothing is known about it.
