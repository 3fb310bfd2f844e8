//fuzz:launch seed=10172 grid=1x1x1 block=32x1x1 atomicMin=4 in0=34 in1=33 in2=33 n=32 out0=32 sums=32

package main

import (
	"quern.dev/kernel"
)

type rec1P0 struct {
	a int
	b [2]float32
}

func (q *rec1P0) met2P0(p float64) float64 {
	for range 3 {
		if (float32(float32(q.a)*q.b[min(max(int64(q.a), 0), 1)]) + (q.b[1] + 2)) == float32(q.a) {
			p = float64(((float64(q.b[0]) + 1) + 100) * 7)
		} else {

			q.b[0] = (q.b[1] + 7)
		}
	}
	v1 := int(3435599418483)
	_ = v1
	return float64(float64(float64(q.b[1])/float64(q.a)) / (-p))
}

func gen3P0[T kernel.Integer](x, y T) T {
	return ((x % (x | 1)) | 7)
}

func exchange4P0(t kernel.Thread, cells *[32]int64, v int64, by int) int64 {
	cells[t.ThreadIdx.X] = v
	t.Sync()
	w := cells[(t.ThreadIdx.X+by)%t.BlockDim.X]
	t.Sync()
	return w
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, p int32, in0 []uint32, in1 []int, in2 []uint32, out0 []uint32, sums []uint64, atomicMin []int64) {
	cells0 := kernel.Shared[[32]int64](t)
	_ = cells0
	counts := kernel.Shared[[5]uint64](t)
	_ = counts
	i, tid := t.Global(), t.ThreadIdx.X
	_ = tid
	acc := uint64(0)
	v1 := exchange4P0(t, cells0, (-(3675185746876616518 - int64(in0[29]))), 4)
	_ = v1
	acc = acc*31 + uint64(v1)
	sums[i] = acc
}

func wholeP0(x float64) int {
	if x > -1e15 && x < 1e15 {
		return int(x)
	}
	return 7
}

// cpu build: undefined: t1: a coordinate was moved out of the loop that defines it.
