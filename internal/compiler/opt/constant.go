package opt

import "quern.dev/internal/compiler/ir"

// asConst returns an expression as a constant, nil if it is not constant.
func asConst(e ir.Expr) *ir.Const {
	switch e := e.(type) {
	case *ir.Const:
		return e
	case *ir.Zero:
		return zeroConst(e.T)
	}
	return nil
}

// constUnary evaluates a unary operator on a constant.
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

// constBinary evaluates an operator on constants, nil if it would stop the thread. A
// float32 result of +, -, * and / is exact when computed in float64 and rounded, since
// 53 >= 2*24+2 bits.
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

// constConvert converts a constant, nil if the result is not a constant.
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

// constToFloat rounds an integer once, to the precision of the target.
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

// constIntrinsic evaluates an intrinsic whose result is exact, nil otherwise.
func constIntrinsic(e *ir.Intrinsic, args []*ir.Const) *ir.Const {
	if e.Op.Fold == nil || e.Op.Approximate {
		return nil
	}
	return e.Op.Fold(e.T, args)
}
