package gohost

import (
	"fmt"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// division is a loop in which the threads of a row divide a range of elements: each starts
// at its own number and steps by the length of the row,
//
//	for e := from + lane; e < end; e += 32 { sum += in[e] }
//
// and assigns only variables. A loop over the elements from..end-1, in which element from+i
// belongs to thread i%32, does the same: each thread's elements keep their order, and what
// one thread assigns does not concern the others. The loop needs no iterations for threads
// without elements, and a range that starts nowhere in particular needs no loop for its end.
type division struct {
	counter   *ir.Local
	from, end ir.Expr // the same for the row
	loop      *ir.Loop
	length    int // of the row, a power of two
}

// maxDivided is the number of elements up to which a loop over them need not poll for
// cancellation.
const maxDivided = 1 << 16

// division returns the loop of a region that consists of one in which the threads of a row
// of declared length divide a range, or nil.
func (e *emitter) division(g *region) *division {
	n := e.declaredRow()
	if n == 0 || n&(n-1) != 0 || len(g.stmts) != 2 || nodes(g.stmts) > maxFast {
		return nil
	}
	init, isAssign := g.stmts[0].(*ir.Assign)
	loop, isLoop := g.stmts[1].(*ir.Loop)
	if !isAssign || !isLoop {
		return nil
	}
	k, step := (&rowSplitter{facts: e.facts, kernel: e.kernel}).counter(init, loop)
	if k == nil || !slices.Contains([]ir.Kind{ir.Int, ir.Int64, ir.Int32, ir.Uint32}, k.Type.Kind) {
		return nil
	}
	isCounter := func(x ir.Expr) bool { v, ok := ir.Variable(x); return ok && v == k }
	by, isAdd := step.Src.(*ir.Binary)
	cond, isCond := loop.Cond.(*ir.Binary)
	if !isAdd || by.Op != ir.Add || !isCounter(by.X) || !isCond || cond.Op != ir.Lt || !isCounter(cond.X) ||
		e.facts.level(cond.Y) > perRow || e.facts.exprMayFault(cond.Y) {
		return nil
	}
	from, ok := e.behindThread(init.Src)
	if c, isConst := constant(by.Y); !ok || !isConst || c.Int64() != int64(n) || e.facts.exprMayFault(from) || !e.assignsOwn(loop.Body) {
		return nil
	}
	return &division{counter: k, from: from, end: cond.Y, loop: loop, length: n}
}

// behindThread returns x less the number of the thread in its row. The rest must be the same
// for the row.
func (e *emitter) behindThread(x ir.Expr) (ir.Expr, bool) {
	isNumber := func(x ir.Expr) bool {
		if c, ok := x.(*ir.Convert); ok && c.T.IsInteger() {
			x = c.X
		}
		return isThread(x, ir.LaneID) && e.warp != nil || isThread(x, ir.ThreadIdxX) && e.warp == nil
	}
	b, ok := x.(*ir.Binary)
	switch {
	case isNumber(x):
		return ir.IntConst(x.Type(), 0), true
	case !ok || b.Op != ir.Add:
	case isNumber(b.Y) && e.facts.level(b.X) <= perRow:
		return b.X, true
	case isNumber(b.X) && e.facts.level(b.Y) <= perRow:
		return b.Y, true
	}
	return nil, false
}

// assignsOwn reports whether a loop's body only assigns variables that live across barriers,
// of which each thread has its own, and variables that live in one iteration.
func (e *emitter) assignsOwn(body []ir.Stmt) bool {
	if hasStmt(body, func(s ir.Stmt) bool {
		a, isAssign := s.(*ir.Assign)
		_, isIf := s.(*ir.If)
		return !isAssign && !isIf || isAssign && isMemory(a.Dst)
	}) {
		return false
	}
	u := uses(body...)
	for v := range u.all() {
		_, carried := e.plan.scratchID[v]
		switch {
		case e.facts.addressed[v], e.inPlace(v) && carried:
			return false
		case u.writes[v] && e.facts.local(v) == varying && !carried && (e.plan.block[v] || !startsHere(body, v)):
			return false
		}
	}
	return true
}

// flat returns loops over the elements that the threads of a row divide: one without checks
// of the range and, if it does not apply, one with them. The code falls through if a thread's
// counter may wrap. The result is nil if the region is not such a loop, or the elements are
// not adjacent.
func (e *emitter) flat(g *region) *text {
	d := e.division(g)
	if d == nil {
		return nil
	}
	f := e.facts
	i := &ir.Local{Name: d.counter.Name, Type: ir.TInt}
	f.levels[i], f.read[i] = varying, true
	f.element, f.lanes = i, e.warp != nil
	defer func() {
		delete(f.levels, i)
		f.element, f.lanes, f.safe, e.windows = nil, false, nil, nil
	}()
	body := d.statements(i)
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		found = found || f.hasWindow(p)
		return !found
	}}
	v.Body(body)
	if !found {
		return nil
	}

	e.names.name(i, i.Name)
	count := e.names.fresh("count")
	checked := e.overElements(g, d, i, body, nil, count)
	w := &windows{count: count, names: map[string]string{}, seen: map[string]bool{}, stores: e.storesOf(body)}
	e.windows, f.safe = w, f.isSafe
	c := &elementChecks{facts: f, done: map[ir.Place]bool{}}
	body = c.list(d.statements(i))
	f.safe = func(p ir.Place) bool { return c.done[p] || f.isSafe(p) }
	if f.mayFault(body) { // what else may fail may come first
		body, c.own, f.safe = d.statements(i), nil, f.isSafe
	}
	fast := e.overElements(g, d, i, body, c.own, count)
	if fast == nil || checked == nil {
		return nil
	}

	t := &text{}
	t.add("if %s {", strings.Join(e.noCounterWraps(d), " && "))
	t.depth++
	elements := e.value(converted(ir.TInt, d.end), ir.TInt, precOr)
	if d.counter.Type.Size() == 8 {
		elements = fmt.Sprintf("max(%s, 0)", elements)
	}
	t.add("%s := %s", count, e.difference(elements, converted(ir.TInt, d.from)))
	if d.loop.Long {
		t.add("if %s <= %d {", count, maxDivided)
		t.depth++
	}
	t.add("if %s <= 0 {", count)
	t.add("\t%s", e.rowEnd())
	t.add("}")
	if !e.guard(w, t, fast, count) {
		t.splice(checked)
		t.add("%s", e.rowEnd())
	}
	for range t.depth {
		t.depth--
		t.add("}")
	}
	return t
}

