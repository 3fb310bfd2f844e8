package opt

import "quern.dev/internal/compiler/ir"

// fuse turns sums with a product into fused multiply-adds, as the Go specification
// allows. In fastmath kernels it turns float32 divisions and square roots into the
// hardware's approximations.
//
// A conversion of a float to its own type rounds, so its operand is not fused. The
// conversion is removed and a Strict mark stays, because ptxas fuses unmarked
// operations.
func fuse(k *ir.Kernel) error {
	f := fuser{fast: k.Options.FastMath}
	r := ir.Rewriter{Expr: f.expr}
	k.Func.Body = r.Body(k.Func.Body)
	return nil
}

type fuser struct{ fast bool }

func (f fuser) expr(e ir.Expr) ir.Expr {
	if !e.Type().IsFloat() {
		return e
	}
	switch e := e.(type) {
	case *ir.Convert:
		if e.X.Type().Kind == e.T.Kind && round(e.X) {
			return e.X
		}
	case *ir.Binary:
		switch {
		case e.Strict:
		case e.Op == ir.Add || e.Op == ir.Sub:
			return f.sum(e)
		case e.Op == ir.Div && f.fast && e.Type().Kind == ir.Float32:
			return f.quotient(e)
		}
	case *ir.Intrinsic:
		if e.Op == ir.ApproxRsqrt && isNormal(e.Args[0]) {
			e.Op = ir.ApproxRsqrtNormal
		}
		if e.Op == ir.Sqrt && f.fast && !e.Strict && e.T.Kind == ir.Float32 {
			e.Op = ir.ApproxSqrt
		}
	}
	return e
}

// round marks an operation as not fusible, and reports whether e is one.
func round(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Binary:
		e.Strict = true
	case *ir.Intrinsic:
		e.Strict = true
	case *ir.Const:
	default:
		return false
	}
	return true
}

// sum fuses x*y + z, z + x*y, x*y - z and z - x*y.
func (f fuser) sum(e *ir.Binary) ir.Expr {
	if rounded(e.X) || rounded(e.Y) {
		// A variable holding a product: the mark must be on the sum.
		e.Strict = true
		return e
	}
	t := e.Type()
	if p := product(e.X); p != nil {
		z := e.Y
		if e.Op == ir.Sub {
			z = negative(z)
		}
		return fma(t, p.X, p.Y, z)
	}
	// The product's operands move before z. They may rely on z's checks.
	if p := product(e.Y); p != nil && !ir.MayFault(e.X) {
		if e.Op == ir.Sub {
			p.X = negative(p.X)
		}
		return fma(t, p.X, p.Y, e.X)
	}
	return e
}

// rounded reports whether e is a conversion to its own type.
func rounded(e ir.Expr) bool {
	c, ok := e.(*ir.Convert)
	return ok && c.T.Kind == c.X.Type().Kind
}

// product returns e if it is a product that may be fused, otherwise nil.
func product(e ir.Expr) *ir.Binary {
	if b, ok := e.(*ir.Binary); ok && b.Op == ir.Mul && !b.Strict {
		return b
	}
	return nil
}

func fma(t *ir.Type, x, y, z ir.Expr) ir.Expr {
	return &ir.Intrinsic{Op: ir.FMA, T: t, Args: []ir.Expr{x, y, z}}
}

func negative(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Unary:
		if e.Op == ir.Neg {
			return e.X
		}
	case *ir.Const:
		return ir.FloatConst(e.T, -e.Float)
	}
	return &ir.Unary{Op: ir.Neg, X: e}
}

// quotient approximates x/y, 1/y and 1/sqrt(y) in float32.
func (f fuser) quotient(e *ir.Binary) ir.Expr {
	one, ok := e.X.(*ir.Const)
	if !ok || one.Float != 1 {
		return &ir.Intrinsic{Op: ir.ApproxDiv, T: e.Type(), Args: []ir.Expr{e.X, e.Y}}
	}
	if s, ok := e.Y.(*ir.Intrinsic); ok && s.Op == ir.ApproxSqrt {
		return &ir.Intrinsic{Op: ir.ApproxRsqrt, T: e.Type(), Args: s.Args}
	}
	return &ir.Intrinsic{Op: ir.ApproxRcp, T: e.Type(), Args: []ir.Expr{e.Y}}
}
