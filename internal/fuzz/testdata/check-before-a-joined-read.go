//fuzz:launch seed=3007553 grid=1x1x1 block=16x1x1 atomicAnd=2 atomicOr=1 atomicXor=4 in0=48 in1=48 in2=47 n=46 out0=138 out1=184 sums=46

package main

import (
	"math"
	"math/bits"
	"quern.dev/kernel"
)

type rec1P0 struct {
	a int8
	b int
}

func (q rec1P0) met2P0(p uint32) bool {
	q.b &^= int(p)
	v1 := int(int(bits.RotateLeft(uint(q.a), q.b)))
	_ = v1
	return (int32(bits.OnesCount32(p)) > 4)
}

//quern:kernel block=16
func kernelP0(t kernel.Thread, n int, p int64, q uint16, in0 []uint64, in1 []uint32, in2 []int, out0 []rec1P0, out1 []uint32, sums []uint64, atomicAnd []uint32, atomicOr []uint32, atomicXor []uint) {
	for i := t.Global(); i < n; i += t.Stride() {
		wout0 := out0[(i)*3 : (i)*3+3 : (i)*3+3]
		_ = wout0
		acc := uint64(0)
		for v2 := range uint64(truthP0((uint64(wout0[min(max(int64(in0[min(max(int64(wout0[1].a), 0), 47)]), 0), 2)].a) > 31979531203488593))) & 3 {
			acc = acc*31 + uint64(v2)
			p <<= (-n)
		}
		p ^= (^(p / (int64(n) | 1)))
		v3 := (wout0[uint16(out1[(i)*4+int(int(in1[27])&3)])%3].a &^ (int8(out1[(i)*4]) * int8(out0[(i)*3+int((-uint32(out0[(i)*3+int(min(max(int64(in0[12]), 0), 2))].a))%3)].b)))
		if uint64(v3) < uint64(len(in0)) {
			v4 := float32(float32(float32(out1[(i)*4+3])*(float32(in1[uint32(t.Lane())%48])-float32(in0[i]))) * kernel.FMA((float32(wout0[max(uint16(out1[(i)*4+2]), uint16(out0[(i)*3+int(min(max(int32(wout0[uint16(acc)%3].a), 0), 2))].b))].b)-float32(q)), kernel.Sqrt(kernel.Abs(float32(in2[(5-uint16(in0[v3]))%47]))), (float32(out1[(i)*4])+float32(out1[(i)*4+3]))))
			acc = acc*31 + imageP0(float64(v4))
			out1[(i)*4+3] /= max(in1[11], 1)
			p >>= ((int(acc) % (wholeP0(float64(v4)) | 1)) & 31)
		}
		fuel6 := 3
		for {
			if fuel6--; fuel6 < 0 || (kernel.FMA(float32(out1[(i)*4+int(int64(wout0[(out1[(i)*4+2]<<(uint8(out0[(i)*3+1].a)&31))%3].a)&3)]), float32(in2[10]), float32(acc)) == 0x1p-10) && (float32(v3) <= 0.25) {
				break
			}
			out0[(i)*3+2].a = (-v3)
		}
		acc = acc*31 + uint64(v3)
		sums[i] = acc
	}
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

func imageP0(x float64) uint64 {
	if x != x {
		return 1
	}
	return math.Float64bits(x)
}

// sim proven: out-of-bounds access: a check was moved before the joined read that loads
// its operand.
