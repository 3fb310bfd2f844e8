package byhand

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"quern.dev/bench/parity/kernels"
)

// ShiftAnd adds the number of occurrences of several patterns in the text to hits[0].
func ShiftAnd(first, last uint64, masks []uint64, text []uint8, hits []uint32) {
	table := (*[256]uint64)(masks)
	var total atomic.Uint32
	parallel(len(text), func(lo, hi int) {
		var state uint64
		for _, c := range text[max(lo-kernels.PatternLength, 0):lo] {
			state = (state<<1 | first) & table[c]
		}
		var count int
		for _, c := range text[lo:hi] {
			state = (state<<1 | first) & table[c]
			count += bits.OnesCount64(state & last)
		}
		total.Add(uint32(count))
	})
	hits[0] += total.Load()
}

// Kmers adds to counts the number of occurrences of each k-mer.
func Kmers(k int, genome []uint8, counts []uint32) {
	const other = 4
	var codes [256]uint8
	for c := range codes {
		codes[c] = other
	}
	codes['A'], codes['C'], codes['T'], codes['G'] = 0, 1, 2, 3
	mask := uint32(1)<<(2*k) - 1
	var mu sync.Mutex
	parallel(len(genome), func(lo, hi int) {
		local := make([]uint32, len(counts))
		var code uint32
		valid := 0
		for _, c := range genome[lo:min(hi+k-1, len(genome))] {
			base := codes[c]
			if base == other {
				valid = 0
				continue
			}
			code = (code<<2 | uint32(base)) & mask
			if valid++; valid >= k {
				local[code]++
			}
		}
		mu.Lock()
		for i, n := range local {
			counts[i] += n
		}
		mu.Unlock()
	})
}
