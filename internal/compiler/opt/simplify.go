package opt

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// simplifyExpr returns an expression with the same value and faults as e, whose
// operands are already simplified. It may reuse e's nodes.
func simplifyExpr(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Zero:
		if c := zeroConst(e.T); c != nil {
			return c
		}
	case *ir.Load:
		if c := tableConst(e.Place); c != nil {
			return c
		}
	case *ir.Unary:
		return simplifyUnary(e)
	case *ir.Binary:
		return simplifyBinary(e)
	case *ir.Convert:
		return simplifyConvert(e)
	case *ir.Select:
		if c := asConst(e.Cond); c != nil && !ir.MayFault(e) {
			if c.Bits != 0 {
				return e.X
			}
			return e.Y
		}
	case *ir.Intrinsic:
		args := make([]*ir.Const, len(e.Args))
		for i, a := range e.Args {
			if args[i] = asConst(a); args[i] == nil {
				return e
			}
		}
		if c := constIntrinsic(e, args); c != nil {
			return c
		}
	}
	return e
}

func simplifyUnary(e *ir.Unary) ir.Expr {
	if c := asConst(e.X); c != nil {
		return constUnary(e.Op, c)
	}
	if x, ok := e.X.(*ir.Unary); ok && x.Op == e.Op {
		return x.X
	}
	if x, ok := e.X.(*ir.Binary); ok && e.Op == ir.LNot && x.Op.IsComparison() {
		// A float comparison with NaN is false both ways.
		if x.Op == ir.Eq || x.Op == ir.Ne || !x.X.Type().IsFloat() {
			x.Op = inverse[x.Op]
			return x
		}
	}
	return e
}

var inverse = map[ir.BinaryOp]ir.BinaryOp{ir.Eq: ir.Ne, ir.Ne: ir.Eq, ir.Lt: ir.Ge, ir.Ge: ir.Lt, ir.Gt: ir.Le, ir.Le: ir.Gt}

var mirrored = map[ir.BinaryOp]ir.BinaryOp{ir.Eq: ir.Eq, ir.Ne: ir.Ne, ir.Lt: ir.Gt, ir.Gt: ir.Lt, ir.Le: ir.Ge, ir.Ge: ir.Le,
	ir.Add: ir.Add, ir.Mul: ir.Mul, ir.And: ir.And, ir.Or: ir.Or, ir.Xor: ir.Xor}

// not returns the negation of a bool expression.
func not(e ir.Expr) ir.Expr { return simplifyExpr(&ir.Unary{Op: ir.LNot, X: e}) }

func simplifyBinary(e *ir.Binary) ir.Expr {
	x, y := asConst(e.X), asConst(e.Y)
	if x != nil && y != nil {
		if c := constBinary(e.Op, x, y); c != nil {
			return c
		}
		return e
	}
	if e.Op.IsLogical() {
		return simplifyLogical(e, x, y)
	}
	if m, ok := mirrored[e.Op]; ok && x != nil {
		e.Op, e.X, e.Y = m, e.Y, e.X
		x, y = y, x
	}
	t := e.X.Type()
	switch {
	case t.Kind == ir.Pointer:
		return simplifyPointers(e)
	case t.Kind == ir.Bool && y != nil:
		if (e.Op == ir.Eq) == (y.Bits != 0) {
			return e.X
		}
		return not(e.X)
	case t.IsFloat() && y != nil:
		return simplifyFloat(e, y)
	case !t.IsInteger():
		return e
	case y != nil:
		return simplifyInt(e, y)
	case x != nil && x.Bits == 0 && e.Op == ir.Sub:
		return &ir.Unary{Op: ir.Neg, X: e.Y}
	}
	return e
}

func simplifyLogical(e *ir.Binary, x, y *ir.Const) ir.Expr {
	ends := func(c *ir.Const) bool { return (c.Bits != 0) == (e.Op == ir.LOr) } // determines the result
	switch {
	case x != nil && ends(x):
		return x
	case x != nil:
		return e.Y
	case y != nil && !ends(y):
		return e.X
	case y != nil && !ir.MayFault(e.X):
		return y
	}
	return e
}

// simplifyPointers uses the fact that no variable is at address zero.
func simplifyPointers(e *ir.Binary) ir.Expr {
	_, xAddr := e.X.(*ir.Addr)
	_, yAddr := e.Y.(*ir.Addr)
	_, xZero := e.X.(*ir.Zero)
	_, yZero := e.Y.(*ir.Zero)
	if (xAddr && yZero || xZero && yAddr) && !ir.MayFault(e) {
		return ir.BoolConst(e.Op == ir.Ne)
	}
	return e
}

