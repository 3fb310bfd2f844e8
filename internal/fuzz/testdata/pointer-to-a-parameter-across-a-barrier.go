//fuzz:launch seed=3000467 grid=2x1x1 block=31x1x1 atomicAdd=1 atomicMin=2 atomicXor=1 bound=62 fused=62 in0=64 in1=62 in2=64 n=62 out0=186 out1=62 sums=62

package main

import (
	"math/bits"
	"quern.dev/kernel"
)

type rec1P0 struct {
	a [2]int64
	b int
	c int16
	d int8
	e int32
}

type rec2P0 struct {
	a rec1P0
	b int32
	c bool
	d uint64
	e float32
}

func mem3P0(p rec2P0) (int32, rec2P0) {
	if (uint16(truthP0(p.c)) >= uint16(truthP0((int32(truthP0(p.c)) >= 41967)))) && (uint16(p.d) > uint16(truthP0(p.c))) {
		panic("reason 3")
	}
	if (uint32(p.a.e) - 9) > uint32(bits.Len64(uint64(bits.LeadingZeros16(uint16(truthP0(p.c)))))) {
		p = rec2P0{rec1P0{[2]int64{((int64(wholeP0(float64(p.e))) << uint64(p.b)) * (int64(p.d) & int64(p.b))), int64(int(p.d))}, ((truthP0(p.c) % wholeP0(float64(p.e))) * max(truthP0(p.c), int(p.a.e))), int16(p.a.a[min(max(p.a.a[(uint8(p.b)%8)%2], 0), 1)]), ((int8(p.a.c) - int8(p.a.c)) ^ 4), (int32(wholeP0(float64(p.e))) + 10)}, ((p.b >> int(p.d)) / 7), (uint16(truthP0(((int32(p.a.a[1]) >= p.b) && (uint(wholeP0(float64(p.e))) != uint(wholeP0(float64(p.e))))))) < 6), ((-uint64(p.a.c)) / (uint64(p.b) | 1)), float32((p.e - 3) * float32(truthP0(p.c)))}
	}
	return ((int32(p.d) << uint8(p.b)) << (min(uint16(p.d), uint16(wholeP0(float64(p.e)))) & 127)), rec2P0{rec1P0{[2]int64{0: ((int64(wholeP0(float64(p.e))) - int64(wholeP0(float64(p.e)))) & int64(p.a.d))}, (-(truthP0(p.c) | wholeP0(float64(p.e)))), ((int16(p.b) % (int16(p.a.e) | 1)) % 8), (int8(uint16(p.a.a[0])) - 127), int32(p.a.a[(5*truthP0(p.c))&1])}, (-(^int32(wholeP0(float64(p.e))))), p.c, uint64(p.a.d), float32(p.d)}
}

func exchange4P0(t kernel.Thread, cells *[32]rec1P0, v rec1P0, by int) rec1P0 {
	cells[t.ThreadIdx.X] = v
	t.Sync()
	w := cells[(t.ThreadIdx.X+by)%t.BlockDim.X]
	t.Sync()
	return w
}

//quern:kernel block=31
func kernelP0(t kernel.Thread, n int, p bool, q int, in0 []float64, in1 []float32, in2 []uint, out0 []float64, out1 []uint16, fused []float32, bound []float32, sums []uint64, atomicAdd []float32, atomicMin []int32, atomicXor []uint32) {
	cells0 := kernel.Shared[[32]rec1P0](t)
	_ = cells0
	cells1 := kernel.Shared[[33]float32](t)
	_ = cells1
	counts := kernel.Shared[[3]uint64](t)
	_ = counts
	i, tid := t.Global(), t.ThreadIdx.X
	_ = tid
	acc := uint64(0)
	cells0[tid] = rec1P0{[2]int64{(int64(truthP0(((int32(wholeP0(float64(in1[i]))) != int32(in2[i])) && (in2[i] != uint(out1[i+int(uint(n)%1)]))))) & int64(in2[i])), int64(wholeP0(float64(in1[min(max(int64(wholeP0(out0[(i)*3+int((uint32(wholeP0(out0[(i)*3]))<<in2[i])%3)])), 0), 61)])))}, ((wholeP0(out0[(i)*3+int((uint32(wholeP0(float64(in1[i])))/10)%3)]) / (int(in2[i]) | 1)) ^ (tid &^ wholeP0(in0[i]))), ((int16(wholeP0(float64(in1[i]))) - int16(in2[i])) << 68), int8(in2[36]), int32(bits.OnesCount32((uint32(wholeP0(float64(in1[i]))) | uint32(in2[(-uint(wholeP0(in0[uint64(bits.RotateLeft(in2[i], wholeP0(float64(in1[i]))))%64])))&63]))))}
	t.Sync()
	v1 := &p
	(*v1) = ((float32(float32(in2[i])*2) >= float32(float32(out0[(i)*3+int(min(max(int(out1[i]), 0), 2))])*1)) && ((int32(tid) < int32(wholeP0(float64(in1[i])))) || (uint8(truthP0((*v1))) >= uint8(truthP0((*v1))))))
	_ = v1
	v2 := cells0[max(tid-1, 0)]
	_ = v2
	t.Sync()
	for range 5 {
		if uint(out1[i]) != uint(t.BlockIdx.X) {
			(*v1), out1[i+int(uint8(in2[63-tid])%1)] = ((acc & 2) != (^uint64(wholeP0(out0[(i)*3+1])))), uint16(bits.Reverse32(uint32(v2.e)))
			out0[(i)*3+2] = kernel.Floor(float64((float64(in2[tid*2+1]) + float64(acc)) * -2.5))
		}
		switch {
		case ((float64(in1[min(max(wholeP0(out0[(i)*3]), 0), 61)]) < float64(in2[42])) || (uint32(in2[30]) <= uint32(wholeP0(in0[tid+1])))):
			out1[i] >>= ((out1[i+int(uint16(v2.b)%1)] << (uint8(v2.a[uint16(v2.d)%2]) & 15)) & 15)
			fallthrough
		case ((uint64(v2.c) * uint64(v2.e)) < (uint64(out1[i]) - uint64(truthP0((*v1))))):
			p = ((max(float32(out1[i]), float32(acc)) + (float32(out1[i+int(int16(tid)&0)]) - -2.5)) >= 7)
			out0[(i)*3] = kernel.Sqrt((float64(float64(v2.c)*float64(out1[i+int((^out1[i+int(uint16(in2[tid+1])%1)])%1)])) + float64(truthP0((*v1)))))
			fallthrough
		default:
			acc = 7
		case (uint64(truthP0((uint(wholeP0(in0[i])) == uint(truthP0((*v1)))))) == uint64(t.GridDim.Z)):
			acc *= (uint64(bits.RotateLeft16(out1[i+int(min(max(int(in2[i]), 0), 0))], n)) << (uint(out1[i]) - uint(acc)))
			(*v1) = (int32(int64(truthP0((float32(out0[(i)*3+2]) == 2)))) == (int32(in2[i]) << (uint(out1[i]) % 65536)))
		}
	}
	fused[i], bound[i] = ((float32(acc)*float32(v2.a[0]) + (float32(in2[tid*2+1]) + float32(v2.c))) + float32(truthP0((*v1)))), ((float32(kernel.Abs(float32(acc))*kernel.Abs(float32(v2.a[0]))) + (kernel.Abs(float32(in2[tid*2+1])) + kernel.Abs(float32(v2.c)))) + kernel.Abs(float32(truthP0((*v1)))))
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

// cpu: out0[63] = 0, want 1: an assignment to a parameter was dropped although a pointer
// reads the parameter in another region.
