package lint

import (
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// heavy is the minimum cost, in nodes, of a divergent branch that is reported.
const heavy = 80

// divergence reports expensive branches in which neighbouring threads diverge.
func (c *checker) divergence(w *walker) {
	for _, b := range w.branches {
		then, other := cost(b.s.Then), cost(b.s.Else)
		const hint = "let whole warps take the same branch, or compute both sides if they are short and select"
		switch {
		case b.known && scattered(b.taken) && max(then, other) >= heavy:
			c.report(b.s.Pos, "divergence", "let the threads that have work be neighbours: "+hint,
				"every other thread or so does the work of the branch, while its neighbours wait")
		case !b.known && min(then, other) >= heavy && !isDirection(b.cond) && bits.OnesCount32(b.taken) >= fewLanes && !w.boundary(b.cond) && !w.same(b.cond):
			c.report(b.s.Pos, "divergence", hint,
				"threads of a warp that diverge here wait for each other, and both branches are long")
		}
	}
}

// isDirection reports whether a condition is the compiler's choice of direction for an
// overlapping copy: it is the same for nearly all threads.
func isDirection(e ir.Expr) bool {
	b, ok := e.(*ir.Binary)
	return ok && b.Op == ir.Gt && b.X.Type().Kind == ir.Pointer
}

// scattered reports whether taken lanes alternate with other lanes.
func scattered(taken uint32) bool {
	return bits.OnesCount32(taken^bits.RotateLeft32(taken, 1)) > 4
}

// boundary reports whether a condition compares a value that grows with the lane with a
// uniform one, so that few warps diverge.
func (w *walker) boundary(e ir.Expr) bool {
	b, ok := e.(*ir.Binary)
	if !ok {
		u, ok := e.(*ir.Unary)
		return ok && u.Op == ir.LNot && w.boundary(u.X)
	}
	if b.Op.IsLogical() {
		return (w.boundary(b.X) || w.same(b.X)) && (w.boundary(b.Y) || w.same(b.Y))
	}
	if b.Op < ir.Lt || b.Op > ir.Ge || !b.X.Type().IsInteger() {
		return false
	}
	record := w.record
	w.record = false
	defer func() { w.record = record }()
	return !w.value(b.X).data && !w.value(b.Y).data
}

// iterations is the assumed number of iterations of a loop.
const iterations = 8

// cost estimates the work of statements, at about two units per instruction.
func cost(list []ir.Stmt) int {
	n := 0
	for _, s := range list {
		if l, ok := s.(*ir.Loop); ok {
			n += iterations * (cost(l.Pre) + cost(l.Body) + cost(l.Post))
			continue
		}
		v := ir.Visitor{
			Expr: func(ir.Expr) bool { n++; return true },
			Stmt: func(t ir.Stmt) bool {
				if l, ok := t.(*ir.Loop); ok {
					n += cost([]ir.Stmt{l})
					return false
				}
				n++
				return true
			},
		}
		v.Body([]ir.Stmt{s})
	}
	return n
}
