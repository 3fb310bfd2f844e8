package random

import (
	"math/bits"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// bijectionRounds is the number of rounds of a turn of the network. Where the halves
// have only a few bits, each round changes little, and it takes two turns until all
// permutations are equally likely. A test checks that for two to five elements.
const (
	bijectionRounds = 12
	bijectionSmall  = 256 // numbers for which there are two turns
)

// Bijection is a pseudo-random permutation of the numbers below n, whose elements
// can be computed one by one. It depends on the seed and the stream of its Source,
// not on the offset. A kernel can make it or take it as a parameter.
//
// It is a Feistel network over the bits of the number. A result of n or more is
// permuted again, until it is below n, which happens less than once on average.
type Bijection struct {
	n, first  uint64
	low, high uint32 // masks of the halves
	shift     uint32 // number of bits of the lower half
	turns     uint32 // each with other keys
	keys      [bijectionRounds]uint32
}

// bijectionPart is the part of a stream's groups that bijections are made from.
const bijectionPart = 1<<16 - 1

// Bijection returns a permutation of the numbers below n.
func (s Source) Bijection(n uint64) Bijection {
	size := uint32(bits.Len64(max(n, 1) - 1))
	b := Bijection{n: n, shift: (size + 1) / 2, turns: 1}
	if n <= bijectionSmall {
		b.turns = 2
	}
	b.low = uint32(uint64(1)<<b.shift - 1)
	b.high = uint32(uint64(1)<<(size-b.shift) - 1)
	for k := range bijectionRounds / 4 {
		w := s.group(uint64(k), bijectionPart)
		b.keys[4*k], b.keys[4*k+1], b.keys[4*k+2], b.keys[4*k+3] = w[0], w[1], w[2], w[3]
	}
	// The rotation makes odd permutations possible too.
	w, _ := s.group64(bijectionRounds/4, bijectionPart)
	b.first, _ = bits.Mul64(w, n)
	return b
}

// At returns element i of the permutation, for i < n.
func (b Bijection) At(i uint64) uint64 {
	if i >= b.n {
		return i
	}
	if i += b.first; i >= b.n {
		i -= b.n
	}
	for {
		low, high := uint32(i)&b.low, uint32(i>>b.shift)&b.high
		for turn := range b.turns {
			other := turn * 0xc2b2ae3d
			for k := 0; k < bijectionRounds; k += 2 {
				high ^= mixed(low^b.keys[k]+other) & b.high
				low ^= mixed(high^b.keys[k+1]+other) & b.low
			}
		}
		if i = uint64(high)<<b.shift | uint64(low); i < b.n {
			return i
		}
	}
}

// mixed returns a word in which every bit depends on all bits of x.
func mixed(x uint32) uint32 {
	x *= 0x9e3779b1
	x ^= x >> 15
	x *= 0x85ebca77
	return x ^ x>>16
}

//quern:kernel instantiate=int32,int64
func fillPermutation[T int32 | int64](t kernel.Thread, b Bijection, first uint64, dst []T) {
	if i := t.Global(); i < len(dst) {
		dst[i] = T(b.At(first + uint64(i)))
	}
}

// Permutation fills dst with elements of a pseudo-random permutation of the numbers
// below n: element i is src.Bijection(n).At(src.Offset + i). A dst that is shorter
// than n gets distinct numbers, so this chooses without replacement.
func Permutation[T int32 | int64](s *gpu.Stream, src Source, dst *gpu.Buffer[T], n int) error {
	const op = "Permutation"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if n < 0 || int(T(n)) != n {
		return invalid(op, "n", "is %d; it must not be negative, and %T must be able to number the elements", n, T(0))
	}
	if src.Offset+uint64(dst.Len()) > uint64(n) {
		return invalid(op, "dst", "has %d elements from offset %d, but the permutation has %d", dst.Len(), src.Offset, n)
	}
	if dst.Len() == 0 {
		return nil
	}
	return failed(op, LaunchFillPermutation(s, gpu.Linear(dst.Len()), src.Bijection(uint64(n)), src.Offset, dst))
}

// shuffled copies an element of from to dst.
func shuffled[T any](t kernel.Thread, b Bijection, first uint64, from, dst []T) {
	if i := t.Global(); i < len(dst) {
		if at := b.At(first + uint64(i)); at < uint64(len(from)) {
			dst[i] = from[int(at)]
		}
	}
}

//quern:kernel
func shuffle8(t kernel.Thread, b Bijection, first uint64, from, dst []uint8) {
	shuffled(t, b, first, from, dst)
}

//quern:kernel
func shuffle16(t kernel.Thread, b Bijection, first uint64, from, dst []uint16) {
	shuffled(t, b, first, from, dst)
}

//quern:kernel
func shuffle32(t kernel.Thread, b Bijection, first uint64, from, dst []uint32) {
	shuffled(t, b, first, from, dst)
}

//quern:kernel
func shuffle64(t kernel.Thread, b Bijection, first uint64, from, dst [][2]uint32) {
	shuffled(t, b, first, from, dst)
}

//quern:kernel
func shuffle96(t kernel.Thread, b Bijection, first uint64, from, dst [][3]uint32) {
	shuffled(t, b, first, from, dst)
}

//quern:kernel
func shuffle128(t kernel.Thread, b Bijection, first uint64, from, dst [][4]uint32) {
	shuffled(t, b, first, from, dst)
}

// overlap reports whether two buffers have elements in common.
func overlap[T any](a, b *gpu.Buffer[T]) bool {
	var element T
	size := int(unsafe.Sizeof(element))
	d, ok := gpu.Distance(a, b)
	return ok && d < a.Len()*size && -d < b.Len()*size
}

// Shuffle copies the elements of from to dst in a pseudo-random order: element i is
// from[src.Bijection(n).At(src.Offset+i)], where n is the length of from. A dst that
// is shorter gets a sample without replacement. dst and from must not overlap.
// Elements have 1, 2, 4, 8, 12 or 16 bytes, and consist of numbers of at least 4 bytes if they have more than 2.
func Shuffle[T any](s *gpu.Stream, src Source, dst, from *gpu.Buffer[T]) error {
	const op = "Shuffle"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	n := from.Len()
	switch {
	case from == nil:
		return invalid(op, "from", "is nil")
	case overlap(dst, from):
		return invalid(op, "dst", "overlaps from; shuffle to another buffer")
	case src.Offset+uint64(dst.Len()) > uint64(n):
		return invalid(op, "dst", "has %d elements from offset %d, but from has %d", dst.Len(), src.Offset, n)
	}
	var element T
	size, align := unsafe.Sizeof(element), unsafe.Alignof(element)
	var k *gpu.Kernel
	switch size {
	case 1:
		k = quernShuffle8
	case 2:
		k = quernShuffle16
	case 4:
		k = quernShuffle32
	case 8:
		k = quernShuffle64
	case 12:
		k = quernShuffle96
	case 16:
		k = quernShuffle128
	}
	if k == nil || align < min(size, 4) {
		return invalid(op, "dst", "has elements of %d bytes with an alignment of %d; shuffle indices with Permutation instead", size, align)
	}
	if dst.Len() == 0 {
		return nil
	}
	l, err := k.Begin(s, gpu.Linear(dst.Len()))
	if err != nil {
		return failed(op, err)
	}
	gpu.Arg(l, src.Bijection(uint64(n)))
	gpu.Arg(l, src.Offset)
	gpu.SliceArg(l, from)
	gpu.SliceArg(l, dst)
	return failed(op, l.End())
}
