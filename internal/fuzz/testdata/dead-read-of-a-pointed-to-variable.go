//fuzz:launch seed=300000093 grid=1x1x1 block=32x1x1 in0=32 n=32 sums=32

package main

import (
	"quern.dev/kernel"
)

func takeP0(p *[2]uint64) uint64 {
	p[1] = 3
	return p[0] / p[1]
}

//quern:kernel block=32
func kernelP0(t kernel.Thread, n int, in0 []uint64, sums []uint64) {
	cells := kernel.Shared[[32]uint64](t)
	v1 := [2]uint64{in0[t.ThreadIdx.X], 1}
	t.Sync()
	fn2 := func(a2 uint64) uint64 {
		return uint64(n)
	}
	cells[t.ThreadIdx.X] = fn2(v1[0])
	t.Sync()
	sums[t.ThreadIdx.X] = cells[31-t.ThreadIdx.X] + takeP0(&v1)
}

// cpu build: declared and not used: v1: a pointer to it was declared although only an
// unused value reads it.
