package ir

import "quern.dev/kernel"

// TFloat16 and TBFloat16 are the types of 16-bit floats, which in Go are types of
// package kernel. Values are opaque 16 bits (Const.Bits). A Convert converts them to a
// float or rounds a float to them, a Bitcast returns their bits as uint16, and FMA is
// their only other operation. Sums and the like are conversions around a float32
// operation, which rounds correctly; a back end may use an instruction of the type
// instead.
var (
	TFloat16  = &Type{Kind: Float16, Name: "quern.dev/kernel.Float16"}
	TBFloat16 = &Type{Kind: BFloat16, Name: "quern.dev/kernel.BFloat16"}
)

// IsFloat8 reports whether the type is an 8-bit float of package kernel. These are
// structs like any other, whose functions are compiled from their source.
func (t *Type) IsFloat8() bool {
	return t.Name == "quern.dev/kernel.Float8E4M3" || t.Name == "quern.dev/kernel.Float8E5M2"
}

// IsHalf reports whether values are 16-bit floats.
func (t *Type) IsHalf() bool { return t.Kind == Float16 || t.Kind == BFloat16 }

// HalfConst returns the constant of the 16-bit type t nearest to v.
func HalfConst(t *Type, v float64) *Const {
	if t.Kind == BFloat16 {
		return &Const{T: t, Bits: uint64(kernel.ToBFloat16(v).Bits())}
	}
	return &Const{T: t, Bits: uint64(kernel.ToFloat16(v).Bits())}
}

// IntegerHalf returns the constant of the 16-bit type t nearest to an integer.
func IntegerHalf(t *Type, x *Const) *Const {
	switch signed := x.T.IsSigned(); {
	case t.Kind == BFloat16 && signed:
		return &Const{T: t, Bits: uint64(kernel.ToBFloat16(x.Int64()).Bits())}
	case t.Kind == BFloat16:
		return &Const{T: t, Bits: uint64(kernel.ToBFloat16(x.Bits).Bits())}
	case signed:
		return &Const{T: t, Bits: uint64(kernel.ToFloat16(x.Int64()).Bits())}
	}
	return &Const{T: t, Bits: uint64(kernel.ToFloat16(x.Bits).Bits())}
}

// Half returns the value of a constant of a 16-bit type.
func (x *Const) Half() float64 {
	if x.T.Kind == BFloat16 {
		return kernel.BFloat16FromBits(uint16(x.Bits)).Float64()
	}
	return kernel.Float16FromBits(uint16(x.Bits)).Float64()
}
