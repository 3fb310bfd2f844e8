package kernels

import "quern.dev/kernel"

// KmersEach is the number of positions at which a thread of kmers counts.
const KmersEach = 16

// kmers adds to counts the number of occurrences of each k-mer, a sequence of k bases, in
// the genome. A k-mer is numbered by two bits per base. Those that contain a letter other
// than A, C, G and T do not count.
//
//quern:kernel block=256 also=unchecked
func kmers(t kernel.Thread, k int, genome []uint8, counts []uint32) {
	first := t.Global() * KmersEach
	last := min(first+KmersEach+k-1, len(genome))
	mask := uint32(1)<<(2*k) - 1
	var code uint32
	valid := 0
	for i := first; i < last; i++ {
		c := genome[i]
		if c == 'A' || c == 'C' || c == 'G' || c == 'T' {
			code = (code<<2 | uint32(c>>1&3)) & mask
			valid++
		} else {
			valid = 0
		}
		if valid >= k {
			kernel.AtomicAdd(&counts[code], 1)
		}
	}
}
