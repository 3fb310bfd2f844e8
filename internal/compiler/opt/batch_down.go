package opt

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// Loops that count down run in batches too, without reading ahead of what they write:
//
//	for ; i > n; i -= s { body(i) }
//
// becomes
//
//	for ; i > n+3*s; i -= 4*s { body(i); body(i-s); body(i-2*s); body(i-3*s) }
//	for ; i > n; i -= s { body(i) }
//
// If a loop ends at 0, the batches may come last instead. They need no other bound then, and
// the low bits of the counter are the same in all of them:
//
//	for ; i > 0 && i%4 != 0; i-- { body(i) }
//	for ; i > 0; i -= 4 { body(i); body(i-1); body(i-2); body(i-3) }

// down reports whether the loop counts down.
func (c *counting) down() bool { return c.fixed != nil && (c.cond.Op == ir.Gt || c.cond.Op == ir.Ge) }

// distance returns the difference between the counters of two iterations of a loop whose step is
// constant. It is negative if the loop counts away from its bound.
func (c *counting) distance() int64 {
	if c.down() {
		return -c.fixed.Int64()
	}
	return c.fixed.Int64()
}

// stepOf returns what an expression adds to v, nil if it does not.
func stepOf(e ir.Expr, v *ir.Local) ir.Expr {
	sum, ok := e.(*ir.Binary)
	if !ok || sum.Op != ir.Add && sum.Op != ir.Sub {
		return nil
	}
	if w, ok := ir.Variable(sum.X); !ok || w != v {
		return nil
	}
	if sum.Op == ir.Add {
		return sum.Y
	}
	if k := asConst(sum.Y); k != nil {
		return ir.IntConst(v.Type, -k.Int64())
	}
	return nil
}

// batchesDown is batches for a loop that counts down.
func (b *batcher) batchesDown(s *ir.Loop, c *counting, private []*ir.Local) []ir.Stmt {
	if c.from != nil {
		return nil
	}
	breaks := leaves(s.Body, breaksOut(s.Label))
	main := &ir.Loop{Label: &ir.Label{Name: s.Label.Name + ".batch"}, Cond: c.cond, Pos: s.Pos}
	end := asConst(c.cond.Y)
	toZero := c.fixed.Int64() == -1 && c.cond.Op == ir.Gt && end != nil && end.Int64() == 0
	var before, after []ir.Stmt
	switch {
	case c.isMultiple():
	case toZero:
		c.size = min(c.size, sizeOfRest)
		c.phase = end
		low := &ir.Binary{Op: ir.And, X: ir.Get(c.v), Y: ir.IntConst(c.v.Type, int64(c.size-1)), Pos: c.cond.Pos}
		odd := &ir.Binary{Op: ir.Ne, X: low, Y: ir.IntConst(c.v.Type, 0), Pos: c.cond.Pos}
		main.Cond = ir.CloneExpr(c.cond)
		s.Cond = &ir.Binary{Op: ir.LAnd, X: c.cond, Y: odd, Pos: c.cond.Pos}
		before = []ir.Stmt{s}
	default:
		var limit *ir.Local
		before, limit = b.limitDown(c, s.Pos)
		main.Cond = &ir.Binary{Op: ir.Gt, X: ir.Get(c.v), Y: ir.Get(limit), Pos: c.cond.Pos}
		after = []ir.Stmt{s}
	}
	b.repeat(main, s, c, private, nil)
	if len(after) > 0 && c.size > sizeOfRest && !breaks {
		smaller := *c
		smaller.size = sizeOfRest
		after = b.batches(s, &smaller)
	}
	if breaks {
		// A break leaves both loops, so its label moves to a block around them.
		whole := s.Label
		s.Label = &ir.Label{Name: whole.Name}
		s.Body = continueFrom(s.Body, whole, s.Label)
		return dissolve(&ir.Block{Label: whole, Body: append(append(before, main), after...)})
	}
	return append(append(before, main), after...)
}

// limitDown assigns to a variable the bound above which a whole batch remains. It is the loop's
// bound plus the steps within a batch, or the largest integer if that would overflow.
func (b *batcher) limitDown(c *counting, pos ir.Pos) ([]ir.Stmt, *ir.Local) {
	t := c.v.Type
	limit := &ir.Local{Name: c.v.Name + "Limit", Type: t, Hidden: true}
	b.f.Locals = append(b.f.Locals, limit)
	steps := int64(c.size-1) * c.distance()
	if c.cond.Op == ir.Ge {
		steps-- // v >= the largest integer may hold; v > it cannot
	}
	most := int64(math.MaxInt64)
	if t.Kind == ir.Int32 {
		most = math.MaxInt32
	}
	bound := ir.CloneExpr(c.cond.Y)
	if k := asConst(bound); k == nil || k.Int64() > 0 {
		bound = &ir.Intrinsic{Op: ir.Min, T: t, Args: []ir.Expr{bound, ir.IntConst(t, most-steps)}}
	}
	src := &ir.Binary{Op: ir.Add, X: bound, Y: ir.IntConst(t, steps)}
	return []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: limit}, Src: simplifyExpr(src), Pos: pos}}, limit
}
