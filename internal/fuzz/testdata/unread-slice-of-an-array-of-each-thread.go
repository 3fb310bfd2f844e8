//fuzz:launch seed=300030602 grid=1x1x1 block=4x1x1 in0=4 n=4 sums=4

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []uint64, sums []uint64) {
	cells := kernel.Shared[[4]uint64](t)
	v1 := [2]uint64{in0[t.ThreadIdx.X], 5}
	cells[t.ThreadIdx.X] = v1[n&1]
	t.Sync()
	v2 := v1[:]
	_ = v2
	v3 := cells[3-t.ThreadIdx.X]
	t.Sync()
	sums[t.ThreadIdx.X] = v3
}

// cpu build: declared and not used: v1: the unused slice kept a pointer to the array.
