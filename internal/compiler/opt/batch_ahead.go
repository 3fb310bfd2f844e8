package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// A batch whose iterations only read memory makes its checks before it uses what it has
// read. Of the loop
//
//	for ; i < n; i++ { sum += x[at[i]] }
//
// a batch of two becomes
//
//	if i >= len(at) || i+1 >= len(at) { break }     // on to the loop over the rest
//	j0, j1 := at[i], at[i+1]
//	if j0 >= len(x) || j1 >= len(x) { break }
//	sum += x[j0]
//	sum += x[j1]
//
// The loop over the rest begins at the batch that was left, makes every check where the
// programmer wrote it, and reports the one that fails. A check between two loads would keep
// the second from starting before the first has arrived, and each one is a branch.

// aheadPlan divides an iteration into stages. All iterations of a batch do a stage, then the
// checks that depend on it, then the next stage.
type aheadPlan struct {
	stages [][]ir.Stmt
	checks [][]aheadCheck // after each stage; none after the last one
	rest   []ir.Stmt      // what depends on other iterations: they do it one after the other
	temps  []*ir.Local    // of an iteration
}

// aheadCheck is a check of an iteration.
type aheadCheck struct {
	guard
	same  bool // for all iterations
	grows bool // the index increases from one iteration to the next
}

// planAhead returns how the iterations of a batch go ahead of each other, nil if they
// cannot, or have no checks.
func (b *batcher) planAhead(s *ir.Loop, c *counting, private []*ir.Local) *aheadPlan {
	if !b.onlyReads(s.Body) {
		return nil
	}
	before := len(b.f.Locals)
	f := &flattener{coarsener: &coarsener{kernel: b.kernel, narrow: len(b.kernel.Limits) > 0}}
	f.list((&ir.Cloner{}).Body(s.Body))
	p := &aheadPlan{temps: slices.Clone(b.f.Locals[before:])}
	if f.refused || f.effect || !p.divide(f.items, append(slices.Clone(private), p.temps...)) {
		b.f.Locals = b.f.Locals[:before]
		return nil
	}
	for _, v := range p.temps {
		b.uses[v] = &usage{}
	}
	grows := map[*ir.Local]bool{c.v: true}
	for _, stage := range p.stages {
		for _, s := range stage {
			if a, ok := s.(*ir.Assign); ok && b.grows(s.(*ir.Assign).Src, grows) {
				grows[a.Dst.(*ir.VarPlace).Var] = true
			}
		}
	}
	for _, checks := range p.checks {
		for i := range checks {
			outside, ok := checks[i].cond.(*ir.Binary)
			checks[i].same = p.invariant(b, s, checks[i].cond)
			checks[i].grows = ok && b.grows(outside.X, grows) && p.invariant(b, s, outside.Y)
		}
	}
	return p
}

// invariant reports whether an expression of the plan has the same value in all iterations.
func (p *aheadPlan) invariant(b *batcher, s *ir.Loop, e ir.Expr) bool {
	ok := true
	v := ir.Visitor{Place: func(place ir.Place) bool {
		if place, isVar := place.(*ir.VarPlace); isVar {
			ok = ok && !slices.Contains(p.temps, place.Var)
		}
		return ok
	}}
	v.Value(e)
	return ok && b.constantIn(s, e)
}

// onlyReads reports whether a body consists of assignments to variables of plain numbers,
// and reads nothing whose value depends on when, or by how many threads, it is read.
func (b *batcher) onlyReads(body []ir.Stmt) bool {
	ok := true
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				dst, isVar := s.Dst.(*ir.VarPlace)
				ok = ok && isVar && dst.Var.Type.IsScalar() && b.uses[dst.Var] != nil && !b.uses[dst.Var].addressed
			case *ir.If, *ir.Block:
			default:
				ok = false
			}
			return ok
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				ok = ok && !e.Check
			case *ir.SliceExpr, *ir.Addr:
				ok = false
			case *ir.ThreadValue:
				ok = ok && e.Op <= ir.WarpID
			}
			return ok
		},
	}
	v.Body(body)
	return ok
}

