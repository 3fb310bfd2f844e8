package ptx

import "quern.dev/internal/compiler/ir"

var comparison = map[ir.BinaryOp]string{
	ir.Eq: "eq", ir.Ne: "ne", ir.Lt: "lt", ir.Le: "le", ir.Gt: "gt", ir.Ge: "ge",
}

// compare emits a comparison. As in Go, ordered comparisons of floats are false for NaN
// and != is true.
func (g *generator) compare(e *ir.Binary, dst operand) operand {
	t := e.X.Type()
	switch t.Kind {
	case ir.Bool:
		return g.compareBools(e, dst)
	case ir.Pointer:
		return g.comparePointers(e, dst)
	}
	x, y := g.value(e.X), g.value(e.Y)
	if t.IsInteger() && !t.IsSigned() {
		if d, ok := g.compareWithZero(e.Op, x, y, dst); ok {
			return d
		}
	}
	op := comparison[e.Op]
	if e.Op == ir.Ne && t.IsFloat() {
		op = "neu"
	}
	dst = g.into(dst, predClass)
	g.emit("setp."+op+"."+arithmeticType(t.Kind), dst, x, y)
	return dst
}

// compareWithZero emits comparisons of unsigned numbers with 0 whose result is known. ptxas 13.0
// gets them wrong: for 0 <= -x, where x is a selection of 1 or 0, it returns whether x is 0.
func (g *generator) compareWithZero(op ir.BinaryOp, x, y, dst operand) (operand, bool) {
	result := ""
	switch {
	case op == ir.Le && x.isZero(), op == ir.Ge && y.isZero():
		result = "eq"
	case op == ir.Gt && x.isZero(), op == ir.Lt && y.isZero():
		result = "ne"
	default:
		return operand{}, false
	}
	dst = g.into(dst, predClass)
	zero := intOperand(b32Class, 0)
	g.emit("setp."+result+".u32", dst, zero, zero)
	return dst, true
}

func (g *generator) compareBools(e *ir.Binary, dst operand) operand {
	x, y := g.condition(e.X), g.condition(e.Y)
	different := (e.Op == ir.Ne) != (x.negated != y.negated)
	if different {
		dst = g.into(dst, predClass)
		g.emit("xor.pred", dst, x.pred, y.pred)
		return dst
	}
	r := g.register(predClass)
	g.emit("xor.pred", r, x.pred, y.pred)
	dst = g.into(dst, predClass)
	g.emit("not.pred", dst, r)
	return dst
}

func (g *generator) comparePointers(e *ir.Binary, dst operand) operand {
	x, xs := g.pointer(e.X)
	y, ys := g.pointer(e.Y)
	space := xs.join(ys)
	x, y = g.cast(x, xs, space), g.cast(y, ys, space)
	dst = g.into(dst, predClass)
	g.emit("setp."+comparison[e.Op]+"."+addressType(space), dst, x, y)
	return dst
}

// logical evaluates && and ||. A right side that is cheap and cannot fail is always
// evaluated; others are skipped by a jump.
func (g *generator) logical(e *ir.Binary, dst operand) operand {
	if isSpeculable(e.Y) {
		x, y := g.inRegister(g.value(e.X)), g.inRegister(g.value(e.Y))
		dst = g.into(dst, predClass)
		if e.Op == ir.LAnd {
			g.emit("and.pred", dst, x, y)
		} else {
			g.emit("or.pred", dst, x, y)
		}
		return dst
	}
	// The right side may read dst, so the result is built in another register.
	r := g.register(predClass)
	end := g.newLabel()
	g.assignRegister(r, e.X)
	g.jumpIf(condition{r, e.Op == ir.LAnd}, end)
	g.within(func() { g.assignRegister(r, e.Y) })
	g.place(end)
	return r
}

// assignRegister evaluates e into the register r.
func (g *generator) assignRegister(r operand, e ir.Expr) {
	g.move(r, g.eval(e, r))
}

// isSpeculable reports whether evaluating e when it is not needed is harmless and
// cheaper than a jump.
func isSpeculable(e ir.Expr) bool {
	const budget = 8
	nodes, fine := 0, true
	v := &ir.Visitor{
		Expr: func(e ir.Expr) bool {
			nodes++
			switch e := e.(type) {
			case *ir.Binary:
				fine = fine && !e.Check && e.Op != ir.Div && e.Op != ir.Rem
			case *ir.Load:
				_, variable := e.Place.(*ir.VarPlace)
				fine = fine && variable
			case *ir.SliceExpr:
				fine = false
			}
			return fine
		},
	}
	v.Value(e)
	return fine && nodes <= budget
}
