package ranges

import "quern.dev/internal/compiler/ir"

// condition is what a bool implies about integers. It compares values, not variables,
// so it stays true for the moment of its evaluation. nil implies nothing.
type condition struct {
	op   ir.BinaryOp // a comparison of x and y, or LAnd or LOr of a and b
	x, y *poly
	a, b *condition
	not  bool
}

// condition walks a bool expression.
func (w *walker) condition(e ir.Expr) *condition {
	w.kernel.Func.Poll()
	switch e := e.(type) {
	case *ir.Load:
		if v, ok := e.Place.(*ir.VarPlace); ok {
			if i, ok := w.index[v.Var]; ok {
				c := w.env.at(i).cond
				for _, part := range w.implied[v.Var] {
					c = &condition{op: ir.LAnd, a: c, b: w.implication(part)}
				}
				return c
			}
		}
	case *ir.Convert:
		return w.condition(e.X)
	case *ir.Unary:
		c := w.condition(e.X)
		if c == nil {
			return nil
		}
		n := *c
		n.not = !n.not
		return &n
	case *ir.Binary:
		if e.Op.IsLogical() {
			a := w.condition(e.X)
			var b *condition
			w.apart(func() { // Y is evaluated only if X does not decide the result
				w.assumeCondition(a, e.Op == ir.LAnd)
				b = w.condition(e.Y)
			})
			return &condition{op: e.Op, a: a, b: b}
		}
		if e.X.Type().IsInteger() {
			x := w.value(e.X)
			return &condition{op: e.Op, x: x, y: w.value(e.Y)}
		}
	}
	w.operands(e)
	return nil
}

// implication walks a copy of a condition where a flag is read that implies it. The copy is no
// code: nothing is learned from its evaluation, and it adds no launch conditions.
func (w *walker) implication(e ir.Expr) (c *condition) {
	w.copied = true
	w.apart(func() { c = w.condition(e) })
	w.copied = false
	return c
}

// decided reports whether a condition is known to be true (truth), or known to be
// false.
func (w *walker) decided(c *condition, truth bool) bool {
	if c == nil {
		return false
	}
	truth = truth != c.not
	less := func(x, y *poly) bool { return w.proves(y.plus(-1, x).plusConst(-1)) }
	atMost := func(x, y *poly) bool { return w.proves(y.plus(-1, x)) }
	switch c.op {
	case ir.LAnd, ir.LOr:
		if truth == (c.op == ir.LAnd) {
			return w.decided(c.a, truth) && w.decided(c.b, truth)
		}
		return w.decided(c.a, truth) || w.decided(c.b, truth)
	case ir.Lt, ir.Ge:
		if truth == (c.op == ir.Lt) {
			return less(c.x, c.y)
		}
		return atMost(c.y, c.x)
	case ir.Gt, ir.Le:
		if truth == (c.op == ir.Gt) {
			return less(c.y, c.x)
		}
		return atMost(c.x, c.y)
	case ir.Eq, ir.Ne:
		if truth == (c.op == ir.Eq) {
			return atMost(c.x, c.y) && atMost(c.y, c.x)
		}
		return less(c.x, c.y) || less(c.y, c.x)
	}
	return false
}

// assumeCondition adds what follows from a condition being true or false.
func (w *walker) assumeCondition(c *condition, truth bool) {
	if c == nil {
		return
	}
	truth = truth != c.not
	switch c.op {
	case ir.LAnd, ir.LOr:
		if truth == (c.op == ir.LAnd) {
			w.assumeCondition(c.a, truth)
			w.assumeCondition(c.b, truth)
		}
	case ir.Lt, ir.Ge:
		w.assumeOrder(c.x, c.y, truth == (c.op == ir.Lt))
	case ir.Gt, ir.Le:
		w.assumeOrder(c.y, c.x, truth == (c.op == ir.Gt))
	case ir.Eq, ir.Ne:
		if truth == (c.op == ir.Eq) {
			w.assume(c.y.plus(-1, c.x))
			w.assume(c.x.plus(-1, c.y))
			return
		}
		w.assumeUnequal(c.x, c.y)
	}
}

// assumeOrder assumes x < y, or x >= y.
func (w *walker) assumeOrder(x, y *poly, less bool) {
	if less {
		w.assume(y.plus(-1, x).plusConst(-1))
	} else {
		w.assume(x.plus(-1, y))
	}
}

// assumeUnequal assumes x != y, which is useful if one is known not to be greater.
func (w *walker) assumeUnequal(x, y *poly) {
	d := x.plus(-1, y)
	if d == nil {
		return
	}
	if w.proves(d) {
		w.assume(d.plusConst(-1))
	} else if n := d.negated(); w.proves(n) {
		w.assume(n.plusConst(-1))
	}
}
