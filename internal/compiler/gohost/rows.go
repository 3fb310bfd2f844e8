package gohost

import (
	"fmt"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// rows is the work of a region in which each row of threads runs all items before the
// next row starts. The items are regions and rowLoops.
type rows struct{ items []item }

// rowLoop is a counting loop that a whole row of threads runs in lockstep. It is
// generated around the loops over the row's threads and not inside them, so that these
// access adjacent elements.
type rowLoop struct {
	init  *ir.Assign
	loop  *ir.Loop
	items []item
}

func (*rows) item()    {}
func (*rowLoop) item() {}

// rowSplitter divides regions at the loops that a row runs in lockstep.
//
// Threads of a block that do not wait for each other may run in any order, so it makes
// no difference whether one thread runs all iterations before the next thread, or all
// threads run each iteration.
type rowSplitter struct {
	facts  *facts
	kernel *ir.Kernel
	guards []ir.Expr
	found  bool
	inner  map[*ir.Loop]bool // loops in lockstep without others inside
}

// splitRows divides the regions of a list.
func (p *plan) splitRows(k *ir.Kernel, f *facts, list []item) []item {
	f.once = p.block
	defer func() { f.once, f.costs = nil, map[*ir.Local]int{} }()
	for i, it := range list {
		switch it := it.(type) {
		case *control:
			for j := range it.lists {
				it.lists[j] = p.splitRows(k, f, it.lists[j])
			}
		case *region:
			guards, rest := f.splitGuards(it.stmts, true)
			s := &rowSplitter{facts: f, kernel: k, guards: guards, inner: p.inner}
			if items := s.split(rest); s.found {
				list[i] = &rows{items}
			}
		}
	}
	return list
}

// split divides a list at its loops in lockstep.
func (s *rowSplitter) split(list []ir.Stmt) []item {
	var items []item
	var open []ir.Stmt
	end := func() {
		if len(open) == 0 {
			return
		}
		if len(s.guards) > 0 {
			open = []ir.Stmt{&ir.If{Cond: join(s.guards), Then: open}}
		}
		items, open = append(items, &region{stmts: open}), nil
	}
	for i, t := range list {
		if loop, ok := t.(*ir.Loop); ok && len(open) > 0 && s.allReachTheEnd(list[:i]) {
			if init, ok := open[len(open)-1].(*ir.Assign); ok {
				if body := s.hold(init, loop); body != nil {
					open = open[:len(open)-1]
					end()
					items = append(items, &rowLoop{init, loop, body})
					s.found = true
					continue
				}
			}
		}
		if len(list) > 1 && s.ranged(open, t) && s.allReachTheEnd(list[:i+1]) {
			end()
			open, s.found = []ir.Stmt{t}, true
			end()
			continue
		}
		open = append(open, t)
	}
	end()
	return items
}

// ranged reports whether a range of the row can run t without checks, and the statements
// before it compute nothing that t needs.
func (s *rowSplitter) ranged(open []ir.Stmt, t ir.Stmt) bool {
	f := s.facts
	c, ok := t.(*ir.If)
	if !ok || len(c.Else) > 0 || !s.gains(c.Then) || slices.ContainsFunc(f.conjunction(c.Cond, false), func(x ir.Expr) bool { return !f.isGuard(x) }) {
		return false
	}
	u := uses(t)
	for w := range uses(open...).writes {
		if f.local(w) == varying && u.mentions(w) {
			return false
		}
	}
	return true
}

// allReachTheEnd reports whether every thread reaches the end of a list.
func (s *rowSplitter) allReachTheEnd(list []ir.Stmt) bool {
	return !slices.ContainsFunc(list, func(t ir.Stmt) bool { return isJump(t) || len(jumpsOut(t)) > 0 })
}

// hold makes the counter of a loop a value of the row and divides the loop's body, if
// the row can run the loop in lockstep and gains from it.
func (s *rowSplitter) hold(init *ir.Assign, loop *ir.Loop) []item {
	f := s.facts
	k, step := s.counter(init, loop)
	if k == nil {
		return nil
	}
	if !s.keepsFew(loop, k) {
		return nil
	}
	s.keep(loop, func() { f.rows[k] = true })
	if f.level(init.Src) <= perRow && f.level(loop.Cond) <= perRow && f.level(step.Src) <= perRow {
		inner := &rowSplitter{facts: f, kernel: s.kernel, guards: s.guards, inner: s.inner}
		if items := inner.split(loop.Body); inner.found || s.gains(loop.Body) {
			if !inner.found && nodes(loop.Body) <= maxJammed {
				s.inner[loop] = true
			}
			return items
		}
	}
	s.keep(loop, func() { delete(f.rows, k) })
	return nil
}

// counter returns the counter of a loop and the assignment that changes it, if the
// counter controls the loop alone: nothing else uses it, changes it or leaves the loop.
func (s *rowSplitter) counter(init *ir.Assign, loop *ir.Loop) (*ir.Local, *ir.Assign) {
	f := s.facts
	counter, ok := init.Dst.(*ir.VarPlace)
	if !ok || len(loop.Pre) > 0 || loop.Cond == nil || len(loop.Post) != 1 || jumps(loop) || len(jumpsOut(loop)) > 0 {
		return nil, nil
	}
	k := counter.Var
	step, ok := loop.Post[0].(*ir.Assign)
	if !ok || f.assigned[k] != 2 || f.addressed[k] || f.changed[k] || f.params[k] || !uses(step).writes[k] || uses(loop.Body...).writes[k] || s.mentionedOutside(k, init, loop) {
		return nil, nil
	}
	return k, step
}

// mentionedOutside reports whether the kernel uses the counter outside its loop.
func (s *rowSplitter) mentionedOutside(k *ir.Local, init *ir.Assign, loop *ir.Loop) bool {
	found := false
	v := ir.Visitor{
		Stmt: func(t ir.Stmt) bool {
			if t == ir.Stmt(init) || t == ir.Stmt(loop) {
				return false
			}
			if a, ok := t.(*ir.Assign); ok {
				if p, ok := ir.Root(a.Dst).(*ir.VarPlace); ok && p.Var == k {
					found = true
				}
			}
			for d := range ir.Defined(t) {
				found = found || d == k
			}
			return !found
		},
		Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok && p.Var == k {
				found = true
			}
			return !found
		},
	}
	v.Body(s.kernel.Func.Body)
	return found
}

