package random

import (
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

//quern:kernel specialise=shift:0
func fillIntegers32(t kernel.Thread, src Source, shift int, low, n uint32, dst []uint32) {
	if i := t.Global(); 4*i-shift < len(dst) {
		w, first := src.words32(t), src.Offset&^3+4*uint64(i)
		store4(dst, i, shift, [4]uint32{
			low + src.within32(first, w[0], n), low + src.within32(first+1, w[1], n),
			low + src.within32(first+2, w[2], n), low + src.within32(first+3, w[3], n),
		})
	}
}

//quern:kernel specialise=shift:0
func fillIntegers64(t kernel.Thread, src Source, shift int, low, n uint64, dst []uint64) {
	if i := t.Global(); 2*i-shift < len(dst) {
		a, b := src.words64(t)
		first := src.Offset&^1 + 2*uint64(i)
		store2(dst, i, shift, low+src.within64(first, a, n), low+src.within64(first+1, b, n))
	}
}

// Integers fills dst with integers that are uniformly distributed over [low, high),
// without bias. Element i is low + src.Uint32N(i, high-low), or Uint64N for types of
// 64 bits. A number that has to be rejected is replaced by one that belongs to the
// same index, so other indices are not affected.
//
// To choose elements of an array with replacement, use them as indices. Without
// replacement, use [Permutation].
func Integers[T Integer](s *gpu.Stream, src Source, dst *gpu.Buffer[T], low, high T) error {
	const op = "Integers"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if low >= high {
		return invalid(op, "high", "is %d and low is %d; low must be less than high", high, low)
	}
	if dst.Len() == 0 {
		return nil
	}
	var k *gpu.Kernel
	var g gpu.Grid
	var shift int
	wide := false
	switch any(dst).(type) {
	case *gpu.Buffer[int32], *gpu.Buffer[uint32]:
		k = quernFillIntegers32
		g, shift = src.grid32(dst.Len())
	default:
		k, wide = quernFillIntegers64, true
		g, shift = src.grid64(dst.Len())
	}
	l, err := k.Begin(s, g)
	if err != nil {
		return failed(op, err)
	}
	gpu.Arg(l, src)
	gpu.Arg(l, shift)
	// Differences and sums wrap around, so signed integers are the same as unsigned.
	if wide {
		gpu.Arg(l, uint64(low))
		gpu.Arg(l, uint64(high)-uint64(low))
	} else {
		gpu.Arg(l, uint32(low))
		gpu.Arg(l, uint32(high)-uint32(low))
	}
	gpu.SliceArg(l, dst)
	return failed(op, l.End())
}

// chance is a probability as a fraction of 2^64.
type chance struct {
	High, Low uint32
	Always    bool
}

func newChance(p float64) chance {
	if p >= 1 {
		return chance{Always: true}
	}
	w := uint64(math.Ldexp(p, 64))
	return chance{High: uint32(w >> 32), Low: uint32(w)}
}

// holds reports whether word w of index i, counted from the start of the stream, is
// below the probability. Only one index in 2^32 needs a second word.
func (c chance) holds(src Source, i uint64, w uint32) bool {
	if w == c.High {
		return c.Always || src.group(i, 1)[0] < c.Low
	}
	return c.Always || w < c.High
}

// Bernoulli returns true with probability p, to within 2^-64.
func (s Source) Bernoulli(i uint64, p float64) bool {
	return newChance(p).holds(s, i+s.Offset, s.Uint32(i))
}

//quern:kernel specialise=shift:0
func fillBernoulli(t kernel.Thread, src Source, shift int, c chance, dst []bool) {
	if i := t.Global(); 4*i-shift < len(dst) {
		w, first := src.words32(t), src.Offset&^3+4*uint64(i)
		store4(dst, i, shift, [4]bool{
			c.holds(src, first, w[0]), c.holds(src, first+1, w[1]), c.holds(src, first+2, w[2]), c.holds(src, first+3, w[3]),
		})
	}
}

// Bernoulli fills dst with values that are true with probability p. Element i is
// src.Bernoulli(i, p).
func Bernoulli(s *gpu.Stream, src Source, dst *gpu.Buffer[bool], p float64) error {
	const op = "Bernoulli"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if !(p >= 0 && p <= 1) {
		return invalid(op, "p", "is %v; it must be at least 0 and at most 1", p)
	}
	if dst.Len() == 0 {
		return nil
	}
	g, shift := src.grid32(dst.Len())
	return failed(op, LaunchFillBernoulli(s, g, src, shift, newChance(p), dst))
}
