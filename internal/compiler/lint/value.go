package lint

import "quern.dev/internal/compiler/ir"

// value returns what is known about an expression, and records its accesses.
func (w *walker) value(e ir.Expr) value {
	switch e := e.(type) {
	case nil:
		return unknown()
	case *ir.Const:
		if e.T.IsInteger() {
			return constant(e.Int64())
		}
		return same("", unaligned)
	case *ir.Zero:
		return constant(0)
	case *ir.ThreadValue:
		return w.threads[e.Op]
	case *ir.Load:
		return w.load(e.Place)
	case *ir.Len:
		return w.length(e.X)
	case *ir.Cap:
		return w.length(e.X)
	case *ir.Unary:
		x := w.value(e.X)
		if e.Op == ir.Neg && e.X.Type().IsInteger() {
			return scale(x, -1)
		}
		return opaque(x)
	case *ir.Convert:
		x := w.value(e.X)
		if e.T.IsInteger() && e.X.Type().IsInteger() {
			return x
		}
		return opaque(x)
	case *ir.Binary:
		return w.binary(e)
	case *ir.Intrinsic:
		return w.intrinsic(e)
	case *ir.Select:
		w.value(e.Cond)
		x, y := w.value(e.X), w.value(e.Y)
		return meet(x, y)
	case *ir.SliceExpr:
		w.values([]ir.Expr{e.Lo, e.Hi, e.Max})
		return unknown()
	}
	return unknown()
}

// opaque returns a value that depends on others in an unknown way.
func opaque(args ...value) value {
	out := same("", unaligned)
	for _, a := range args {
		if !a.uniform() {
			return unknown()
		}
		out.block = out.block || a.block
	}
	return out
}

func (w *walker) length(x ir.Expr) value {
	if v, ok := ir.Variable(x); ok {
		return same("len("+v.Shown()+")", unaligned)
	}
	return same("", unaligned)
}

func (w *walker) load(p ir.Place) value {
	if v, ok := p.(*ir.VarPlace); ok {
		if x, ok := w.env[v.Var]; ok {
			return x
		}
		if w.uniform.IsUniform(v.Var) {
			x := same("", unaligned).called(v.Var)
			x.block = true
			return x
		}
		return unknown()
	}
	v := opaque(w.place(p, false))
	if _, shared := ir.Root(p).(*ir.SharedPlace); shared {
		v.block = true
	}
	return v
}

func (w *walker) binary(e *ir.Binary) value {
	x, y := w.value(e.X), w.value(e.Y)
	if !e.X.Type().IsInteger() || e.Op.IsComparison() {
		return opaque(x, y)
	}
	c, isConstant := y.constant()
	switch e.Op {
	case ir.Add:
		return add(x, y, 1)
	case ir.Sub:
		return add(x, y, -1)
	case ir.Mul:
		return mul(x, y)
	case ir.Div, ir.Rem:
		if isConstant {
			return divide(x, c, e.Op == ir.Rem)
		}
	case ir.Shl:
		if isConstant && 0 <= c && c < 31 {
			return scale(x, 1<<c)
		}
	case ir.Shr:
		if isConstant && 0 <= c && c < 31 {
			return divide(x, 1<<c, false)
		}
	case ir.And:
		if _, ok := x.constant(); ok {
			x, y = y, x
		}
		return bitwise(x, y, e.Op)
	case ir.Or, ir.Xor, ir.AndNot:
		return bitwise(x, y, e.Op)
	}
	return opaque(x, y)
}

// intrinsic handles minima and maxima: an index clamped to a border is the index itself
// almost everywhere.
func (w *walker) intrinsic(e *ir.Intrinsic) value {
	args := make([]value, len(e.Args))
	for i, a := range e.Args {
		args[i] = w.value(a)
	}
	if (e.Op == ir.Min || e.Op == ir.Max) && e.T.IsInteger() {
		switch {
		case args[0].uniform() && args[1].uniform():
			return opaque(args...)
		case args[0].uniform():
			return args[1]
		case args[1].uniform():
			return args[0]
		}
	}
	return opaque(args...)
}

// same reports whether an expression has the same value in all lanes.
func (w *walker) same(e ir.Expr) bool {
	record := w.record
	w.record = false
	defer func() { w.record = record }()
	return w.value(e).uniform()
}

// every reports whether a condition is constant for nearly all threads of the grid: it
// is the same in all blocks, or a comparison with a bound of the data.
func (w *walker) every(e ir.Expr) bool {
	record := w.record
	w.record = false
	defer func() { w.record = record }()
	v := w.value(e)
	return v.uniform() && !v.block || w.boundary(e)
}

// condition returns the lanes for which a condition holds. If that is unknown, it may
// be all lanes.
func (w *walker) condition(e ir.Expr) (taken uint32, known bool) {
	record := w.record
	w.record = false
	defer func() { w.record = record }()
	return w.holds(e)
}

func (w *walker) holds(e ir.Expr) (uint32, bool) {
	switch e := e.(type) {
	case *ir.Const:
		if e.Bits != 0 {
			return allLanes, true
		}
		return 0, true
	case *ir.Unary:
		if taken, known := w.holds(e.X); known && e.Op == ir.LNot {
			return ^taken, true
		}
	case *ir.Binary:
		if e.Op.IsLogical() {
			x, knownX := w.holds(e.X)
			y, knownY := w.holds(e.Y)
			if e.Op == ir.LAnd {
				return x & y, knownX && knownY
			}
			if knownX && knownY {
				return x | y, true
			}
			return allLanes, false
		}
		if e.Op.IsComparison() && e.X.Type().IsInteger() {
			if d := add(w.value(e.X), w.value(e.Y), -1); d.exact() {
				return compare(d.lane, e.Op), true
			}
		}
	}
	return allLanes, false
}

// compare returns the lanes in which the comparison of d with zero is true.
func compare(d lanes, op ir.BinaryOp) uint32 {
	var taken uint32
	for i, x := range d {
		holds := false
		switch op {
		case ir.Eq:
			holds = x == 0
		case ir.Ne:
			holds = x != 0
		case ir.Lt:
			holds = x < 0
		case ir.Le:
			holds = x <= 0
		case ir.Gt:
			holds = x > 0
		case ir.Ge:
			holds = x >= 0
		}
		if holds {
			taken |= 1 << i
		}
	}
	return taken
}
