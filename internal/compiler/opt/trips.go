package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ranges"
)

// trips removes loops that run at most a few times in every launch:
//
//	for ; i < 16; i += 32 { body(i) }       if i < 16 { body(i) }      // 0 <= i
//
//	for ; i < 64; i += 32 { body(i) }       if i < 64 {                // 0 <= i
//	                                            body(i)
//	                                            if i+32 < 64 { body(i+32) }
//	                                        }
//
// Loops over an array with the stride of a block are an example. A loop that runs more
// than once is removed only if it is at most one batch and has no hint for the number
// of copies. Conditions that always hold are left to ranges.
func trips(k *ir.Kernel) error {
	u := newUnroller(k.Func)
	if !leaves(k.Func.Body, func(s ir.Stmt) bool { l, ok := s.(*ir.Loop); return ok && u.pureStep(l) != nil }) {
		return nil
	}
	ranges.FreezeParams(k.Func)
	u = newUnroller(k.Func)
	c := &tripCounter{unroller: u, found: ranges.CountTrips(k, mostTrips, u.pureStep), read: map[*ir.Loop]bool{}}
	c.findRead(k.Func.Body)
	e := expander{c}
	r := ir.Rewriter{Stmt: e.stmt}
	k.Func.Body = r.Body(k.Func.Body)
	if !e.done {
		return nil
	}
	return fold(k)
}

// mostTrips is the maximum size of a batch.
const mostTrips = 16

// tripCounter computes how often loops run, and which of their variables are read
// outside them.
type tripCounter struct {
	*unroller
	found map[*ir.Loop]ranges.Trips
	read  map[*ir.Loop]bool // the loop variable is read outside the loop
}

// findRead finds the loops whose variables are read outside them.
func (c *tripCounter) findRead(body []ir.Stmt) {
	leaves(body, func(st ir.Stmt) bool {
		s, ok := st.(*ir.Loop)
		if _, found := c.found[s]; !ok || !found {
			return false
		}
		counter, reads := s.Post[0].(*ir.Assign).Dst.(*ir.VarPlace).Var, -1 // do not count the destination of the step
		v := ir.Visitor{Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok && p.Var == counter {
				reads++
			}
			return true
		}}
		v.Body([]ir.Stmt{s})
		c.read[s] = c.uses[counter].reads > reads
		return false
	})
}

// pureStep returns the step of a loop if it is the only change of the variable and
// neither it nor the condition can stop the thread, so that both may be omitted after
// the last iteration; otherwise nil.
func (u *unroller) pureStep(s *ir.Loop) *ir.Assign {
	step := u.step(s)
	if step == nil || ir.MayFault(s.Cond) || ir.MayFault(step.Src) {
		return nil
	}
	return step
}

// expander replaces loops by copies of their bodies.
type expander struct{ *tripCounter }

func (e *expander) stmt(st ir.Stmt) []ir.Stmt {
	s, ok := st.(*ir.Loop)
	if !ok {
		return []ir.Stmt{st}
	}
	t, ok := e.found[s]
	several := t.By != 0 && s.Unroll == ir.UnrollAsWorthwhile && !leaves(s.Body, isLoop) && t.Most <= sizeOfBatch(s, 4, true)
	if !ok || t.Most > 1 && !several {
		return []ir.Stmt{st}
	}
	e.done = true
	return e.expand(s, t)
}

// expand returns the statements of a loop that runs at most t.Most times. In the
// copies, the variable is its initial value plus a constant; the variable itself is
// assigned only if it is read later.
func (e *expander) expand(s *ir.Loop, t ranges.Trips) []ir.Stmt {
	step := s.Post[0].(*ir.Assign)
	v := step.Dst.(*ir.VarPlace).Var
	home := e.regions[s].parent
	start := *v
	e.f.Locals = append(e.f.Locals, &start)
	e.homes[&start], e.uses[&start] = home, e.uses[v]
	set := func(v *ir.Local, value ir.Expr) ir.Stmt {
		return &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: value, Pos: s.Pos}
	}
	outside, private := outerLabels(s.Body), e.private(s.Body, e.regions[s])
	var list []ir.Stmt
	for trip := max(t.Most, 1) - 1; trip >= 0; trip-- {
		r := ir.Rewriter{Expr: func(x ir.Expr) ir.Expr {
			if w, ok := ir.Variable(x); ok && w == v {
				return simplifyExpr(&ir.Binary{Op: ir.Add, X: ir.Get(&start), Y: wrapped(v.Type, uint64(int64(trip)*t.By))})
			}
			return simplifyExpr(x)
		}}
		run := &ir.If{Cond: r.Value(ir.CloneExpr(s.Cond)), Pos: s.Pos}
		run.Then = continueBehind(r.Body(e.copyBody(s.Body, outside, private, home)), s.Label)
		if e.read[s] {
			run.Then = append(run.Then, set(v, r.Value(ir.CloneExpr(step.Src))))
		}
		run.Then = append(run.Then, list...)
		list = []ir.Stmt{run}
	}
	list = slices.Insert(list, 0, set(&start, ir.Get(v)))
	return dissolve(&ir.Block{Label: s.Label, Body: list})
}