// noCounterWraps returns conditions under which the counters of no thread wrap.
func (e *emitter) noCounterWraps(d *division) []string {
	t := d.counter.Type
	from, end := e.value(d.from, t, precCompare+1), e.value(d.end, t, precCompare+1)
	if !t.IsSigned() {
		limit := fmt.Sprintf(" <= %d", int64(1)<<(8*t.Size())-1-int64(d.length))
		return []string{from + limit, end + limit}
	}
	limit := fmt.Sprintf(" <= %d", int64(1)<<(8*t.Size()-1)-1-int64(d.length))
	return []string{"0 <= " + from, from + limit, end + limit}
}

// overElements returns a loop over count elements that runs the statements, with variables
// of their own, for each element i.
func (e *emitter) overElements(g *region, d *division, i *ir.Local, body []ir.Stmt, own []*ir.Local, count string) *text {
	t := target{label: e.newLabel("threads"), loop: true, returns: true}
	inner := e.thread(g, body, slices.Concat(e.plan.private[g], own), t, e.facts.mayFault(body))
	if inner == nil {
		return nil
	}
	at := e.names.of[i]
	loop := &text{depth: 1}
	x, number := e.names.of[ir.ThreadIdxX], fmt.Sprintf("%s & %d", at, d.length-1)
	if lane := e.inRow(); e.warp != nil && x != "" && inner.mentions(x) {
		loop.add("%s := %s", lane, number)
		loop.add("%s := %s + %s", x, e.outer(e.warp.x, "int"), lane)
	} else if inner.mentions(lane) {
		loop.add("%s := %s", lane, number)
	}
	loop.splice(inner)
	head := "for range " + count + " {"
	if loop.mentions(at) {
		head = fmt.Sprintf("for %s := range %s {", at, count)
	}
	loop.lines = slices.Insert(loop.lines, 0, line{text: head})
	loop.lines = append(loop.lines, line{text: "}"})
	return loop
}

