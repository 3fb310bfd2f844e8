package opt

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// partial gives loops with a hint that number of copies of their body:
//
//	for i < n-k { body; i += s; body; i += s; ... }   // k is what the copies but the last add
//	for i < n { body; i += s }                        // what remains
//
// Loops that do not count by a constant to an invariant bound are left unchanged.
func (u *unroller) partial(body []ir.Stmt) {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		loop, ok := s.(*ir.Loop)
		if !ok || loop.Unroll <= ir.NoUnroll {
			return []ir.Stmt{s}
		}
		return u.split(loop)
	}}
	u.f.Body = r.Body(body)
}

// split returns the two loops that replace a loop with a number of copies.
func (u *unroller) split(s *ir.Loop) []ir.Stmt {
	copies := int64(s.Unroll)
	fits, cond := u.ahead(s, copies-1)
	if cond == nil || size(s.Body)*int(copies) > hintBudget {
		return []ir.Stmt{s}
	}
	here := u.regions[s]
	breaks := leaves(s.Body, breaksOut(s.Label))
	outside := outerLabels(s.Body)
	private := u.private(s.Body, here)

	whole := &ir.Label{Name: s.Label.Name}
	main := &ir.Loop{Label: &ir.Label{Name: s.Label.Name}, Cond: cond, Pos: s.Pos, Unroll: ir.NoUnroll}
	for i := range copies {
		body := u.copyBody(s.Body, outside, private, here)
		body = continueBehind(body, s.Label)
		if breaks {
			body = breakTo(body, s.Label, whole)
		}
		main.Body = append(main.Body, body...)
		step := (&ir.Cloner{}).Body(s.Post)
		if i == copies-1 {
			main.Post = step
			break
		}
		main.Body = append(main.Body, step...)
	}
	s.Unroll = ir.NoUnroll
	both := []ir.Stmt{main, s}
	if fits != nil {
		both[0] = &ir.If{Cond: fits, Then: []ir.Stmt{main}, Pos: s.Pos}
	}
	if !breaks {
		return both
	}
	return []ir.Stmt{&ir.Block{Label: whole, Body: both}}
}

// ahead returns the condition that the loop runs for the given number of iterations
// after the next one, and the condition that this test is exact, nil if it always is.
// Both are nil if this cannot be known in advance.
func (u *unroller) ahead(s *ir.Loop, iterations int64) (fits, goesOn ir.Expr) {
	step := u.step(s)
	if step == nil {
		return nil, nil
	}
	v, _ := ir.Variable(&ir.Load{Place: step.Dst})
	cond, ok := s.Cond.(*ir.Binary)
	if !ok || !v.Type.IsInteger() {
		return nil, nil
	}
	op, bound := cond.Op, cond.Y
	if w, ok := ir.Variable(cond.X); !ok || w != v {
		if w, ok := ir.Variable(cond.Y); !ok || w != v {
			return nil, nil
		}
		op, bound = mirrored[op], cond.X
	}
	by, ok := increment(step.Src, v)
	upwards := op == ir.Lt || op == ir.Le
	if !ok || by == 0 || by == math.MinInt64 || upwards != (by > 0) || !upwards && op != ir.Gt && op != ir.Ge || !u.invariant(bound, s, v) {
		return nil, nil
	}
	// The bound minus what the copies add, if that does not wrap.
	least, greatest := limitsOf(v.Type)
	if by < 0 {
		by = -by
	}
	if by > greatest/iterations/2 {
		return nil, nil
	}
	total := by * iterations
	shifted, within, edge := ir.Sub, ir.Ge, least+total
	if !upwards {
		shifted, within, edge = ir.Add, ir.Le, greatest-total
	}
	t := v.Type
	near := &ir.Binary{Op: shifted, X: ir.CloneExpr(bound), Y: ir.IntConst(t, total)}
	goesOn = &ir.Binary{Op: op, X: ir.Get(v), Y: near, Pos: cond.Pos}
	if _, length := bound.(*ir.Len); !length || !upwards {
		fits = &ir.Binary{Op: within, X: ir.CloneExpr(bound), Y: ir.IntConst(t, edge)}
	}
	return fits, goesOn
}

// increment returns the constant that an expression adds to v.
func increment(e ir.Expr, v *ir.Local) (by int64, ok bool) {
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != ir.Add && b.Op != ir.Sub {
		return 0, false
	}
	x, y := b.X, b.Y
	if b.Op == ir.Add && asConst(x) != nil {
		x, y = y, x
	}
	c := asConst(y)
	if w, ok := ir.Variable(x); !ok || w != v || c == nil {
		return 0, false
	}
	by = c.Int64()
	if b.Op == ir.Sub {
		by = -by
	}
	return by, true
}

// limitsOf returns the smallest and the largest value of an integer type; for unsigned
// 64-bit types, the largest int64.
func limitsOf(t *ir.Type) (least, greatest int64) {
	bits := 8 * t.Size()
	switch {
	case t.IsSigned():
		return -1 << (bits - 1), 1<<(bits-1) - 1
	case bits == 64:
		return 0, math.MaxInt64
	}
	return 0, 1<<bits - 1
}

// invariant reports whether an expression has the same value in all iterations of a
// loop that counts with v.
func (u *unroller) invariant(e ir.Expr, s *ir.Loop, v *ir.Local) bool {
	same := true
	visit := &ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Const, *ir.Unary, *ir.Convert, *ir.ThreadValue, *ir.Len:
			case *ir.Binary:
				same = same && !e.Check
			case *ir.Load:
				w, ok := ir.Variable(e)
				same = same && ok && w != v && u.uses[w] != nil && !u.uses[w].addressed && !assigns(s.Body, w)
			default:
				same = false
			}
			return same
		},
	}
	visit.Value(e)
	return same
}

// size counts the nodes of a list.
func size(list []ir.Stmt) int {
	n := 0
	v := ir.Visitor{
		Stmt:  func(ir.Stmt) bool { n++; return true },
		Expr:  func(ir.Expr) bool { n++; return true },
		Place: func(ir.Place) bool { n++; return true },
	}
	v.Body(list)
	return n
}

// breakTo replaces the breaks out of one label by breaks out of another.
func breakTo(body []ir.Stmt, from, to *ir.Label) []ir.Stmt {
	breaks := breaksOut(from)
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if breaks(s) {
			return []ir.Stmt{&ir.Break{Label: to}}
		}
		return []ir.Stmt{s}
	}}
	return r.Body(body)
}
