//fuzz:launch seed=1211003237 grid=3x1x1 block=4x1x1 atomicOr=4 in0=10 in1=9 n=9 out0=18 sums=9

package main

import (
	"math"
	"math/bits"
	"quern.dev/kernel"
)

var tab1P0 = [5]int64{6, 6, -1, 1, 4}

func fun2P0(t kernel.Thread, p bool, q int16, r int) uint64 {
	v1 := min(uint16(truthP0(p)), 8)
	v2 := q
	v3 := bits.RotateLeft16(((uint16(truthP0(p)) * v1) << 66), (1998 + int(v2)))
	var v4 int64 = (int64(q) & int64(r))
	v5, v6 := bits.Add64(uint64(v4), uint64(v3), (uint64(v2)/max(uint64(truthP0(p)), 1))&1)

	_ = v4
	_ = v5
	_ = v6
	return v6
}

func cutfint32P0(x float32) int32 {
	return int32(x)
}

func cutfintP0(x float32) int {
	return int(x)
}

func mem4P0(p int, q uint64, r int) (int64, [2][2]int) {
	r *= 1
	p = 9
	v1 := [6]float32{2: (float32(float32(r)/float32(q)) - float32(q))}
	v2 := 0
	{
		v4 := copy(v1[min(max(cutfint32P0(v1[0]), 0), 3):][:3], v1[(int(q)*2147483648)&1:][:5])

		_ = v4
	}
	_ = v1
	_ = v2
	return ((int64(v2) / 6) ^ 18583298), [2][2]int{}
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []int, in1 []int, out0 []int16, sums []uint64, atomicOr []uint64) {
	if i := t.Global(); i < len(sums) {
		wout0 := out0[(i)*2 : (i)*2+2 : (i)*2+2]
		_ = wout0
		acc := uint64(0)

		//quern:unroll 4
		for v1 := range int(1) {
			acc = acc*31 + uint64(v1)
			out0[(i)*2+int(v1+1)]++
			var v2 int32 = 9
			acc = acc*31 + uint64(v2)
		}
		for v4 := int32(2); v4 < 6; v4 += 2 {
			v5 := 0
			mem4P0(0, uint64(bits.Reverse32(uint32(tab1P0[v4>>1]))), (in1[i] >> 23))
			v6 := float64(0x1p-10)
			v6 = (float64(acc) - 1e3)
			acc = acc*31 + uint64(v5)
			acc = acc*31 + imageP0(float64(v6))
		}

		sums[i] = acc
	}
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

// cpu build: invalid operation: &t4[0] > &t6[0] (operator > not defined on pointer)