// statements returns the body of the loop for element i of the range.
func (d *division) statements(i *ir.Local) []ir.Stmt {
	own := map[ir.Expr]ir.Expr{} // the element's number, by its value of the counter's type
	whole := func(x *ir.Expr) {
		if n := own[*x]; n != nil {
			*x = n
		}
	}
	number := func() ir.Expr { return sum(ir.Add, converted(ir.TInt, ir.CloneExpr(d.from)), ir.Get(i)) }
	r := ir.Rewriter{
		Expr: func(x ir.Expr) ir.Expr {
			switch y := x.(type) {
			case *ir.Load:
				if v, ok := ir.Variable(y); ok && v == d.counter {
					x = converted(d.counter.Type, number())
					own[x] = number()
				}
			case *ir.Convert:
				if n := own[y.X]; n != nil && y.T.Kind == ir.Int && y.T.Name == "" {
					return n
				}
			}
			return x
		},
		Place: func(p ir.Place) ir.Place {
			switch p := p.(type) {
			case *ir.ElemPlace:
				whole(&p.Index)
			case *ir.IndexPlace:
				whole(&p.Index)
			}
			return p
		},
	}
	return r.Body((&ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}).Body(d.loop.Body))
}

func converted(t *ir.Type, x ir.Expr) ir.Expr {
	if identical(goType(x), t) {
		return x
	}
	return &ir.Convert{T: t, X: x}
}

// elementChecks puts checks of indices before the statements that need them. The number of
// the thread is then stored only for an index out of range.
type elementChecks struct {
	facts *facts
	done  map[ir.Place]bool // elements that a check precedes
	own   []*ir.Local       // indices
}

func (c *elementChecks) list(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			out = append(out, c.before(s.Src)...)
		case *ir.If:
			out = append(out, c.before(s.Cond)...)
			s.Then, s.Else = c.list(s.Then), c.list(s.Else)
		}
		out = append(out, s)
	}
	return out
}

// before returns checks of the elements that the evaluation of x reads in any case, in the
// order of evaluation.
func (c *elementChecks) before(x ir.Expr) (checks []ir.Stmt) {
	var v ir.Visitor
	v = ir.Visitor{
		Expr: func(x ir.Expr) bool {
			switch x := x.(type) {
			case *ir.Select:
				v.Value(x.Cond)
				return false
			case *ir.Binary:
				if x.Op.IsLogical() {
					v.Value(x.X)
					return false
				}
			}
			return true
		},
		Place: func(p ir.Place) bool {
			at, ok := p.(*ir.ElemPlace)
			if !ok || c.facts.safe(p) {
				return true
			}
			v.Value(at.Slice)
			v.Value(at.Index)
			if _, ok := ir.Variable(at.Slice); !ok || isConst(at.Index) {
				return false
			}
			value := at.Index
			if value.Type().Size() < ir.TInt.Size() {
				value = converted(ir.TInt, value) // once
			}
			if _, ok := ir.Variable(value); !ok {
				index := &ir.Local{Name: "at", Type: goType(value), Pos: at.Pos}
				c.facts.levels[index], c.facts.read[index] = varying, true
				c.own = append(c.own, index)
				checks = append(checks, &ir.Assign{Dst: &ir.VarPlace{Var: index}, Src: value, Pos: at.Pos})
				at.Index = ir.Get(index)
			}
			checked := *at
			c.done[at], c.done[&checked] = true, true
			checks = append(checks, &ir.Check{Place: &checked})
			return false
		},
	}
	v.Value(x)
	return checks
}

// checkElement prints the check of an index. The Go compiler knows that a panic does not
// return, and needs no other check.
func (e *emitter) checkElement(p *ir.ElemPlace) {
	x := ""
	if e.warp != nil {
		x = e.outer(e.warp.x, "int") + " + " + e.warp.lane
	} else {
		x = e.coordinate(ir.ThreadIdxX)
	}
	e.out.at(p.Pos, false, "if uint(%s) >= uint(len(%s)) {", e.expr(p.Index, precOr), e.expr(p.Slice, precOr))
	e.out.add("\tr.ThreadIdx.X = %s", x)
	e.out.at(p.Pos, true, "\t_ = %s", e.place(p))
	e.out.add("\tpanic(%q)", "unreachable")
	e.out.add("}")
}
