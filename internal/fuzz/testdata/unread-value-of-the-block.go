//fuzz:launch seed=104003442 grid=1x1x1 block=1x1x1 n=1 sums=1

package main

import (
	"quern.dev/kernel"
)

type recP0 struct {
	a uint8
}

func firstP0(t kernel.Thread, cells *[2]recP0) recP0 {
	w := cells[0]
	t.Sync()
	return w
}

//quern:kernel block=1
func kernelP0(t kernel.Thread, n int, p int32, q uint16, sums []uint64) {
	cells := kernel.Shared[[2]recP0](t)
	sums[0] = 1
	for v1 := 2; v1 != 1; v1++ {
		v2 := 0
		q /= uint16(v2)
	}
	v4 := firstP0(t, cells)
	q, p = uint16(v4.a), 0
}

// cpu build: declared and not used: t4: q, which is unused after the loop, was removed,
// but not the value that is assigned to it.
