package random

import (
	"math"
	"math/bits"

	"quern.dev/kernel"
)

// Source is a sequence of random numbers. The number at each index is a function
// of Seed, Stream and the index, so it is the same on every device, in whatever
// pieces and on however many devices a sequence is computed. The zero value is a
// valid Source.
//
// Sequences with different seeds or different streams are independent. Different
// distributions use the same random bits: give each array a stream of its own.
//
// The methods that take an index are for kernels, which take a Source as a
// parameter, and for plain Go. They return the same bits as the functions of this
// package that fill buffers.
type Source struct {
	Seed   uint64 // the experiment
	Stream uint64 // the sequence
	Offset uint64 // the index of the first number, below 2^48
}

// At returns the rest of the sequence from index n on. A program that divides an
// array into parts fills the part that begins at element n from src.At(n). A
// sequence has 2^48 numbers: functions that fill buffers refuse a part beyond them.
// A sum of Offset and n that is not a uint64 is 2^64-1, which they refuse, too.
func (s Source) At(n uint64) Source {
	offset, carry := bits.Add64(s.Offset, n, 0)
	if carry != 0 {
		offset = math.MaxUint64
	}
	s.Offset = offset
	return s
}

// groupBits is the number of bits of a counter that number groups of four words.
// The other 16 bits of the counter's lower half number further groups for one
// index, which belong to draws that take a varying number of words.
const groupBits = 48

// group returns a group of four words of the stream. The groups with part 0 are
// those of kernel.NewRandom(s.Seed, s.Stream), one after the other.
func (s Source) group(g uint64, part uint32) [4]uint32 {
	return kernel.Philox(
		[4]uint32{uint32(g), uint32(g>>32) | part<<(groupBits-32), uint32(s.Stream), uint32(s.Stream >> 32)},
		[2]uint32{uint32(s.Seed), uint32(s.Seed >> 32)})
}

// group64 returns a group as two words of 64 bits, each with the first word in its
// upper half, as kernel.Random.Uint64 has it.
func (s Source) group64(g uint64, part uint32) (a, b uint64) {
	w := s.group(g, part)
	return uint64(w[0])<<32 | uint64(w[1]), uint64(w[2])<<32 | uint64(w[3])
}

// pick returns the word with number k%4 of a group.
func pick(w [4]uint32, k uint64) uint32 {
	low, high := w[0], w[2]
	if k&1 != 0 {
		low, high = w[1], w[3]
	}
	if k&2 != 0 {
		return high
	}
	return low
}

// Uint32 returns 32 random bits. Index i has word i of
// kernel.NewRandom(s.Seed, s.Stream), counted from s.Offset.
func (s Source) Uint32(i uint64) uint32 {
	i += s.Offset
	return pick(s.group(i/4, 0), i)
}

// Uint64 returns 64 random bits: those of Uint32 at 2*(s.Offset+i) in the upper
// half, and the next ones in the lower half.
func (s Source) Uint64(i uint64) uint64 {
	i += s.Offset
	a, b := s.group64(i/2, 0)
	if i&1 != 0 {
		return b
	}
	return a
}

// Float32 returns a number that is uniformly distributed over the multiples of
// 2^-24 in [0, 1).
func (s Source) Float32(i uint64) float32 { return kernel.UnitFloat32(s.Uint32(i)) }

// Float64 returns a number that is uniformly distributed over the multiples of
// 2^-53 in [0, 1).
func (s Source) Float64(i uint64) float64 { return unit64(s.Uint64(i)) }

func unit64(w uint64) float64 { return float64(w>>11) * 0x1p-53 }

// open64 returns a multiple of 2^-54 in (0, 1).
func open64(w uint64) float64 { return (float64(w>>11) + 0.5) * 0x1p-53 }

// Uint32N returns a number that is uniformly distributed over [0, n), without bias
// (Lemire, "Fast random integer generation in an interval", 2019). It is 0 if n is
// 0.
func (s Source) Uint32N(i uint64, n uint32) uint32 {
	i += s.Offset
	return s.within32(i, pick(s.group(i/4, 0), i), n)
}

// within32 maps word w of index i, counted from the start of the stream, to [0, n).
// If it has to be rejected, further words come from groups that belong to this
// index only.
func (s Source) within32(i uint64, w, n uint32) uint32 {
	high, low := bits.Mul32(w, n)
	if low < n {
		least := -n % max(n, 1) // 2^32 modulo n: the number of words to reject
		for part := uint32(1); low < least && part < 1<<16; part++ {
			high, low = bits.Mul32(s.group(i, part)[0], n)
		}
	}
	return high
}

// Uint64N returns a number that is uniformly distributed over [0, n), without
// bias. It is 0 if n is 0.
func (s Source) Uint64N(i, n uint64) uint64 {
	return s.within64(i+s.Offset, s.Uint64(i), n)
}

func (s Source) within64(i, w, n uint64) uint64 {
	high, low := bits.Mul64(w, n)
	if low < n {
		least := -n % max(n, 1)
		for part := uint32(1); low < least && part < 1<<16; part++ {
			a, _ := s.group64(i, part)
			high, low = bits.Mul64(a, n)
		}
	}
	return high
}
