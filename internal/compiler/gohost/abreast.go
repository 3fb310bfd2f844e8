package gohost

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Threads of a row run abreast threads side by side if each of them runs a short loop of
// the same number of iterations, such as a sum of products. Each operation of such a loop
// waits for the one of the iteration before. The threads do not wait for each other, so
// several of them take the time of one. What a thread computes stays the same.
const (
	abreast        = 4
	maxAbreast     = 40 // nodes of a loop's body
	maxAbreastKept = 3  // variables that a loop's body assigns
)

// abreastLoops describes the loops of a region whose threads run side by side.
type abreastLoops struct {
	loops    map[*ir.Loop]*counted
	counters map[*ir.Local]*counted
	inOrder  []*counted

	// State of the printed code: parts of slices that a loop reads from its start, with
	// the conditions under which they do not exist.
	names   map[string]string
	decls   []string
	missing []string
}

// counted is a loop whose counter goes from first to limit-1 in all threads of a row.
type counted struct {
	counter *ir.Local
	first   int64
	limit   ir.Expr
	trips   string // the number of iterations
	at      string // the number of the current one
}

// loopsAbreast returns the loops of a region's statements if threads can run them side by
// side: there are only assignments and conditions around them, and nothing can fail if
// the parts of slices that they read exist.
func (e *emitter) loopsAbreast(g *region, list []ir.Stmt) *abreastLoops {
	if e.warp != nil {
		return nil
	}
	u := uses(list...)
	for v := range u.all() {
		if _, carried := e.plan.scratchID[v]; carried && !e.dead[v] && e.facts.local(v) == varying || u.writes[v] && e.plan.block[v] {
			return nil
		}
		if v.Type.IsAggregate() && v.Type.Kind != ir.Slice || e.facts.addressed[v] {
			return nil
		}
	}
	p := &abreastLoops{loops: map[*ir.Loop]*counted{}, counters: map[*ir.Local]*counted{}, names: map[string]string{}}
	s := &rowSplitter{facts: e.facts, kernel: e.kernel}
	if !p.find(s, list, false) || len(p.loops) == 0 {
		return nil
	}
	defer p.assume(e.facts)()
	if e.facts.mayFault(list) {
		return nil
	}
	return p
}

// assume makes the parts of slices known to exist until the result is called.
func (p *abreastLoops) assume(f *facts) (restore func()) {
	safe := f.safe
	f.safe = func(place ir.Place) bool {
		_, _, isPart := p.part(f, place)
		return isPart || safe(place)
	}
	return func() { f.safe = safe }
}

