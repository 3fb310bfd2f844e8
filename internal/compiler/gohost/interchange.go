package gohost

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// rowLoop is a loop of a region that a whole row of threads runs in lockstep. It is
// generated around the loop over the row's threads and not inside it, so that the inner
// loop accesses adjacent elements.
type rowLoop struct {
	init *ir.Assign
	loop *ir.Loop
}

// interchange removes the loop from a region that consists of guards around one
// counting loop which is the same for the row, and leaves the loop's body as the
// region's statements. It returns nil and does not change the region if there is no
// such loop, or if threads keep values between iterations.
//
// Threads of a block that do not wait for each other may run in any order, so it makes
// no difference whether one thread runs all iterations before the next thread, or all
// threads run each iteration.
func (e *emitter) interchange(g *region) *rowLoop {
	guards, rest := e.splitGuards(g.stmts)
	n := len(rest)
	if n < 2 {
		return nil
	}
	init, ok := rest[n-2].(*ir.Assign)
	loop, isLoop := rest[n-1].(*ir.Loop)
	if !ok || !isLoop || len(loop.Pre) > 0 || loop.Cond == nil || len(loop.Post) != 1 || jumps(loop) {
		return nil
	}
	before := rest[:n-2]
	counter, ok := init.Dst.(*ir.VarPlace)
	if !ok {
		return nil
	}
	k := counter.Var
	step, ok := loop.Post[0].(*ir.Assign)
	if !ok || e.facts.assigned[k] != 2 || e.facts.addressed[k] || !slices.Contains(e.plan.private[g], k) || !uses(step).writes[k] {
		return nil
	}
	for _, s := range before {
		a, ok := s.(*ir.Assign)
		if !ok {
			return nil
		}
		if p, ok := a.Dst.(*ir.VarPlace); !ok || e.facts.local(p.Var) >= varying {
			return nil
		}
	}
	if !e.startsAnew(g, loop.Body, k) {
		return nil
	}

	e.facts.holdForRow(k, loop.Body)
	if e.facts.level(init.Src) > perRow || e.facts.level(loop.Cond) > perRow || e.facts.level(step.Src) > perRow {
		e.facts.release(k, loop.Body)
		return nil
	}
	body := loop.Body
	if len(guards) > 0 {
		body = []ir.Stmt{&ir.If{Cond: join(guards), Then: body, Pos: loop.Pos}}
	}
	g.stmts = append(slices.Clone(before), body...)
	e.plan.private[g] = slices.DeleteFunc(slices.Clone(e.plan.private[g]), func(v *ir.Local) bool { return v == k })
	return &rowLoop{init, loop}
}

// startsAnew reports whether no thread keeps a private value between iterations of the
// body.
func (e *emitter) startsAnew(g *region, body []ir.Stmt, k *ir.Local) bool {
	iteration := &region{stmts: body}
	for v := range uses(body...).all() {
		switch {
		case v == k:
			if uses(body...).writes[v] {
				return false
			}
		case !uses(body...).writes[v], !e.facts.read[v]:
		case e.plan.spread[v], !slices.Contains(e.plan.private[g], v) && e.facts.local(v) == varying,
			e.facts.addressed[v], !assignedFirst(iteration, v):
			return false
		}
	}
	return true
}

// jumps reports whether a loop is left or continued by a jump.
func jumps(loop *ir.Loop) bool {
	return hasStmt(loop.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Break:
			return s.Label == loop.Label
		case *ir.Continue:
			return s.Label == loop.Label
		case *ir.Return:
			return true
		}
		return false
	})
}

// holdForRow treats k as a value of the row, and recomputes the levels of what a body
// computes from it.
func (f *facts) holdForRow(k *ir.Local, body []ir.Stmt) {
	f.rows[k] = true
	f.forget(body)
}

func (f *facts) release(k *ir.Local, body []ir.Stmt) {
	delete(f.rows, k)
	f.forget(body)
}

func (f *facts) forget(body []ir.Stmt) {
	u := uses(body...)
	for v := range u.writes {
		delete(f.levels, v)
	}
	for v := range u.writes {
		f.local(v)
	}
}

// rowLoop prints the head of a loop around a row.
func (e *emitter) rowLoop(l *rowLoop) {
	section := e.newSection()
	head := ""
	row := e.sections[perRow]
	e.sections[perRow] = section
	e.at(perRow, func() {
		k := l.init.Dst.(*ir.VarPlace).Var
		init := e.definition(k, e.names.name(k, k.Name), l.init.Src)
		head = forClause(init, e.value(l.loop.Cond, ir.TBool, precOr), e.assignment(l.loop.Post[0].(*ir.Assign)))
	})
	e.sections[perRow] = row
	e.out.splice(section.text)
	e.out.add("%s", head)
	e.out.depth++
	e.pollCancel(l.loop)
}

// restore undoes interchange, so that the kernel can be generated again.
func (e *emitter) restore(g *region, stmts []ir.Stmt, l *rowLoop) {
	k := l.init.Dst.(*ir.VarPlace).Var
	g.stmts = stmts
	e.plan.private[g] = append(e.plan.private[g], k)
	e.facts.release(k, l.loop.Body)
}
