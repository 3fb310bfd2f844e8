package gohost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// maxFast is the size, in nodes, up to which a region gets a second form.
const maxFast = 300

// windows is the parts of slices that a row of threads indexes by thread: the
// threads of the row use the elements from an offset on, one each.
type windows struct {
	count    string            // of threads that run
	names    map[string]string // by slice and offset
	decls    []string
	required []string // conditions under which the elements exist
	seen     map[string]bool
}

func (w *windows) require(condition string) {
	if !w.seen[condition] {
		w.seen[condition] = true
		w.required = append(w.required, condition)
	}
}

// fastThreads returns a form of the region in which the range of the threads
// that pass the guards around the region's statements is computed before the
// loop, and slices that they index side by side are cut to that range, so that
// the loop is free of checks. It falls through where that form does not hold.
// The result is nil if the region has no such form.
func (e *emitter) fastThreads(g *region) *text {
	if nodes(g.stmts) > maxFast {
		return nil
	}
	guards, rest := e.splitGuards(g.stmts)
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		found = found || e.hasWindow(p)
		return !found
	}}
	v.Body(rest)
	if !found {
		return nil
	}

	e.facts.safe = e.hasWindow
	fails := e.facts.mayFault(rest)
	e.facts.safe = nil
	if fails && !slices.ContainsFunc(guards, func(c ir.Expr) bool { return e.facts.level(c) > perRow }) {
		return nil // little would be gained
	}

	w := &windows{names: map[string]string{}, seen: map[string]bool{}, count: e.names.fresh("count")}
	limits := []string{e.coordinate(ir.BlockDimX)}
	for _, c := range guards {
		if limit, ok := e.limit(c, w); ok {
			limits = append(limits, limit)
		} else {
			w.require(e.value(c, ir.TBool, precAnd+1))
		}
	}
	e.windows, e.facts.safe = w, e.hasWindow
	loop := e.threads(g, rest, w.count, fails)
	e.windows, e.facts.safe = nil, nil
	if loop == nil {
		return nil
	}

	t := &text{}
	count := limits[0]
	if len(limits) > 1 {
		count = fmt.Sprintf("max(0, min(%s))", strings.Join(limits, ", "))
	}
	t.add("%s := %s", w.count, count)
	t.add("if %s {", strings.Join(w.required, " && "))
	t.depth++
	for _, d := range w.decls {
		t.add("%s", d)
	}
	t.splice(loop)
	t.add("return")
	t.depth--
	t.add("}")
	return t
}

// nodes is the size of statements.
func nodes(body []ir.Stmt) int {
	n := 0
	v := ir.Visitor{
		Stmt: func(ir.Stmt) bool { n++; return true },
		Expr: func(ir.Expr) bool { n++; return true },
	}
	v.Body(body)
	return n
}

// splitGuards takes the conditions off a list that all of its effects depend
// on: if i < n { ... } and if i >= n { return }. They have no effects and
// cannot fail.
func (e *emitter) splitGuards(list []ir.Stmt) (guards []ir.Expr, rest []ir.Stmt) {
	var before []ir.Stmt // assignments of values of a thread
	for i, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			if p, ok := s.Dst.(*ir.VarPlace); ok && e.facts.local(p.Var) < varying {
				before = append(before, s)
				continue
			}
		case *ir.If:
			tail := list[i+1:]
			if len(s.Else) > 0 {
				break
			}
			var conds []ir.Expr
			inner := s.Then
			if returns(s.Then) {
				conds, inner = conjunction(s.Cond, true), tail
			} else if len(tail) == 0 {
				conds = conjunction(s.Cond, false)
			}
			n := 0
			for n < len(conds) && e.isGuard(conds[n]) {
				n++
			}
			if n == 0 {
				break
			}
			if n < len(conds) {
				inner = []ir.Stmt{&ir.If{Cond: join(conds[n:]), Then: inner, Pos: s.Pos}}
			}
			more, rest := e.splitGuards(inner)
			return append(conds[:n], more...), append(before, rest...)
		}
		break
	}
	return nil, list
}