// simplifyFloat applies identities that are exact for all values, including signed
// zeros and infinities.
func simplifyFloat(e *ir.Binary, y *ir.Const) ir.Expr {
	switch c := y.Float; e.Op {
	case ir.Mul:
		switch c {
		case 1:
			return e.X
		case -1:
			return &ir.Unary{Op: ir.Neg, X: e.X}
		}
	case ir.Div:
		if c == 1 {
			return e.X
		}
		if frac, _ := math.Frexp(c); math.Abs(frac) == 0.5 {
			inv := ir.FloatConst(y.T, 1/c)
			if inv.Float*c == 1 { // exact: the product rounds as the quotient does
				e.Op, e.Y = ir.Mul, inv
			}
		}
	case ir.Add:
		if c == 0 && math.Signbit(c) {
			return e.X
		}
	case ir.Sub:
		if c == 0 && !math.Signbit(c) {
			return e.X
		}
	}
	return e
}

func simplifyInt(e *ir.Binary, y *ir.Const) ir.Expr {
	t := e.X.Type()
	allOnes := ir.WrapBits(t.Kind, ^uint64(0))
	zero := func() ir.Expr {
		if ir.MayFault(e.X) {
			return e
		}
		return wrapped(t, 0)
	}
	switch e.Op {
	case ir.Add, ir.Sub:
		if y.Bits == 0 {
			return e.X
		}
		return joinSum(e, y)
	case ir.Mul:
		switch {
		case y.Bits == 1:
			return e.X
		case y.Bits == 0:
			return zero()
		}
		return joinProduct(e, y)
	case ir.Div:
		if y.Bits == 1 {
			return e.X
		}
	case ir.Rem:
		if y.Bits == 1 {
			return zero()
		}
	case ir.And:
		if y.Bits == 0 {
			return zero()
		}
		if y.Bits == allOnes {
			return e.X
		}
	case ir.Or, ir.Xor, ir.AndNot:
		if y.Bits == 0 {
			return e.X
		}
	case ir.Shl, ir.Shr:
		return simplifyShift(e, y)
	case ir.Lt, ir.Ge:
		if y.Bits == 0 && !t.IsSigned() && !ir.MayFault(e.X) {
			return ir.BoolConst(e.Op == ir.Ge)
		}
	}
	if (e.Op == ir.Div || e.Op == ir.Rem) && y.Bits != 0 {
		e.Check = false
	}
	return e
}

func simplifyShift(e *ir.Binary, y *ir.Const) ir.Expr {
	t := e.X.Type()
	switch {
	case y.T.IsSigned() && y.Int64() < 0:
		return e
	case y.Bits == 0:
		return e.X
	case y.Bits >= uint64(8*t.Size()) && (e.Op == ir.Shl || !t.IsSigned()) && !ir.MayFault(e.X):
		return wrapped(t, 0)
	}
	e.Check = false
	return e
}

// joinSum turns (x ± a) ± b into x ± c. Integer addition wraps, so this is exact. The
// constant keeps its sign from the source.
func joinSum(e *ir.Binary, y *ir.Const) ir.Expr {
	in, ok := e.X.(*ir.Binary)
	if !ok || in.Op != ir.Add && in.Op != ir.Sub {
		return e
	}
	a := asConst(in.Y)
	if a == nil {
		return e
	}
	sum := func(op ir.BinaryOp, total, v uint64) uint64 {
		if op == ir.Sub {
			return total - v
		}
		return total + v
	}
	c := wrapped(y.T, sum(e.Op, sum(in.Op, 0, a.Bits), y.Bits))
	switch {
	case c.Bits == 0:
		return in.X
	case y.T.IsSigned() && c.Int64() < 0 && c.Int64() != math.MinInt64:
		in.Op, in.Y = ir.Sub, wrapped(y.T, -c.Bits)
	default:
		in.Op, in.Y = ir.Add, c
	}
	return in
}

// joinProduct turns (x * a) * b into x * c.
func joinProduct(e *ir.Binary, y *ir.Const) ir.Expr {
	in, ok := e.X.(*ir.Binary)
	if !ok || in.Op != ir.Mul {
		return e
	}
	a := asConst(in.Y)
	if a == nil {
		return e
	}
	in.Y = wrapped(y.T, a.Bits*y.Bits)
	return in
}

func simplifyConvert(e *ir.Convert) ir.Expr {
	if c := asConst(e.X); c != nil {
		if r := constConvert(e.T, c); r != nil {
			return r
		}
		return e
	}
	x := e.X.Type()
	if e.T.Kind == x.Kind {
		if !x.IsFloat() {
			return e.X
		}
		// Converting a float to its own kind prevents fusing. A value loaded from
		// memory cannot be fused anyway.
		// comes from memory cannot be.
		if l, ok := e.X.(*ir.Load); ok && !isLocal(l.Place) {
			return e.X
		}
		return e
	}
	in, ok := e.X.(*ir.Convert)
	if !ok || !x.IsInteger() || !in.X.Type().IsInteger() {
		return e
	}
	from := in.X.Type()
	preserved := from.Kind == x.Kind ||
		x.Size() > from.Size() && (x.IsSigned() || !from.IsSigned()) ||
		x.Size() == from.Size() && x.IsSigned() == from.IsSigned()
	truncated := e.T.IsInteger() && x.Size() >= e.T.Size()
	if preserved || truncated {
		e.X = in.X
		return simplifyConvert(e)
	}
	return e
}
