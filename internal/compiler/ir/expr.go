package ir

import "math"

// Expr is a value. Expressions are trees without side effects, except that a checked
// index or division may stop the thread. A node occurs in one place only (Clone
// copies).
type Expr interface {
	node
	Type() *Type
	copyExpr() Expr // shares the parts of the original
}

// Const is a scalar constant. Integers and bools are in Bits, sign- or
// zero-extended to 64 bits by the type's signedness; floats in Float.
type Const struct {
	T     *Type
	Bits  uint64
	Float float64
}

// Zero is the zero value of any type.
type Zero struct{ T *Type }

// Load reads a place.
type Load struct{ Place Place }

// Unary applies Neg, Not (bitwise complement) or LNot (boolean negation).
type Unary struct {
	Op UnaryOp
	X  Expr
}

// Binary applies an arithmetic, comparison or short-circuit operator. The operands have
// the same type, except that a shift count may be of any integer type. Integer
// arithmetic wraps; shifts by more than the width have Go's result. Passes also compare
// pointers, by address.
type Binary struct {
	Op   BinaryOp
	X, Y Expr
	// Check requests the run-time check of a Div or Rem (divisor zero) or a shift
	// (negative count); the site is Pos.
	Check bool
	// Strict forbids fusing this operation with another one into a single rounding.
	Strict bool
	Pos    Pos
}

// Convert converts between numeric types like Go, or renames a type. A conversion of a
// float to its own kind prevents its operand from being fused. If a float is out of
// range of an integer type, where Go leaves the result open, the result is the nearest
// integer of that type, and 0 for NaN.
type Convert struct {
	T *Type
	X Expr
	// InRange: the float X is known not to be NaN and to fit the integer type T.
	InRange bool
}

// Len is the length of a slice, of type int.
type Len struct{ X Expr }

// Cap is the capacity of a slice.
type Cap struct{ X Expr }

// SliceExpr is x[lo:hi:max] of a slice value X or, if X is nil, of the array at Array.
// Lo, Hi and Max may be nil.
type SliceExpr struct {
	T           *Type
	X           Expr
	Array       Place
	Lo, Hi, Max Expr
	Check       bool
	Pos         Pos
}

// Addr is the address of a place.
type Addr struct {
	T     *Type
	Place Place
}

// ThreadValue is one of the thread's coordinates, of type int.
type ThreadValue struct{ Op ThreadOp }

// Composite builds a struct (one element per field) or an array. A nil element is zero.
type Composite struct {
	T     *Type
	Elems []Expr
}

// Select is X if Cond holds, otherwise Y; both are evaluated. Only passes create it.
type Select struct{ Cond, X, Y Expr }

func (x *Const) Type() *Type     { return x.T }
func (x *Zero) Type() *Type      { return x.T }
func (x *Load) Type() *Type      { return x.Place.Type() }
func (x *Unary) Type() *Type     { return x.X.Type() }
func (x *Convert) Type() *Type   { return x.T }
func (*Len) Type() *Type         { return TInt }
func (*Cap) Type() *Type         { return TInt }
func (x *SliceExpr) Type() *Type { return x.T }
func (x *Addr) Type() *Type      { return x.T }
func (*ThreadValue) Type() *Type { return TInt }
func (x *Composite) Type() *Type { return x.T }
func (x *Select) Type() *Type    { return x.X.Type() }

// Type is bool for comparisons and the operands' type otherwise. It descends long
// chains, such as sums of many terms, to the first operand that is not a Binary.
func (x *Binary) Type() *Type {
	for !x.Op.IsComparison() {
		if _, chained := x.Y.(*Binary); !chained && !x.Op.IsShift() {
			return x.Y.Type()
		}
		next, chained := x.X.(*Binary)
		if !chained {
			return x.X.Type()
		}
		x = next
	}
	return TBool
}

// IsTruncation reports whether the conversion is from a float to an integer.
func (x *Convert) IsTruncation() bool { return x.T.IsInteger() && x.X.Type().IsFloat() }

// Int64 returns the value of an integer constant as a signed number.
func (x *Const) Int64() int64 { return int64(x.Bits) }

// IsZero reports whether the constant is 0, false or +0.
func (x *Const) IsZero() bool {
	if x.T.IsFloat() {
		return math.Float64bits(x.Float) == 0
	}
	return x.Bits == 0
}

// IntConst returns the integer constant v of type t, wrapped to its width.
func IntConst(t *Type, v int64) *Const { return &Const{T: t, Bits: WrapBits(t.Kind, uint64(v))} }

// FloatConst returns the float constant v, rounded to type t.
func FloatConst(t *Type, v float64) *Const {
	if t.Kind == Float32 {
		v = float64(float32(v))
	}
	return &Const{T: t, Float: v}
}

// BoolConst returns the bool constant v.
func BoolConst(v bool) *Const {
	c := &Const{T: TBool}
	if v {
		c.Bits = 1
	}
	return c
}

// WrapBits truncates v to the width of integer kind k and extends it to 64 bits by the
// kind's signedness, which is the form of Const.Bits.
func WrapBits(k Kind, v uint64) uint64 {
	switch k {
	case Bool:
		return v & 1
	case Int8:
		return uint64(int64(int8(v)))
	case Int16:
		return uint64(int64(int16(v)))
	case Int32:
		return uint64(int64(int32(v)))
	case Uint8:
		return uint64(uint8(v))
	case Uint16, Float16, BFloat16:
		return uint64(uint16(v))
	case Uint32:
		return uint64(uint32(v))
	}
	return v
}
