//fuzz:launch seed=1 grid=1x1x1 block=4x1x1 n=4 in0=4 sums=4

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=4
func kernelP0(t kernel.Thread, n int, in0 []int, sums []uint64) {
	cells := kernel.Shared[[4]int](t)
	size := t.BlockDim.X
	copied := size
	var a [4]int
	a[size-4] = int(uint8(copied * 64))
	sums[t.ThreadIdx.X] = uint64(a[0]) + 7
	if n < 3 {
		a[copied-5] += 1
		cells[t.BlockDim.X] = 1
		in0[t.BlockDim.X-5] = n / (copied - 4)
		in0[t.BlockDim.X-4] = n >> (t.BlockDim.X - 5)
		for _, x := range a[size-1 : 4][:size-2] {
			in0[0] += x
		}
	}
	if n == 4 {
		sums[t.ThreadIdx.X] = uint64(a[copied] + a[0])
	}
}

// cpu build: constant 256 overflows uint8; invalid argument: index 4 out of bounds: Go
// treats the text of a dimension as a constant.