// maxKept is the maximum number of a thread's variables that are loaded and stored in
// each iteration because they live across the loops over the row.
const maxKept = 4

// Loops in lockstep run jamCopies iterations as one if their body has at most maxJammed
// nodes: variables that live across iterations are then loaded and stored less often.
const (
	jamCopies = 4
	maxJammed = 60
)

// keepsFew reports whether a loop changes few variables that live longer than an
// iteration, and none that is large or has an address.
func (s *rowSplitter) keepsFew(loop *ir.Loop, k *ir.Local) bool {
	u := uses(loop.Body...)
	kept := 0
	for v := range u.all() {
		f := s.facts
		switch {
		case v == k || f.params[v] || f.shared[v] != nil || f.once[v]:
			continue
		case f.local(v) == perThread:
			if !f.isCheap(v) { // would be computed in each iteration
				return false
			}
			continue
		case f.local(v) < perThread || !f.read[v]:
			continue
		}
		if u.writes[v] && startsHere(loop.Body, v) && !f.addressed[v] && !s.mentionedOutside(v, nil, loop) {
			continue // lives in one iteration
		}
		if kept++; kept > maxKept || v.Type.IsAggregate() || f.addressed[v] {
			return false
		}
	}
	return true
}

// gains reports whether the threads of a row access adjacent elements in a body.
func (s *rowSplitter) gains(body []ir.Stmt) bool {
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		found = found || s.facts.hasWindow(p)
		return !found
	}}
	v.Body(body)
	return found
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

