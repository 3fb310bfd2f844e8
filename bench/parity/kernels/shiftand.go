package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

const (
	// ShiftAndThreads is the number of threads per block of shiftAnd.
	ShiftAndThreads = 256

	// ShiftAndEach is the number of bytes that a thread scans. An odd number of words
	// prevents bank conflicts.
	ShiftAndEach = 60

	// PatternLength is the maximum length of a pattern.
	PatternLength = 32

	shiftAndTile = ShiftAndThreads * ShiftAndEach
)

// shiftAnd adds the number of occurrences of several patterns in the text to hits[0]
// (Baeza-Yates and Gonnet, 1992). The patterns together have up to 64 bytes, one bit each:
// masks has the bits that are equal to each byte value, first the first bit and last the
// last bit of each pattern.
//
//quern:kernel block=ShiftAndThreads also=unchecked
func shiftAnd(t kernel.Thread, first, last uint64, masks []uint64, text []uint8, hits []uint32) {
	// The tile begins PatternLength bytes before the block's part of the text.
	tile := kernel.Shared[[PatternLength + shiftAndTile]uint8](t)
	table := kernel.Shared[[256]uint64](t)
	tx, begin := t.ThreadIdx.X, t.BlockIdx.X*shiftAndTile-PatternLength
	table[tx] = masks[tx]
	for i := tx; i < len(tile); i += ShiftAndThreads {
		var c uint8
		if at := begin + i; at >= 0 && at < len(text) {
			c = text[at]
		}
		tile[i] = c
	}
	t.Sync()
	at := tx * ShiftAndEach
	var state uint64
	for i := at; i < at+PatternLength; i++ {
		state = (state<<1 | first) & table[tile[i]]
	}
	at += PatternLength
	var count uint32
	for i := at; i < at+ShiftAndEach; i++ {
		state = (state<<1 | first) & table[tile[i]]
		count += uint32(bits.OnesCount64(state & last))
	}
	count = kernel.WarpReduceAdd(t, count)
	if t.Lane() == 0 {
		kernel.AtomicAdd(&hits[0], count)
	}
}