func returns(list []ir.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	_, ok := list[0].(*ir.Return)
	return ok
}

// conjunction returns the terms of a condition, or of its negation, all of which
// must hold, in the order of their evaluation.
func conjunction(x ir.Expr, negate bool) []ir.Expr {
	b, ok := x.(*ir.Binary)
	if ok && (b.Op == ir.LAnd && !negate || b.Op == ir.LOr && negate) {
		return append(conjunction(b.X, negate), conjunction(b.Y, negate)...)
	}
	if !negate {
		return []ir.Expr{x}
	}
	inverse := map[ir.BinaryOp]ir.BinaryOp{ir.Lt: ir.Ge, ir.Ge: ir.Lt, ir.Gt: ir.Le, ir.Le: ir.Gt}
	if ok && b.X.Type().IsInteger() && inverse[b.Op] != 0 {
		c := *b
		c.Op = inverse[b.Op]
		return []ir.Expr{&c}
	}
	return []ir.Expr{&ir.Unary{Op: ir.LNot, X: x}}
}

func join(terms []ir.Expr) ir.Expr {
	x := terms[0]
	for _, t := range terms[1:] {
		x = &ir.Binary{Op: ir.LAnd, X: x, Y: t}
	}
	return x
}

// isGuard reports whether a condition is the same for the row of threads, or
// holds for its first threads.
func (e *emitter) isGuard(x ir.Expr) bool {
	if e.facts.level(x) <= perRow {
		return true
	}
	_, _, ok := e.bounded(x)
	return ok
}

// bounded splits a condition offset + threadX < end.
func (e *emitter) bounded(x ir.Expr) (offset, end ir.Expr, ok bool) {
	b, isBinary := x.(*ir.Binary)
	if !isBinary || b.X.Type().Kind != ir.Int {
		return nil, nil, false
	}
	index := b.X
	switch end = b.Y; b.Op {
	case ir.Lt:
	case ir.Gt:
		index, end = b.Y, b.X
	default:
		return nil, nil, false
	}
	offset, ok = e.offset(index)
	return offset, end, ok && e.facts.level(end) <= perRow
}

// limit prints how many of the row's threads pass a condition, if it is one of
// an index being below an end.
func (e *emitter) limit(x ir.Expr, w *windows) (string, bool) {
	if e.facts.level(x) <= perRow {
		return "", false
	}
	offset, end, _ := e.bounded(x)
	// With both operands not negative their difference does not wrap.
	e.notNegative(offset, w)
	if _, isLen := end.(*ir.Len); !isLen {
		e.notNegative(end, w)
	}
	return e.difference(e.value(end, ir.TInt, precAdd), offset), true
}

func (e *emitter) notNegative(x ir.Expr, w *windows) {
	if c, ok := constant(x); ok && c.Int64() >= 0 {
		return
	}
	w.require(e.value(x, ir.TInt, precCompare+1) + " >= 0")
}

func (e *emitter) difference(end string, offset ir.Expr) string {
	if c, ok := constant(offset); ok && c.Bits == 0 {
		return end
	}
	return end + " - " + e.value(offset, ir.TInt, precAdd+1)
}

// offset returns what an index has beside the thread's X coordinate, if the rest
// is the same for the row.
func (e *emitter) offset(x ir.Expr) (ir.Expr, bool) {
	switch x := x.(type) {
	case *ir.ThreadValue:
		if x.Op == ir.ThreadIdxX {
			return ir.IntConst(ir.TInt, 0), true
		}
	case *ir.Load:
		if p, ok := x.Place.(*ir.VarPlace); ok && e.facts.local(p.Var) == perThread {
			return e.offset(e.facts.source[p.Var])
		}
	case *ir.Binary:
		if x.X.Type().Kind != ir.Int {
			return nil, false
		}
		switch {
		case x.Op == ir.Add && e.facts.level(x.X) <= perRow:
			if o, ok := e.offset(x.Y); ok {
				return sum(ir.Add, x.X, o), true
			}
		case (x.Op == ir.Add || x.Op == ir.Sub) && e.facts.level(x.Y) <= perRow:
			if o, ok := e.offset(x.X); ok {
				return sum(x.Op, o, x.Y), true
			}
		}
	}
	return nil, false
}

