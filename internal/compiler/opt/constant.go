package opt

import (
	"math"
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// asConst returns an expression as a constant, nil if it is none.
func asConst(e ir.Expr) *ir.Const {
	switch e := e.(type) {
	case *ir.Const:
		return e
	case *ir.Zero:
		return zeroConst(e.T)
	}
	return nil
}

// constUnary evaluates an operator on a constant.
func constUnary(op ir.UnaryOp, x *ir.Const) *ir.Const {
	switch {
	case op == ir.LNot:
		return ir.BoolConst(x.Bits == 0)
	case op == ir.Not:
		return wrapped(x.T, ^x.Bits)
	case x.T.IsFloat():
		return &ir.Const{T: x.T, Float: -x.Float}
	}
	return wrapped(x.T, -x.Bits)
}

func wrapped(t *ir.Type, v uint64) *ir.Const { return &ir.Const{T: t, Bits: ir.WrapBits(t.Kind, v)} }

// constBinary evaluates an operator on constants, nil where it would stop the
// thread. A float32 result of +, -, * and / is exact when computed in float64 and
// rounded, since 53 >= 2*24+2 bits.
func constBinary(op ir.BinaryOp, x, y *ir.Const) *ir.Const {
	switch {
	case op.IsComparison():
		return constCompare(op, x, y)
	case op == ir.LAnd:
		return ir.BoolConst(x.Bits&y.Bits != 0)
	case op == ir.LOr:
		return ir.BoolConst(x.Bits|y.Bits != 0)
	case x.T.IsFloat():
		return constFloat(op, x, y)
	case op.IsShift():
		return constShift(op, x, y)
	}
	a, b := x.Bits, y.Bits
	switch op {
	case ir.Add:
		return wrapped(x.T, a+b)
	case ir.Sub:
		return wrapped(x.T, a-b)
	case ir.Mul:
		return wrapped(x.T, a*b)
	case ir.And:
		return wrapped(x.T, a&b)
	case ir.Or:
		return wrapped(x.T, a|b)
	case ir.Xor:
		return wrapped(x.T, a^b)
	case ir.AndNot:
		return wrapped(x.T, a&^b)
	}
	if b == 0 {
		return nil
	}
	switch {
	case op == ir.Div && x.T.IsSigned():
		return wrapped(x.T, uint64(int64(a)/int64(b)))
	case op == ir.Div:
		return wrapped(x.T, a/b)
	case x.T.IsSigned():
		return wrapped(x.T, uint64(int64(a)%int64(b)))
	}
	return wrapped(x.T, a%b)
}

func constFloat(op ir.BinaryOp, x, y *ir.Const) *ir.Const {
	a, b := x.Float, y.Float
	switch op {
	case ir.Add:
		return ir.FloatConst(x.T, a+b)
	case ir.Sub:
		return ir.FloatConst(x.T, a-b)
	case ir.Mul:
		return ir.FloatConst(x.T, a*b)
	case ir.Div:
		return ir.FloatConst(x.T, a/b)
	}
	return nil
}

func constShift(op ir.BinaryOp, x, y *ir.Const) *ir.Const {
	if y.T.IsSigned() && y.Int64() < 0 {
		return nil
	}
	switch {
	case op == ir.Shl:
		return wrapped(x.T, x.Bits<<y.Bits)
	case x.T.IsSigned():
		return wrapped(x.T, uint64(int64(x.Bits)>>y.Bits))
	}
	return wrapped(x.T, x.Bits>>y.Bits)
}

func constCompare(op ir.BinaryOp, x, y *ir.Const) *ir.Const {
	var less, equal bool
	switch {
	case x.T.IsFloat():
		if x.Float != x.Float || y.Float != y.Float {
			return ir.BoolConst(op == ir.Ne)
		}
		less, equal = x.Float < y.Float, x.Float == y.Float
	case x.T.IsSigned():
		less, equal = x.Int64() < y.Int64(), x.Bits == y.Bits
	default:
		less, equal = x.Bits < y.Bits, x.Bits == y.Bits
	}
	switch op {
	case ir.Eq:
		return ir.BoolConst(equal)
	case ir.Ne:
		return ir.BoolConst(!equal)
	case ir.Lt:
		return ir.BoolConst(less)
	case ir.Le:
		return ir.BoolConst(less || equal)
	case ir.Gt:
		return ir.BoolConst(!less && !equal)
	}
	return ir.BoolConst(!less)
}

// constConvert converts a constant, nil where that has no constant.
func constConvert(t *ir.Type, x *ir.Const) *ir.Const {
	switch {
	case t.IsHalf() && x.T.IsFloat():
		return ir.HalfConst(t, x.Float)
	case t.IsFloat() && x.T.IsHalf():
		return ir.FloatConst(t, x.Half())
	case t.IsFloat() && x.T.IsFloat():
		return ir.FloatConst(t, x.Float)
	case t.IsFloat():
		return constToFloat(t, x)
	case !t.IsInteger():
		return &ir.Const{T: t, Bits: x.Bits}
	case x.T.IsInteger():
		return wrapped(t, x.Bits)
	}
	return constToInteger(t, x.Float)
}

// constToInteger truncates a float: see ir.Convert.
func constToInteger(t *ir.Type, f float64) *ir.Const {
	low, limit := integerLimits(t)
	highest := ^uint64(0) >> (64 - 8*t.Size())
	if t.IsSigned() {
		highest >>= 1
	}
	switch {
	case f != f:
		return wrapped(t, 0)
	case f >= limit:
		return wrapped(t, highest)
	case f <= low && t.IsSigned():
		return wrapped(t, highest+1)
	case f <= low:
		return wrapped(t, 0)
	case f < 0:
		return wrapped(t, uint64(int64(f)))
	}
	return wrapped(t, uint64(f))
}

// constToFloat rounds an integer once, to the target's precision.
func constToFloat(t *ir.Type, x *ir.Const) *ir.Const {
	switch {
	case t.Kind == ir.Float32 && x.T.IsSigned():
		return &ir.Const{T: t, Float: float64(float32(x.Int64()))}
	case t.Kind == ir.Float32:
		return &ir.Const{T: t, Float: float64(float32(x.Bits))}
	case x.T.IsSigned():
		return &ir.Const{T: t, Float: float64(x.Int64())}
	}
	return &ir.Const{T: t, Float: float64(x.Bits)}
}

// constIntrinsic evaluates an intrinsic whose result is exact, nil for others.
func constIntrinsic(e *ir.Intrinsic, args []*ir.Const) *ir.Const {
	x := args[0]
	if x.T.IsFloat() {
		return constFloatIntrinsic(e, args)
	}
	if x.T.IsHalf() && e.Op != ir.Bitcast {
		return nil
	}
	size := int(8 * x.T.Size())
	word := x.Bits
	if size < 64 {
		word &= 1<<size - 1
	}
	switch e.Op {
	case ir.Min, ir.Max:
		if (constCompare(ir.Lt, args[1], x).Bits != 0) == (e.Op == ir.Min) {
			return &ir.Const{T: x.T, Bits: args[1].Bits}
		}
		return &ir.Const{T: x.T, Bits: x.Bits}
	case ir.Bitcast:
		return constBitcast(e.T, word)
	case ir.LeadingZeros:
		return ir.IntConst(e.T, int64(bits.LeadingZeros64(word)-(64-size)))
	case ir.TrailingZeros:
		return ir.IntConst(e.T, int64(min(bits.TrailingZeros64(word), size)))
	case ir.OnesCount:
		return ir.IntConst(e.T, int64(bits.OnesCount64(word)))
	case ir.ReverseBits:
		return wrapped(x.T, bits.Reverse64(word)>>(64-size))
	case ir.ReverseBytes:
		return wrapped(x.T, bits.ReverseBytes64(word)>>(64-size))
	case ir.RotateLeft:
		n := int(args[1].Bits & uint64(size-1))
		return wrapped(x.T, word<<n|word>>(size-n))
	case ir.MulHi:
		if size == 32 {
			return wrapped(x.T, word*args[1].Bits>>32)
		}
		hi, _ := bits.Mul64(word, args[1].Bits)
		return wrapped(x.T, hi)
	}
	return nil
}

func constFloatIntrinsic(e *ir.Intrinsic, args []*ir.Const) *ir.Const {
	x := args[0]
	result := func(f float64) *ir.Const { return ir.FloatConst(x.T, f) }
	switch e.Op {
	case ir.Sqrt:
		return result(math.Sqrt(x.Float))
	case ir.FMA:
		if x.T.Kind == ir.Float64 {
			return result(math.FMA(x.Float, args[1].Float, args[2].Float))
		}
	case ir.Abs:
		return result(math.Abs(x.Float))
	case ir.Floor:
		return result(math.Floor(x.Float))
	case ir.Ceil:
		return result(math.Ceil(x.Float))
	case ir.Trunc:
		return result(math.Trunc(x.Float))
	case ir.RoundToEven:
		return result(math.RoundToEven(x.Float))
	case ir.Copysign:
		return result(math.Copysign(x.Float, args[1].Float))
	case ir.Min:
		return result(min(x.Float, args[1].Float))
	case ir.Max:
		return result(max(x.Float, args[1].Float))
	case ir.Bitcast:
		switch {
		case x.T.Kind == ir.Float64:
			return constBitcast(e.T, math.Float64bits(x.Float))
		case x.Float == x.Float: // a NaN's payload does not survive float64
			return constBitcast(e.T, uint64(math.Float32bits(float32(x.Float))))
		}
	}
	return nil
}

func constBitcast(t *ir.Type, word uint64) *ir.Const {
	switch {
	case t.Kind == ir.Float64:
		return &ir.Const{T: t, Float: math.Float64frombits(word)}
	case t.Kind == ir.Float32:
		if f := math.Float32frombits(uint32(word)); f == f {
			return &ir.Const{T: t, Float: float64(f)}
		}
		return nil
	case t.IsInteger() || t.IsHalf():
		return wrapped(t, word)
	}
	return nil
}
