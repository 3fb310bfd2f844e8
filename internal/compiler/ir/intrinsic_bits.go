package ir

import (
	"math"
	"math/bits"
)

// Operations on the bits of integers, of all widths unless stated.
var (
	LeadingZeros = declare(IntrinsicOp{
		Name: "leadingZeros", Args: 1, Class: Integers, Result: BitCount,
		Calls: []string{"bits.LeadingZeros"},
		Fold:  ofWord(func(word uint64, size int) uint64 { return uint64(bits.LeadingZeros64(word) - (64 - size)) }),
		Go:    "bits.LeadingZeros",
	})

	TrailingZeros = declare(IntrinsicOp{
		Name: "trailingZeros", Args: 1, Class: Integers, Result: BitCount,
		Calls: []string{"bits.TrailingZeros"},
		Fold:  ofWord(func(word uint64, size int) uint64 { return uint64(min(bits.TrailingZeros64(word), size)) }),
		Go:    "bits.TrailingZeros",
	})

	OnesCount = declare(IntrinsicOp{
		Name: "onesCount", Args: 1, Class: Integers, Result: BitCount,
		Calls: []string{"bits.OnesCount"},
		Fold:  ofWord(func(word uint64, _ int) uint64 { return uint64(bits.OnesCount64(word)) }),
		Go:    "bits.OnesCount",
	})

	ReverseBits = declare(IntrinsicOp{
		Name: "reverseBits", Args: 1, Class: Integers,
		Calls: []string{"bits.Reverse"},
		Fold:  ofWord(func(word uint64, size int) uint64 { return bits.Reverse64(word) >> (64 - size) }),
		Go:    "bits.Reverse",
	})

	ReverseBytes = declare(IntrinsicOp{
		Name: "reverseBytes", Args: 1, Class: Integers,
		Calls: []string{"bits.ReverseBytes"},
		Fold:  ofWord(func(word uint64, size int) uint64 { return bits.ReverseBytes64(word) >> (64 - size) }),
		Go:    "bits.ReverseBytes",
	})

	// RotateLeft rotates by its second argument, to the right if it is negative.
	RotateLeft = declare(IntrinsicOp{
		Name: "rotateLeft", Args: 2, Class: Integers, Count: true,
		Calls: []string{"bits.RotateLeft"},
		Fold: func(t *Type, x []*Const) *Const {
			return ofWord(func(word uint64, size int) uint64 {
				n := int(x[1].Bits & uint64(size-1))
				return word<<n | word>>(size-n)
			})(t, x)
		},
		Go: "bits.RotateLeft",
	})

	// MulHi is the high half of a product.
	MulHi = declare(IntrinsicOp{
		Name: "mulHi", Args: 2, Class: Words,
		Fold: func(t *Type, x []*Const) *Const {
			if t.Size() == 4 {
				return wrapped(t, x[0].Bits*x[1].Bits>>32)
			}
			hi, _ := bits.Mul64(x[0].Bits, x[1].Bits)
			return wrapped(t, hi)
		},
		PTX: "mul.hi.T",
	})

	// Bitcast is a value's bits as another type of the same size: math.Float32bits and
	// the like.
	Bitcast = declare(IntrinsicOp{Name: "bitcast", Args: 1, Class: Bits, Result: SameSize, Fold: bitcast})
)

// bitcast does not fold a float32 NaN: its payload would not survive float64.
func bitcast(t *Type, x []*Const) *Const {
	word := x[0].Bits & (1<<(8*x[0].T.Size()-1)<<1 - 1)
	switch f := x[0].Float; {
	case x[0].T.Kind == Float64:
		word = math.Float64bits(f)
	case x[0].T.Kind == Float32 && f != f:
		return nil
	case x[0].T.Kind == Float32:
		word = uint64(math.Float32bits(float32(f)))
	}
	switch {
	case t.Kind == Float64:
		return &Const{T: t, Float: math.Float64frombits(word)}
	case t.Kind == Float32:
		if f := math.Float32frombits(uint32(word)); f == f {
			return &Const{T: t, Float: float64(f)}
		}
		return nil
	case t.IsInteger() || t.IsHalf():
		return wrapped(t, word)
	}
	return nil
}
