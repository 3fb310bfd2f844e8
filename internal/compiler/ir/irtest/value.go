package irtest

import (
	"math"
	"math/big"

	"quern.dev/internal/compiler/ir"
	"quern.dev/kernel"
)

// Value is a scalar, a pointer or a slice. Integers and bools are extended to
// 64 bits as in ir.Const; floats are the bits of a float64.
type Value struct {
	Bits uint64
	// For pointers and slices, in cells.
	Object        *Object
	Off, Len, Cap int
}

// Object is the memory of a variable or a buffer: one cell per scalar.
type Object struct{ Cells []Value }

// IntValue returns an integer argument for Run.
func IntValue(v int64) Value { return Value{Bits: uint64(v)} }

// FloatValue returns a float argument.
func FloatValue(v float64) Value { return Value{Bits: math.Float64bits(v)} }

// SliceValue returns a slice of n zero elements of type elem.
func SliceValue(elem *ir.Type, n int) Value {
	return Value{Object: zeroObject(ir.ArrayOf(int64(n), elem)), Len: n, Cap: n}
}

func (v Value) float() float64 { return math.Float64frombits(v.Bits) }

// cells returns the number of cells of a value of type t.
func cells(t *ir.Type) int {
	switch t.Kind {
	case ir.Array:
		return int(t.Len) * cells(t.Elem)
	case ir.Struct:
		n := 0
		for _, f := range t.Fields {
			n += cells(f.Type)
		}
		return n
	}
	return 1
}

func fieldOffset(t *ir.Type, field int) int {
	n := 0
	for _, f := range t.Fields[:field] {
		n += cells(f.Type)
	}
	return n
}

func zeroObject(t *ir.Type) *Object { return &Object{Cells: make([]Value, cells(t))} }

// round rounds a float to its type.
func round(t *ir.Type, v float64) Value {
	if t.Kind == ir.Float32 {
		v = float64(float32(v))
	}
	return FloatValue(v)
}

// convert is Go's conversion; a float out of range of an integer type gives the nearest
// integer.
func convert(from, to *ir.Type, v Value) Value {
	switch {
	case from.IsHalf() && to.IsHalf() && from.Kind == to.Kind:
		return v
	case from.IsHalf():
		return convert(ir.TFloat64, to, FloatValue((&ir.Const{T: from, Bits: v.Bits}).Half()))
	case to.IsHalf():
		return toHalf(from, to, v)
	case from.IsFloat() && to.IsFloat():
		return round(to, v.float())
	case from.IsFloat():
		return Value{Bits: ir.WrapBits(to.Kind, truncate(to, v.float()))}
	case to.IsFloat() && from.IsSigned():
		if to.Kind == ir.Float32 {
			return FloatValue(float64(float32(int64(v.Bits))))
		}
		return FloatValue(float64(int64(v.Bits)))
	case to.IsFloat():
		if to.Kind == ir.Float32 {
			return FloatValue(float64(float32(v.Bits)))
		}
		return FloatValue(float64(v.Bits))
	case to.IsInteger():
		return Value{Bits: ir.WrapBits(to.Kind, v.Bits)}
	}
	return v
}

// truncate returns the integer of type t nearest to f without its fraction.
func truncate(t *ir.Type, f float64) uint64 {
	if f != f {
		return 0
	}
	bits := 8 * t.Size()
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if t.IsSigned() {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	high.Sub(high, big.NewInt(1))
	n := high
	if f < 0 {
		n = low
	}
	if !math.IsInf(f, 0) {
		n, _ = big.NewFloat(f).Int(nil)
	}
	switch {
	case n.Cmp(low) < 0:
		n = low
	case n.Cmp(high) > 0:
		n = high
	}
	if n.Sign() < 0 {
		return uint64(n.Int64())
	}
	return n.Uint64()
}

// toHalf rounds a number to a 16-bit float, once.
func toHalf(from, to *ir.Type, v Value) Value {
	switch {
	case from.IsFloat():
		return Value{Bits: ir.HalfConst(to, v.float()).Bits}
	case to.Kind == ir.BFloat16 && from.IsSigned():
		return Value{Bits: uint64(kernel.ToBFloat16(int64(v.Bits)).Bits())}
	case to.Kind == ir.BFloat16:
		return Value{Bits: uint64(kernel.ToBFloat16(v.Bits).Bits())}
	case from.IsSigned():
		return Value{Bits: uint64(kernel.ToFloat16(int64(v.Bits)).Bits())}
	}
	return Value{Bits: uint64(kernel.ToFloat16(v.Bits).Bits())}
}