// keep changes what is known of a loop's counter and recomputes the levels of what its
// body computes. Variables that only the loop uses may depend on variables of the block,
// which do not change in a region.
func (s *rowSplitter) keep(loop *ir.Loop, change func()) {
	f, once := s.facts, s.facts.once
	change()
	written := uses(loop.Body...).writes
	for v := range written {
		delete(f.levels, v)
	}
	f.once = nil
	for v := range written {
		if s.mentionedOutside(v, nil, loop) {
			f.local(v)
		}
	}
	f.once = once
	for v := range written {
		f.local(v)
	}
}

// inRows prints the loops over the rows of the block around the work of a row.
func (e *emitter) inRows(list []item) {
	out, body := e.out, &text{}
	e.axes, e.out = [3]bool{}, body
	fails := e.rowItems(list, nil)
	e.out = out
	if len(body.lines) == 0 {
		return
	}
	if fails {
		e.axes[ir.ThreadIdxY], e.axes[ir.ThreadIdxZ] = true, true
		e.names.name(ir.ThreadIdxY, threadNames[ir.ThreadIdxY])
		e.names.name(ir.ThreadIdxZ, threadNames[ir.ThreadIdxZ])
	}
	mentions := func(op ir.ThreadOp) bool { return e.names.of[op] != "" && body.mentions(e.names.of[op]) }
	dims := e.kernel.Options.Block
	depth := e.out.depth
	var fields, names []string
	if dims[0] == 0 {
		row := e.names.name(rowNumber{}, "rowIdx")
		e.out.add("for %s := 0; r.Row(%s); %s++ {", row, row, row)
		e.out.depth++
	}
	for _, op := range [...]ir.ThreadOp{ir.ThreadIdxZ, ir.ThreadIdxY} {
		field := fmt.Sprintf("r.ThreadIdx.%c", "XYZ"[op])
		switch {
		case dims[0] == 0:
			if mentions(op) {
				e.out.add("%s := %s", e.names.of[op], field)
			}
		case dims[op] > 1 || mentions(op): // otherwise, Run.ThreadIdx has the coordinate already
			e.out.add("%s", e.axis(op, list))
			e.out.depth++
			fields, names = append(fields, field), append(names, e.names.of[op])
		}
	}
	if fails && len(fields) > 0 {
		e.out.add("%s = %s", strings.Join(fields, ", "), strings.Join(names, ", "))
	}
	e.out.splice(body)
	for e.out.depth > depth {
		e.out.depth--
		e.out.add("}")
	}
}

// rowNumber is the key of the variable with the number of the row in its block, if the kernel does
// not declare the block.
type rowNumber struct{}

// rowItems prints the work of a row. If loop is set, it is in that loop.
func (e *emitter) rowItems(list []item, loop *rowLoop) (fails bool) {
	section, outer := e.newSection(perRow), e.sections[perRow]
	if loop != nil {
		section.outer = outer
		section.names[e.names.of[loop.counter()]] = true
	}
	body, out := &text{}, e.out
	e.sections[perRow], e.out = section, body
	for _, it := range list {
		switch it := it.(type) {
		case *region:
			fails = e.row(it) || fails
		case *rowLoop:
			fails = e.rowLoop(it) || fails
		}
	}
	e.sections[perRow], e.out = outer, out
	e.out.splice(section.text)
	e.out.splice(body)
	return fails
}

func (l *rowLoop) counter() *ir.Local { return l.init.Dst.(*ir.VarPlace).Var }

// rowLoop prints a loop around the loops over a row's threads.
func (e *emitter) rowLoop(l *rowLoop) (fails bool) {
	k, head := l.counter(), ""
	e.at(perRow, func() {
		init := e.definition(k, e.names.name(k, k.Name), l.init.Src)
		head = forClause(init, e.value(l.loop.Cond, ir.TBool, precOr), e.assignment(l.loop.Post[0].(*ir.Assign)))
	})
	e.out.add("%s", head)
	e.indented(func() {
		e.pollCancel(l.loop)
		fails = e.rowItems(l.items, l)
	})
	e.out.add("}")
	return fails || l.loop.Long
}