func sum(op ir.BinaryOp, x, y ir.Expr) ir.Expr {
	if c, ok := constant(y); ok && c.Bits == 0 {
		return x
	}
	if c, ok := constant(x); ok && c.Bits == 0 && op == ir.Add {
		return y
	}
	return &ir.Binary{Op: op, X: x, Y: y}
}

// hasWindow reports whether the threads of a row use elements of one slice, or
// of one array that all of them see, side by side.
func (e *emitter) hasWindow(p ir.Place) bool {
	var index ir.Expr
	switch p := p.(type) {
	case *ir.ElemPlace:
		if e.facts.level(p.Slice) > perRow {
			return false
		}
		index = p.Index
	case *ir.IndexPlace:
		if !e.ofRow(p.X) {
			return false
		}
		index = p.Index
	default:
		return false
	}
	if index.Type().Kind != ir.Int {
		return false
	}
	_, ok := e.offset(index)
	return ok
}

// ofRow reports whether a place is the same part of shared memory for the whole
// row.
func (e *emitter) ofRow(p ir.Place) bool {
	switch p := p.(type) {
	case *ir.SharedPlace:
		return p.Var.Type.Kind != ir.Slice
	case *ir.DerefPlace:
		v, ok := loadOf(p.Ptr)
		return ok && e.facts.shared[v] != nil
	case *ir.FieldPlace:
		return e.ofRow(p.X)
	case *ir.IndexPlace:
		return p.Index.Type().Kind == ir.Int && e.facts.level(p.Index) <= perRow && e.ofRow(p.X)
	}
	return false
}

// window prints an element of the part of a slice or array that the row uses, if
// the code being written has that.
func (e *emitter) window(p ir.Place) string {
	w := e.windows
	if w == nil || !e.hasWindow(p) {
		return ""
	}
	switch p := p.(type) {
	case *ir.ElemPlace:
		slice := e.expr(p.Slice, precPrimary)
		return e.sideBySide(slice, "len("+slice+")", p.Index)
	case *ir.IndexPlace:
		e.requireRow(p.X)
		return e.sideBySide(e.base(p.X), strconv.FormatInt(p.X.Type().Len, 10), p.Index)
	}
	return ""
}

// sideBySide prints the thread's element of the slice or array with that
// length; index is an offset and the thread's X coordinate.
func (e *emitter) sideBySide(slice, length string, index ir.Expr) string {
	w := e.windows
	offset, _ := e.offset(index)
	from := e.value(offset, ir.TInt, precOr)
	key := slice + "[" + from + ":]"
	name, ok := w.names[key]
	if !ok {
		name = e.names.fresh("row")
		w.names[key] = name
		e.notNegative(offset, w)
		w.require(w.count + " <= " + e.difference(length, offset))
		if from == "0" {
			key = slice
		}
		w.decls = append(w.decls, fmt.Sprintf("%s := %s[:%s]", name, key, w.count))
	}
	return name + "[" + e.coordinate(ir.ThreadIdxX) + "]"
}

// requireRow makes the fast form depend on that a part of shared memory exists.
func (e *emitter) requireRow(p ir.Place) {
	switch p := p.(type) {
	case *ir.FieldPlace:
		e.requireRow(p.X)
	case *ir.IndexPlace:
		e.requireRow(p.X)
		if inRange(p) {
			return
		}
		e.notNegative(p.Index, e.windows)
		e.windows.require(fmt.Sprintf("%s < %d", e.value(p.Index, ir.TInt, precCompare+1), p.X.Type().Len))
	}
}

// loadOf returns the variable that an expression reads.
func loadOf(x ir.Expr) (*ir.Local, bool) {
	l, ok := x.(*ir.Load)
	if !ok {
		return nil, false
	}
	p, ok := l.Place.(*ir.VarPlace)
	if !ok {
		return nil, false
	}
	return p.Var, true
}
