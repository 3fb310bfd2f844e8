//fuzz:launch seed=104001222 grid=1x1x1 block=16x1x1 in0=16 n=16 sums=16

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=16
func kernelP0(t kernel.Thread, n int, p int64, q int32, in0 []int64, sums []uint64) {
	v1 := &p
	t.Sync()
	sums[t.ThreadIdx.X] = uint64(*v1)
	q, p = 0, in0[t.ThreadIdx.X]<<(*v1&3)
}

// cpu build: undefined: t1: p was kept because of the pointer, but not the value that is
// assigned to it.
