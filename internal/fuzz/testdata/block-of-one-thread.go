//fuzz:launch seed=10686 grid=3x1x1 block=7x1x1 atomicMin=3 atomicXor=3 in0=21 in1=23 n=21 out0=84 out1=21 sums=21

package main

import (
	"math/bits"
	"quern.dev/kernel"
)

type rec1P0 struct {
	a bool
	b float32
}

func exchange2P0(t kernel.Thread, cells *[9]int16, v int16, by int) int16 {
	cells[t.ThreadIdx.X] = v
	t.Sync()
	w := cells[(t.ThreadIdx.X+by)%t.BlockDim.X]
	t.Sync()
	return w
}

//quern:kernel block=7
func kernelP0(t kernel.Thread, n int, in0 []uint, in1 []rec1P0, out0 []float32, out1 []uint32, sums []uint64, atomicMin []int32, atomicXor []uint64) {
	cells0 := kernel.Shared[[9]int16](t)
	_ = cells0
	counts := kernel.Shared[[4]uint32](t)
	_ = counts
	i, tid := t.Global(), t.ThreadIdx.X
	_ = tid
	acc := uint64(0)
	var v1 int = (-truthP0(!(out1[i] > 9)))
	acc = acc*31 + uint64(v1)
	v2 := exchange2P0(t, cells0, (int16(v1) * int16(bits.OnesCount64(uint64(v1)))), 0)
	_ = v2
	out1[i+int(min(max(truthP0(in1[i].a), 0), 0))] = 3
	acc = acc*31 + uint64(v1)
	acc = acc*31 + uint64(v2)
	sums[i] = acc
}

func truthP0(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cpu build: undefined: t1: a coordinate was moved out of the loop that defines it.
