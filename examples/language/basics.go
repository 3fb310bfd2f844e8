package language

import (
	"math/bits"

	"quern.dev/kernel"
)

// adler computes a checksum of each row. Integers wrap around and have the same
// sizes as in Go.
//
//quern:kernel
func adler(t kernel.Thread, width int, data []uint8, sums []uint32) {
	row := t.Global()
	if row >= len(sums) {
		return
	}
	a, b := uint32(1), uint32(0)
	for _, v := range data[row*width : (row+1)*width] {
		a = (a + uint32(v)) % 65521
		b = (b + a) % 65521
	}
	sums[row] = b<<16 | a
}

// population counts bits and finds the highest one.
//
//quern:kernel
func population(t kernel.Thread, words []uint64, ones, highest []int) {
	if i := t.Global(); i < len(words) {
		ones[i], highest[i] = bits.OnesCount64(words[i]), bits.Len64(words[i])-1
	}
}

// midpoints prevents products from being fused with the sum they are part of.
//
//quern:kernel
func midpoints(t kernel.Thread, a, b, middle []float64) {
	if i := t.Global(); i < len(middle) {
		middle[i] = float64(0.5*a[i]) + float64(0.5*b[i])
	}
}

// reverseBlocks reverses the elements within each block of 256. What a thread
// writes before the barrier, all threads of its block can read after it.
//
//quern:kernel block=256
func reverseBlocks(t kernel.Thread, x []float32) {
	tile := kernel.Shared[[256]float32](t)
	i := t.Global()
	if i < len(x) {
		tile[t.ThreadIdx.X] = x[i]
	}
	t.Sync()
	if i < len(x) {
		x[i] = tile[255-t.ThreadIdx.X]
	}
}
