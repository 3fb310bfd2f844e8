//fuzz:launch seed=3000035 grid=2x1x1 block=31x1x1 bound=59 fused=59 in0=60 in1=59 in2=60 n=59 out0=59 sums=59

package main

import (
	"math/bits"
	"quern.dev/kernel"
)

type rec1P0 struct {
	a int8
	b float32
	c int64
}

type rec2P0 struct {
	a int32
	b float64
	c [4]int32
}

var tab3P0 = [8]bool{false, true, false, true, false, true, true, false}

func mem4P0(p rec2P0, q []uint16) [2]float64 {
	q[uint64(q[uint8(wholeP0((p.b+float64(q[0]))))%3])%3] = 5
	return [2]float64{float64(p.a), float64(float64(p.c[uint32(p.a)%4]) / float64(p.b*float64(q[1])))}
}

func fun5P0(t kernel.Thread, p int32, q int8) (res float32) {
	q, q = int8(bits.ReverseBytes64(uint64(q))), q
	v1 := ((-(-res)) - 0.1)
	_ = v1
	return v1
}

//quern:kernel block=31
func kernelP0(t kernel.Thread, n int, p bool, q int32, r rec2P0, in0 []float32, in1 []uint8, in2 []rec1P0, out0 []int, fused []float32, bound []float32, sums []uint64) {
	i := t.Global()
	if i >= n {
		return
	}
	acc := uint64(0)
	v1 := bool((((-int64(wholeP0(float64(in0[i])))) << (uint8(q) - uint8(truthP0(tab3P0[4])))) < (int64(t.Global()) ^ 127)))
	v2 := (i <= wholeP0(float64(fun5P0(t, (int32(truthP0((int8(out0[i]) < 0)))-int32(out0[i])), (-int8(out0[i]))))))
	acc = acc*31 + uint64(truthP0(v1))
	acc = acc*31 + uint64(truthP0(v2))
	fused[i], bound[i] = ((float32(q)-float32(out0[i]))*in2[i].b - (float32(out0[i+int((uint16(out0[i])<<(uint16(truthP0(p))&15))%1)]) - in2[min(max(truthP0(tab3P0[5]), 0), 59)].b)), (float32((kernel.Abs(float32(q))+kernel.Abs(float32(out0[i])))*kernel.Abs(in2[i].b)) + (kernel.Abs(float32(out0[i+int((uint16(out0[i])<<(uint16(truthP0(p))&15))%1)])) + kernel.Abs(in2[min(max(truthP0(tab3P0[5]), 0), 59)].b)))
	sums[i] = acc
}

func truthP0(b bool) int {
	if b {
		return 1
	}
	return 0
}

func wholeP0(x float64) int {
	if x > -1e15 && x < 1e15 {
		return int(x)
	}
	return 7
}

// cpu build: declared and not used: result03: the discarded expression that reads it was
// omitted because its index is known to be in range.
