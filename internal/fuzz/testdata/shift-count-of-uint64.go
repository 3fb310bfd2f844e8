//fuzz:launch seed=108 grid=2x1x1 block=32x1x1 atomicMin=4 in0=62 in1=63 n=61 out0=244 out1=183 sums=61

package main

import (
	"math"
	"quern.dev/kernel"
)

type rec1P0 struct {
	e uint16
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, p int, in0 []rec1P0, in1 []int, out0 []rec1P0, out1 []float64, sums []uint64) {
	if i := t.Global(); i < len(sums) {
		wout1 := out1[3 : i+3 : i+3]
		acc := uint64(0)
		for _, thread := range wout1 {
			acc = imageP0(thread)
			out0[i].e = 0 >> int(acc)
		}
	}
}

func imageP0(x float64) uint64 {
	return math.Float64bits(x)
}

// sim proven: no fault, want shift at line 23: the sign of the count was lost.
