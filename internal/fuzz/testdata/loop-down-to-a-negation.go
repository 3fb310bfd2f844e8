//fuzz:launch seed=72900835 grid=1x1x1 block=7x1x1 at0=40<40 count0=21 data0=40 data1=88 data2=40 in0=5 in1=5 n=4 out0=16 sums=4 width=2

package main

import (
	"math"
	"quern.dev/kernel"
)

//quern:kernel block=7
func kernelP0(t kernel.Thread, n int, p [5]int64, q float64, in0 []uint64, in1 []float64, count0 int32, at0 []int, width int, data0 []float32, data1 []int16, data2 []bool, out0 []int8, sums []uint64) {
	i := t.Global()
	if i >= n {
		return
	}
	acc := uint64(0)
	step2 := uint16(1)
	for v1 := uint16(1); v1 < 3; v1 += step2 {

		v3 := 0
		const from6 = 0
		to6 := int(out0[0])
		to6 = from6 - to6
		for v5 := 0; v5 > to6; v5-- {
			{
				acc = uint64(v5)
			}

		}
		var v7 *float64
		{
			v7 = &q
		}

		acc = acc + uint64(v3)
		acc = acc + imageP0(*v7)
	}
	sums[i] = acc
}

func imageP0(x float64) uint64 {
	if x != x {
		return 1
	}
	return math.Float64bits(x)
}

// cuda narrow: sums[0] = 4595638860536923776, want 4595638860536923774
