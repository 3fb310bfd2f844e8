package ptx

import "quern.dev/internal/compiler/ir"

// In the copies that ptxas (13.0, 13.5) makes of a loop such as
//
//	for v > -x { v-- }
//
// it compares v-x with the number of copies, instead of v+x, so that the loop ends too early or
// too late. Negations that a loop compares with are therefore written as a complement plus one,
// which ptxas does not take for negations.

// findNegations finds the negations whose values are compared in loops, also by way of variables.
func (g *generator) findNegations(body []ir.Stmt) {
	g.negations = map[ir.Expr]ir.Expr{}
	assigned := map[*ir.Local][]ir.Expr{}
	var find func(e ir.Expr)
	find = func(e ir.Expr) {
		if x := negated(e); x != nil {
			g.negations[e] = x
			return
		}
		switch e := e.(type) {
		case *ir.Convert:
			if e.X.Type().IsInteger() && e.T.Size() <= e.X.Type().Size() {
				find(e.X)
			}
		case *ir.Load:
			if v, ok := ir.Variable(e); ok {
				sources := assigned[v]
				delete(assigned, v) // each is visited once
				for _, source := range sources {
					find(source)
				}
			}
		}
	}
	compared := ir.Visitor{Expr: func(e ir.Expr) bool {
		if b, ok := e.(*ir.Binary); ok && b.Op.IsComparison() && b.X.Type().IsInteger() {
			find(b.X)
			find(b.Y)
		}
		return true
	}}
	assignments := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if p, ok := a.Dst.(*ir.VarPlace); ok {
				assigned[p.Var] = append(assigned[p.Var], a.Src)
			}
		}
		return true
	}}
	assignments.Body(body)
	loops := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if _, ok := s.(*ir.Loop); ok {
			compared.Body([]ir.Stmt{s})
			return false
		}
		return true
	}}
	loops.Body(body)
}

// negated returns what an expression of at least 32 bits negates, nil if it is no negation of an
// integer.
func negated(e ir.Expr) ir.Expr {
	if t := e.Type(); !t.IsInteger() || t.Size() < 4 {
		return nil
	}
	switch e := e.(type) {
	case *ir.Unary:
		if e.Op == ir.Neg {
			return e.X
		}
	case *ir.Binary:
		x, _ := e.X.(*ir.Const)
		y, _ := e.Y.(*ir.Const)
		switch {
		case e.Op == ir.Sub && x != nil && x.Bits == 0:
			return e.Y
		case e.Op == ir.Mul && x != nil && x.Int64() == -1:
			return e.Y
		case (e.Op == ir.Mul || e.Op == ir.Div) && y != nil && y.Int64() == -1:
			return e.X
		}
	}
	return nil
}

// complement emits the negation of an integer of at least 32 bits.
func (g *generator) complement(x ir.Expr, dst operand) operand {
	k := x.Type().Kind
	y := g.inRegister(g.value(x))
	dst = g.into(dst, classOf(x.Type()))
	g.emit("not."+bitType(k), dst, y)
	g.emit("add."+signedType(k), dst, dst, intOperand(dst.class, 1))
	return dst
}