// find collects the loops of a list and reports whether threads can run it side by side.
func (p *abreastLoops) find(s *rowSplitter, list []ir.Stmt, inLoop bool) bool {
	for i, t := range list {
		switch t := t.(type) {
		case *ir.Assign:
			if inLoop && isMemory(t.Dst) {
				return false
			}
		case *ir.If:
			if hasStmt([]ir.Stmt{t}, func(t ir.Stmt) bool {
				a, isAssign := t.(*ir.Assign)
				_, isIf := t.(*ir.If)
				return !isAssign && !isIf || isAssign && isMemory(a.Dst)
			}) {
				return false
			}
		case *ir.Loop:
			if i == 0 || t.Long {
				return false
			}
			c := s.countedLoop(list[i-1], t)
			written := 0
			for v := range uses(t.Body...).writes {
				if s.facts.local(v) == varying {
					written++
				}
			}
			if c == nil || written > maxAbreastKept || nodes(t.Body) > maxAbreast {
				return false
			}
			p.loops[t], p.counters[c.counter], p.inOrder = c, c, append(p.inOrder, c)
			if !p.find(s, t.Body, true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// countedLoop describes a loop whose counter starts at a constant and goes up by one to a
// limit that the row has in common, or returns nil.
func (s *rowSplitter) countedLoop(before ir.Stmt, loop *ir.Loop) *counted {
	init, ok := before.(*ir.Assign)
	if !ok {
		return nil
	}
	k, step := s.counter(init, loop)
	if k == nil || k.Type.Kind != ir.Int {
		return nil
	}
	isCounter := func(x ir.Expr) bool { v, ok := ir.Variable(x); return ok && v == k }
	first, isConst := constant(init.Src)
	by, isAdd := step.Src.(*ir.Binary)
	cond, isCond := loop.Cond.(*ir.Binary)
	if !isConst || first.Int64() < 0 || !isAdd || by.Op != ir.Add || !isCounter(by.X) || !isCond || cond.Op != ir.Lt || !isCounter(cond.X) || s.facts.level(cond.Y) > perRow {
		return nil
	}
	if one, ok := constant(by.Y); !ok || one.Bits != 1 {
		return nil
	}
	return &counted{counter: k, first: first.Int64(), limit: cond.Y}
}

// part reports whether a loop reads a part of a slice from its start to its end: the
// index is a loop's counter plus an offset of the thread.
func (p *abreastLoops) part(f *facts, place ir.Place) (c *counted, offset ir.Expr, ok bool) {
	at, ok := place.(*ir.ElemPlace)
	if !ok || at.Index.Type().Kind != ir.Int || f.level(at.Slice) > perRow {
		return nil, nil, false
	}
	for _, t := range terms(at.Index, false, nil) {
		if v, ok := ir.Variable(t.x); ok && p.counters[v] != nil && !t.negative && c == nil {
			c = p.counters[v]
			continue
		}
		switch {
		case f.level(t.x) > perThread:
			return nil, nil, false
		case offset == nil && t.negative:
			offset = sum(ir.Sub, ir.IntConst(ir.TInt, 0), t.x)
		case offset == nil:
			offset = t.x
		case t.negative:
			offset = sum(ir.Sub, offset, t.x)
		default:
			offset = sum(ir.Add, offset, t.x)
		}
	}
	if offset == nil {
		offset = ir.IntConst(ir.TInt, 0)
	}
	return c, offset, c != nil
}

// element prints an element of a part of a slice that a loop reads, or returns "".
func (p *abreastLoops) element(e *emitter, place ir.Place) string {
	c, offset, ok := p.part(e.facts, place)
	if !ok {
		return ""
	}
	slice := e.expr(place.(*ir.ElemPlace).Slice, precPrimary)
	from := e.value(sum(ir.Add, offset, ir.IntConst(ir.TInt, c.first)), ir.TInt, precOr)
	if from != "0" && !isIdentifier(from) {
		from = e.sections[perThread].value("at", "int", from)
	}
	key := slice + "[" + from + ":][:" + c.trips + "]"
	if from == "0" {
		key = slice + "[:" + c.trips + "]"
	}
	name, ok := p.names[key]
	if !ok {
		name = e.names.fresh("part")
		p.names[key] = name
		if from == "0" {
			p.missing = append(p.missing, fmt.Sprintf("%s > len(%s)", c.trips, slice))
		} else {
			p.missing = append(p.missing, from+" < 0", fmt.Sprintf("%s > len(%s)-%s", c.trips, slice, from))
		}
		p.decls = append(p.decls, name+" := "+key)
	}
	return name + "[" + c.at + "]"
}

// abreast prints a loop that runs the row's threads side by side, several in an
// iteration. Its variable, which the result names, is then the number of the first thread
// that has not run: fewer are left than an iteration runs, or an index of one of them may
// be out of range.
func (e *emitter) abreast(g *region, list []ir.Stmt, p *abreastLoops) (_ *text, next string) {
	defer p.assume(e.facts)()
	w := e.windows
	next = e.names.fresh("next")
	for _, c := range p.inOrder {
		limit := ""
		e.at(perRow, func() { limit = e.value(c.limit, ir.TInt, precAdd) })
		if c.first > 0 {
			limit += " - " + strconv.FormatInt(c.first, 10)
		}
		c.trips = e.sections[perRow].value("trips", "int", "max("+limit+", 0)")
		c.at = e.names.fresh(c.counter.Name)
		if c.first == 0 {
			e.names.of[c.counter] = c.at
		}
	}
	e.scopes = newScopes()
	var private []*ir.Local
	for _, v := range e.plan.private[g] {
		if p.counters[v] == nil {
			private = append(private, v)
		}
	}
	copies := make([]*copyOfThread, abreast)
	for i := range copies {
		c := &copyOfThread{stmts: map[ir.Stmt]ir.Stmt{}, thread: e.names.fresh(threadNames[ir.ThreadIdxX])}
		if w.first != "" {
			c.lane = e.names.fresh("lane")
		}
		e.copyThread(c, list, private)
		copies[i] = c
	}

	thread, body := e.newSection(perThread), &text{depth: 1}
	out, targets, current, lane, x := e.out, e.targets, e.current, w.lane, e.names.of[ir.ThreadIdxX]
	section := e.sections[perThread]
	e.sections[perThread], e.out, e.targets, e.beside = thread, body, nil, p
	e.besideStmts(list, p, copies)
	e.sections[perThread], e.out, e.targets, e.beside = section, out, targets, nil
	e.current, w.lane = current, lane
	if e.names.of[ir.ThreadIdxX] = x; x == "" {
		delete(e.names.of, ir.ThreadIdxX)
	}

	inner := &text{depth: 1}
	inner.splice(thread.text)
	if len(p.missing) > 0 {
		inner.add("if %s {", strings.Join(p.missing, " || "))
		inner.add("\tbreak")
		inner.add("}")
	}
	for _, d := range p.decls {
		inner.add("%s", d)
	}
	inner.lines = append(inner.lines, body.lines...)
	t := &text{}
	t.add("%s := 0", next)
	t.add("for ; %s+%d <= %s; %s += %d {", next, abreast, w.limit(), next, abreast)
	for i, c := range copies {
		at := next
		if i > 0 {
			at += " + " + strconv.Itoa(i)
		}
		if w.first != "" {
			if inner.mentions(c.lane) {
				t.add("\t%s := %s", c.lane, at)
			}
			at = w.first + " + " + at
		}
		if inner.mentions(c.thread) {
			t.add("\t%s := %s", c.thread, at)
		}
	}
	t.splice(inner)
	t.add("}")
	return t, next
}

// copyOfThread holds the variables and statements of one of the threads that run side by
// side.
type copyOfThread struct {
	stmts        map[ir.Stmt]ir.Stmt
	thread, lane string // its number
}

// copyThread copies the statements of a list, with variables of their own.
func (e *emitter) copyThread(c *copyOfThread, list []ir.Stmt, private []*ir.Local) {
	f := e.facts
	cloner := &ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}
	var own []*ir.Local
	rename := func(v *ir.Local) {
		w := *v
		cloner.Vars[v] = &w
	}
	for _, v := range private {
		rename(v)
		own = append(own, cloner.Vars[v])
	}
	for _, v := range slices.Collect(maps.Keys(f.source)) {
		if cloner.Vars[v] == nil && f.local(v) == perThread {
			rename(v)
		}
	}
	for v, w := range cloner.Vars {
		f.assigned[w], f.addressed[w], f.changed[w], f.read[w] = f.assigned[v], f.addressed[v], f.changed[v], f.read[v]
		f.levels[w] = f.local(v)
		if src := f.source[v]; src != nil {
			f.source[w] = cloner.Expr(src)
		}
		if e.dead[v] {
			e.dead[w] = true
		}
	}
	e.scopes.place(c.copy(cloner, list), own)
}

// copy copies the statements of a list.
func (c *copyOfThread) copy(cloner *ir.Cloner, list []ir.Stmt) []ir.Stmt {
	out := make([]ir.Stmt, len(list))
	for i, s := range list {
		if loop, ok := s.(*ir.Loop); ok {
			copied := *loop
			copied.Body = c.copy(cloner, loop.Body)
			c.stmts[s] = &copied
		} else {
			c.stmts[s] = cloner.Body([]ir.Stmt{s})[0]
		}
		out[i] = c.stmts[s]
	}
	return out
}

// besideStmts prints the statements of the list, each for all threads.
func (e *emitter) besideStmts(list []ir.Stmt, p *abreastLoops, copies []*copyOfThread) {
	for _, s := range list {
		if a, ok := s.(*ir.Assign); ok {
			if v, ok := a.Dst.(*ir.VarPlace); ok && p.counters[v.Var] != nil {
				continue
			}
		}
		for _, c := range copies {
			e.names.of[ir.ThreadIdxX] = c.thread
			if c.lane != "" {
				e.windows.lane = c.lane
			}
			e.declare(c.stmts[s])
			if _, ok := s.(*ir.Loop); !ok {
				e.stmt(c.stmts[s])
			}
		}
		loop, ok := s.(*ir.Loop)
		if !ok {
			continue
		}
		c, out, current := p.loops[loop], e.out, e.current
		body := &text{depth: 1}
		e.out, e.current = body, varying
		e.besideStmts(loop.Body, p, copies)
		e.out, e.current = out, current
		if c.first > 0 {
			if name := e.names.of[c.counter]; name != "" && body.mentions(name) {
				body.lines = append([]line{{text: fmt.Sprintf("%s := %s + %d", name, c.at, c.first), depth: 1}}, body.lines...)
			}
		}
		if body.mentions(c.at) {
			e.out.at(loop.Pos, false, "for %s := range %s {", c.at, c.trips)
		} else {
			e.out.at(loop.Pos, false, "for range %s {", c.trips)
		}
		e.out.splice(body)
		e.out.add("}")
	}
}