// divide makes the plan from the items of an iteration; false if there is no check, or if
// one depends on what another iteration computes.
func (p *aheadPlan) divide(items []item, private []*ir.Local) bool {
	// A variable that outlives the iteration, or has several values in it, is computed by
	// one iteration after the other.
	writes := map[*ir.Local]int{}
	for _, it := range items {
		if it.stmt != nil {
			assigned(it.stmt, func(v *ir.Local) { writes[v]++ })
		}
	}
	at := map[*ir.Local]int{} // the stage that computes a variable
	held := map[*ir.Local]bool{}
	for v, n := range writes {
		held[v] = n > 1 || !slices.Contains(private, v)
	}
	checked := -1 // the last stage that a check so far depends on
	for _, it := range items {
		if it.stmt == nil {
			stage, free := stageOf(it.bail.cond, at, held)
			if !free {
				return false
			}
			p.reach(stage + 1)
			p.checks[stage] = append(p.checks[stage], aheadCheck{guard: it.bail})
			checked = max(checked, stage)
			continue
		}
		a, ok := it.stmt.(*ir.Assign)
		stage, free := 0, false
		if ok {
			stage, free = stageOf(a.Src, at, held)
		}
		if !free || held[a.Dst.(*ir.VarPlace).Var] {
			assigned(it.stmt, func(v *ir.Local) { held[v] = true })
			p.rest = append(p.rest, it.stmt)
			continue
		}
		if readsMemory([]ir.Expr{a.Src}) {
			stage = max(stage, checked+1)
		}
		p.reach(stage)
		p.stages[stage] = append(p.stages[stage], a)
		at[a.Dst.(*ir.VarPlace).Var] = stage
	}
	return checked >= 0
}

// reach makes the stages up to one.
func (p *aheadPlan) reach(stage int) {
	for len(p.stages) <= stage {
		p.stages, p.checks = append(p.stages, nil), append(p.checks, nil)
	}
}

// stageOf returns the stage after which an expression can be computed; free is false if it
// reads a variable that is held.
func stageOf(e ir.Expr, at map[*ir.Local]int, held map[*ir.Local]bool) (stage int, free bool) {
	free = true
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			stage = max(stage, at[p.Var])
			free = free && !held[p.Var]
		}
		return true
	}}
	v.Value(e)
	return stage, free
}

// assigned calls f for the variable of each assignment in a statement that onlyReads
// accepts.
func assigned(s ir.Stmt, f func(*ir.Local)) {
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			f(ir.Root(a.Dst).(*ir.VarPlace).Var)
		}
		return true
	}}
	v.Body([]ir.Stmt{s})
}

// grows reports whether an expression is a variable that increases from one iteration to
// the next, plus or minus a constant.
func (b *batcher) grows(e ir.Expr, list map[*ir.Local]bool) bool {
	switch e := e.(type) {
	case *ir.Load:
		v, ok := ir.Variable(e)
		return ok && list[v]
	case *ir.Convert:
		return e.T.IsInteger() && e.X.Type().IsInteger() && e.T.Size() >= e.X.Type().Size() && b.grows(e.X, list)
	case *ir.Binary:
		return (e.Op == ir.Add || e.Op == ir.Sub) && asConst(e.Y) != nil && b.grows(e.X, list)
	}
	return false
}

// iteration copies a part of an iteration.
type iteration func([]ir.Stmt) []ir.Stmt

// body writes the batch. Where a check fails it leaves the loop with a label.
func (p *aheadPlan) body(copies []iteration, loop *ir.Label, pos ir.Pos) []ir.Stmt {
	var out []ir.Stmt
	for i, stage := range p.stages {
		for _, copied := range copies {
			out = append(out, copied(stage)...)
		}
		var fails ir.Expr
		for _, check := range p.checks[i] {
			for j, copied := range copies {
				if j != 0 && (check.same || check.grows && j != len(copies)-1) {
					continue // of two indices in range, all between are
				}
				s := copied([]ir.Stmt{&ir.If{Cond: check.cond, Pos: check.pos}})
				fails = either(fails, s[0].(*ir.If).Cond)
			}
		}
		if fails != nil {
			out = append(out, &ir.If{Cond: fails, Then: []ir.Stmt{&ir.Break{Label: loop}}, Pos: pos})
		}
	}
	for _, copied := range copies {
		out = append(out, copied(p.rest)...)
	}
	return out
}
