package gohost

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// maxFast is the maximum size in nodes of a region that gets a fast form.
const maxFast = 1600

// windows are the parts of slices that a row of threads indexes by thread: each thread
// of the row uses one element, starting at an offset.
type windows struct {
	count    string            // number of threads that run
	first    string            // the first of them; "" if it is thread 0
	lane     string            // the loop's variable if first is set: the number of the thread, less first
	full     int64             // the number of threads if known: a whole row of declared length
	groups   map[string]*group // by slice and variable part of the offset, if full is known
	scanning bool              // groups are being collected
	names    map[string]string // by slice and offset
	decls    []string
	cuts     [][2]string // names and declarations of parts of variables' rows
	required []string    // conditions for the elements to exist
	seen     map[string]bool
	stores   written // by the region
}

func (w *windows) require(condition string) {
	if !w.seen[condition] {
		w.seen[condition] = true
		w.required = append(w.required, condition)
	}
}

// fastThreads returns a fast form of the region. The range of threads that pass the
// guards around the region's statements is computed before the loop, and slices indexed
// by adjacent threads are cut to that range, so that the loop contains no checks. What
// the row has in common is read once. The code falls through if the fast form does not
// apply, or not to all threads: those that e.edges describes are left. The result is nil
// if the region has no fast form; always reports that no other form is needed.
func (e *emitter) fastThreads(g *region) (_ *text, always bool) {
	if nodes(g.stmts) > maxFast {
		return nil, false
	}
	guards, rest := e.facts.splitGuards(g.stmts, true)
	clamps := e.facts.clampsIn(rest)
	found := len(clamps) > 0
	v := ir.Visitor{Place: func(p ir.Place) bool {
		found = found || e.facts.hasWindow(p)
		return !found
	}}
	v.Body(rest)
	if !found && len(guards) == 0 {
		return nil, false
	}

	w := &windows{
		names: map[string]string{}, seen: map[string]bool{}, groups: map[string]*group{},
		stores: e.storesOf(rest),
	}
	width := e.rowThreads()
	var near, skip, innerFirsts, innerEnds []string
	var skipPos ir.Pos
	skipFails := false
	firsts, ends := []string{"0"}, []string{width}
	limit := func(b bounds, firsts, ends *[]string) {
		for _, x := range [...]ir.Expr{b.offset, b.limit} {
			if s := e.near(x); s != "" && !slices.Contains(near, s) {
				near = append(near, s)
			}
		}
		if b.isFirst || b.isBoth {
			*firsts = append(*firsts, e.threadAt(b))
			b.more++
		}
		if !b.isFirst {
			*ends = append(*ends, e.threadAt(b))
		}
	}
	for _, c := range guards {
		if e.facts.guardLevel(c) > perRow {
			b, _ := e.facts.bounds(c)
			limit(b, &firsts, &ends)
			continue
		}
		if e.facts.exprMayFault(c) {
			skipFails, skipPos = true, posOf(c)
		}
		skip = append(skip, e.value(c, ir.TBool, precAnd+1))
	}
	bounded := len(firsts)+len(ends) > 2
	for _, b := range clamps {
		limit(b, &innerFirsts, &innerEnds)
	}
	if !bounded && len(clamps) == 0 && !e.wide {
		w.full = int64(e.kernel.Options.Block[0])
	}
	first, count := "", e.names.fresh("count")
	if len(firsts) > 1 {
		first = e.names.fresh("firstX")
	}
	w.first, w.count = first, count
	if len(clamps) > 0 {
		w.first, w.count = e.names.fresh("innerX"), e.names.fresh("inner")
	}
	if w.first != "" {
		w.lane = e.names.fresh("lane")
	}
	e.windows, e.facts.safe, e.facts.clamps = w, e.facts.isSafe, true
	fails := e.facts.mayFault(rest)
	if w.full > 0 {
		w.scanning = true
		e.threads(g, rest, width, fails)
		w.scanning = false
	}
	restore := e.cutRows(g, w)
	loop := e.threads(g, rest, w.limit(), fails)
	restore()
	e.windows, e.facts.safe, e.facts.clamps = nil, nil, false
	if loop == nil {
		return nil, false
	}

	t := &text{}
	if len(skip) > 0 {
		if skipFails {
			t.add("r.ThreadIdx.X = 0")
		}
		t.at(skipPos, skipFails, "if !(%s) {", strings.Join(skip, " && "))
		t.add("\treturn")
		t.add("}")
	}
	if len(clamps) > 0 {
		e.edges = &edges{e.names.fresh("next"), e.names.fresh("end"), e.names.fresh("ran"), e.names.fresh("ranEnd")}
		t.add("%s, %s, %s, %s := 0, %s, 0, 0", e.edges.next, e.edges.end, e.edges.ran, e.edges.ranEnd, width)
	}
	if len(near) > 0 {
		t.add("if %s {", strings.Join(near, " && "))
		t.depth++
	}
	if w.full == 0 {
		if first != "" {
			t.add("%s := %s", first, extreme("max", firsts))
			t.add("%s := %s - %s", count, extreme("min", ends), first)
		} else {
			t.add("%s := %s", count, extreme("min", ends))
		}
	}
	if bounded {
		t.add("if %s <= 0 {", count)
		t.add("\treturn")
		t.add("}")
	}
	if len(clamps) > 0 {
		start, end := "0", count
		if first != "" {
			start, end = first, first+" + "+count
		}
		t.add("%s, %s = %s, %s", e.edges.next, e.edges.end, start, end)
		t.add("%s := %s", w.first, extreme("max", append(innerFirsts, start)))
		t.add("%s := %s - %s", w.count, extreme("min", append(innerEnds, end)), w.first)
		w.required = append([]string{w.count + " > 0"}, w.required...)
	}
	always = w.guard(t, loop, e.edges, count) && len(near) == 0
	if len(near) > 0 {
		t.depth--
		t.add("}")
	}
	return t, always
}

// edges are the names of variables that say which threads a fast form leaves: those
// from next to end, except those from ran to ranEnd.
type edges struct{ next, end, ran, ranEnd string }

// extreme prints the minimum or the maximum of a list.
func extreme(function string, list []string) string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	var kept []string
	best := ""
	for _, s := range list {
		n, err := strconv.Atoi(s)
		if err != nil {
			kept = append(kept, s)
			continue
		}
		if old, _ := strconv.Atoi(best); best == "" || function == "max" && n > old || function == "min" && n < old {
			best = s
		}
	}
	if best != "" {
		kept = append(kept, best)
	}
	if len(kept) == 1 {
		return kept[0]
	}
	return function + "(" + strings.Join(kept, ", ") + ")"
}

// cutRows cuts the row's parts of variables that live across barriers to the threads
// that run, until the result is called.
func (e *emitter) cutRows(g *region, w *windows) (restore func()) {
	whole := map[rowOf]string{}
	if w.full == 0 {
		u := uses(g.stmts...)
		for _, v := range e.plan.carried {
			key := rowOf{v}
			name, ok := e.names.of[key]
			if !ok || !u.mentions(v) || e.dead[v] {
				continue
			}
			whole[key] = name
			cut := e.names.fresh(name)
			w.cuts = append(w.cuts, [2]string{cut, fmt.Sprintf("%s := %s[%s:][:%s]", cut, name, w.first, w.count)})
			e.names.of[key] = cut
		}
	}
	return func() {
		for key, name := range whole {
			e.names.of[key] = name
		}
	}
}

// guard adds the loop under its required conditions; always reports that there are
// none. If there are edges, the loop may leave some of the count threads.
func (w *windows) guard(t, loop *text, left *edges, count string) (always bool) {
	if len(w.required) > 0 {
		t.add("if %s {", strings.Join(w.required, " && "))
		t.depth++
	}
	cut := &text{}
	cut.splice(loop)
	cut.keepUsed(w.cuts)
	for _, d := range w.decls {
		t.add("%s", d)
	}
	t.splice(cut)
	if left != nil {
		t.add("if %s == %s {", w.count, count)
		t.add("\treturn")
		t.add("}")
		t.add("%s, %s = %s, %s+%s", left.ran, left.ranEnd, w.first, w.first, w.count)
	} else if len(w.required) > 0 || t.depth > 0 { // something follows
		t.add("return")
	}
	if len(w.required) > 0 {
		t.depth--
		t.add("}")
	}
	return len(w.required) == 0
}

// nodes returns the size of statements in nodes.
func nodes(body []ir.Stmt) int {
	n := 0
	v := ir.Visitor{
		Stmt: func(ir.Stmt) bool { n++; return true },
		Expr: func(ir.Expr) bool { n++; return true },
	}
	v.Body(body)
	return n
}

// splitGuards removes the conditions that all effects of a list depend on: if i < n {
// ... } and if i >= n { return }. The conditions have no effects and cannot fail, except
// that a condition which is the same for the row may divide by zero if no condition of
// the thread precedes it (first).
func (f *facts) splitGuards(list []ir.Stmt, first bool) (guards []ir.Expr, rest []ir.Stmt) {
	var before []ir.Stmt // assignments of per-thread values
	for i, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			if p, ok := s.Dst.(*ir.VarPlace); ok && f.local(p.Var) < varying {
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
				conds, inner = f.conjunction(s.Cond, true), tail
			} else if len(tail) == 0 {
				conds = f.conjunction(s.Cond, false)
			}
			n := 0
			for n < len(conds) && (f.isGuard(conds[n]) || first && f.guardLevel(conds[n]) <= perRow) {
				first = first && f.guardLevel(conds[n]) <= perRow
				n++
			}
			if n == 0 {
				break
			}
			if n < len(conds) {
				inner = []ir.Stmt{&ir.If{Cond: join(conds[n:]), Then: inner, Pos: s.Pos}}
			}
			more, rest := f.splitGuards(inner, first)
			return append(conds[:n], more...), append(before, rest...)
		}
		break
	}
	return nil, list
}

// posOf returns the position of the first operation in x that has one.
func posOf(x ir.Expr) (pos ir.Pos) {
	v := ir.Visitor{Expr: func(x ir.Expr) bool {
		if b, ok := x.(*ir.Binary); ok && pos.Line == 0 && mayFaultBinary(b) {
			pos = b.Pos
		}
		return true
	}}
	v.Value(x)
	return pos
}

func returns(list []ir.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	_, ok := list[0].(*ir.Return)
	return ok
}

// conjunction returns the terms of a condition, or of its negation, in evaluation
// order. All of them must hold.
func (f *facts) conjunction(x ir.Expr, negate bool) []ir.Expr {
	if v, ok := ir.Variable(x); ok && f.source[v] != nil && f.local(v) == perThread {
		return f.conjunction(f.source[v], negate)
	}
	if not, ok := x.(*ir.Unary); ok && not.Op == ir.LNot {
		return f.conjunction(not.X, !negate)
	}
	b, ok := x.(*ir.Binary)
	if ok && (b.Op == ir.LAnd && !negate || b.Op == ir.LOr && negate) {
		return append(f.conjunction(b.X, negate), f.conjunction(b.Y, negate)...)
	}
	if !negate {
		return []ir.Expr{x}
	}
	inverse := map[ir.BinaryOp]ir.BinaryOp{ir.Lt: ir.Ge, ir.Ge: ir.Lt, ir.Gt: ir.Le, ir.Le: ir.Gt, ir.Eq: ir.Ne, ir.Ne: ir.Eq}
	if ok && b.X.Type().IsInteger() {
		if op, ok := inverse[b.Op]; ok {
			c := *b
			c.Op = op
			return []ir.Expr{&c}
		}
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

// guardLevel is the level of a condition whose divisions may fail.
func (f *facts) guardLevel(x ir.Expr) level {
	f.divides = true
	defer func() { f.divides = false }()
	return f.level(x)
}

// isGuard reports whether a condition is the same for the row of threads, or holds for
// a range of the row.
func (f *facts) isGuard(x ir.Expr) bool {
	if f.level(x) <= perRow {
		return true
	}
	_, ok := f.bounds(x)
	return ok
}

// bounds is a condition that compares offset + threadX with limit, which is the same
// for the row: a thread passes if it is at least threadAt (isFirst), below it, or equal
// (isBoth).
type bounds struct {
	offset, limit   ir.Expr
	more            int // is added to limit
	isFirst, isBoth bool
}

// bounds splits a condition of a range of the row.
func (f *facts) bounds(x ir.Expr) (bounds, bool) {
	b, ok := x.(*ir.Binary)
	if !ok || b.X.Type().Kind != ir.Int {
		return bounds{}, false
	}
	mirrored := map[ir.BinaryOp]ir.BinaryOp{ir.Lt: ir.Gt, ir.Gt: ir.Lt, ir.Le: ir.Ge, ir.Ge: ir.Le, ir.Eq: ir.Eq}
	op, index, limit := b.Op, b.X, b.Y
	if f.level(b.X) <= perRow {
		op, index, limit = mirrored[b.Op], b.Y, b.X
	}
	offset, ok := f.offset(index)
	if !ok || mirrored[b.Op] == 0 || f.level(limit) > perRow {
		return bounds{}, false
	}
	r := bounds{offset: offset, limit: limit}
	switch op {
	case ir.Ge:
		r.isFirst = true
	case ir.Gt:
		r.isFirst, r.more = true, 1
	case ir.Le:
		r.more = 1
	case ir.Eq:
		r.isBoth = true
	}
	return r, true
}

// threadAt prints the thread at which the condition changes.
func (e *emitter) threadAt(b bounds) string {
	limit := e.value(b.limit, ir.TInt, precAdd)
	if c, ok := constant(b.limit); ok && c.Int64() < math.MaxInt32 {
		limit = strconv.FormatInt(c.Int64()+int64(b.more), 10)
	} else if b.more > 0 {
		limit += " + 1"
	}
	return e.difference(limit, b.offset)
}

func (w *windows) notNegative(start string) {
	if n, err := strconv.Atoi(start); err != nil || n < 0 {
		w.require(start + " >= 0")
	}
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

// clamp splits the minimum or maximum of an index of the thread and a value that is the
// same for the row. Where the bounds hold, the result is the index.
func (f *facts) clamp(x *ir.Intrinsic) (b bounds, index ir.Expr, ok bool) {
	if !f.clamps || x.Op != ir.Min && x.Op != ir.Max || x.T.Kind != ir.Int || len(x.Args) != 2 {
		return bounds{}, nil, false
	}
	index, b.limit = x.Args[0], x.Args[1]
	if f.level(index) <= perRow {
		index, b.limit = b.limit, index
	}
	if x.Op == ir.Max {
		b.isFirst = true
	} else {
		b.more = 1
	}
	return b, index, f.level(b.limit) <= perRow
}

// clampsIn returns the bounds between which the indices of windows need not be clamped.
func (f *facts) clampsIn(body []ir.Stmt) (found []bounds) {
	f.clamps = true
	defer func() { f.clamps, f.found = false, nil }()
	v := ir.Visitor{Place: func(p ir.Place) bool {
		var all []bounds
		if f.found = &all; f.hasWindow(p) {
			found = append(found, all...)
		}
		return true
	}}
	v.Body(body)
	return found
}

// offset returns an index without the thread's X coordinate, if the rest is the same
// for the row.
func (f *facts) offset(x ir.Expr) (ir.Expr, bool) {
	switch x := x.(type) {
	case *ir.ThreadValue:
		if x.Op == ir.ThreadIdxX {
			return ir.IntConst(ir.TInt, 0), true
		}
	case *ir.Load:
		if p, ok := x.Place.(*ir.VarPlace); ok && f.local(p.Var) == perThread {
			return f.offset(f.source[p.Var])
		}
	case *ir.Intrinsic:
		if c, index, ok := f.clamp(x); ok {
			offset, ok := f.offset(index)
			if ok && f.found != nil {
				c.offset = offset
				*f.found = append(*f.found, c)
			}
			return offset, ok
		}
	case *ir.Binary:
		if x.X.Type().Kind != ir.Int {
			return nil, false
		}
		switch {
		case x.Op == ir.Add && f.level(x.X) <= perRow:
			if o, ok := f.offset(x.Y); ok {
				return sum(ir.Add, x.X, o), true
			}
		case (x.Op == ir.Add || x.Op == ir.Sub) && f.level(x.Y) <= perRow:
			if o, ok := f.offset(x.X); ok {
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

// hasWindow reports whether the threads of a row use adjacent elements of one slice, or
// of one array that all of them share.
func (f *facts) hasWindow(p ir.Place) bool {
	var index ir.Expr
	switch p := p.(type) {
	case *ir.ElemPlace:
		if f.level(p.Slice) > perRow {
			return false
		}
		index = p.Index
	case *ir.IndexPlace:
		if !f.ofRow(p.X) {
			return false
		}
		index = p.Index
	default:
		return false
	}
	if index.Type().Kind != ir.Int {
		return false
	}
	_, ok := f.offset(index)
	return ok
}

// ofRow reports whether a place is the same part of shared memory for the whole row.
func (f *facts) ofRow(p ir.Place) bool {
	switch p := p.(type) {
	case *ir.SharedPlace:
		return p.Var.Type.Kind != ir.Slice
	case *ir.DerefPlace:
		v, ok := ir.Variable(p.Ptr)
		return ok && f.shared[v] != nil
	case *ir.FieldPlace:
		return f.ofRow(p.X)
	case *ir.IndexPlace:
		return p.Index.Type().Kind == ir.Int && f.level(p.Index) <= perRow && f.ofRow(p.X)
	}
	return false
}

// window prints an element of the part of a slice or array that the row uses, if the
// current code has windows.
func (e *emitter) window(p ir.Place) string {
	w := e.windows
	if w == nil {
		return ""
	}
	if e.facts.isFixed(p) {
		e.requireFixed(p)
		return ""
	}
	if !e.facts.hasWindow(p) {
		return ""
	}
	switch p := p.(type) {
	case *ir.ElemPlace:
		slice := e.expr(p.Slice, precPrimary)
		if w.full > 0 {
			return e.element(slice, "len("+slice+")", p.Type(), p.Index)
		}
		return e.sideBySide(slice, "len("+slice+")", p.Index)
	case *ir.IndexPlace:
		length := strconv.FormatInt(p.X.Type().Len, 10)
		if w.full == 0 {
			e.requireRow(p.X)
			return e.sideBySide(e.base(p.X), length, p.Index)
		}
		if outer, ok := p.X.(*ir.IndexPlace); ok && !inRange(outer) {
			return e.elementOfRow(outer, p)
		}
		e.requireRow(p.X)
		return e.element(e.base(p.X), length, p.Type(), p.Index)
	}
	return ""
}

// limit returns how many threads of the row run.
func (w *windows) limit() string {
	if w.full > 0 {
		return strconv.FormatInt(w.full, 10)
	}
	return w.count
}

// group contains windows of one slice or array whose offsets differ by constants. It is
// an array of known length, so the Go compiler needs neither checks nor one pointer per
// window.
type group struct {
	name     string
	min, max int64
}

// member returns the group for the key, and its window's position in the group.
func (w *windows) member(e *emitter, key string, c int64) (g *group, at int64) {
	g = w.groups[key]
	if g == nil {
		g = &group{min: c, max: c}
		w.groups[key] = g
	}
	if w.scanning {
		g.min, g.max = min(g.min, c), max(g.max, c)
	}
	return g, c - g.min
}

// element prints the thread's element of a slice or array with the given length and
// element type.
func (e *emitter) element(slice, length string, elem *ir.Type, index ir.Expr) string {
	w := e.windows
	offset, _ := e.facts.offset(index)
	base, c := splitConst(offset)
	g, at := w.member(e, slice+"["+e.printed(base), c)
	if g.name == "" && !w.scanning {
		e.declareGroup(g, base, slice, length, w.full+g.max-g.min, fmt.Sprintf("[%d]%s", w.full+g.max-g.min, e.typ(elem)))
	}
	s := g.name + "[" + e.coordinate(ir.ThreadIdxX)
	if at > 0 {
		s += " + " + strconv.FormatInt(at, 10)
	}
	return s + "]"
}

// elementOfRow prints the thread's element in a row of an array of arrays.
func (e *emitter) elementOfRow(outer, p *ir.IndexPlace) string {
	w := e.windows
	offset, _ := e.facts.offset(p.Index)
	within, isConst := constant(offset)
	if !isConst || within.Int64() < 0 || within.Int64()+w.full > p.X.Type().Len {
		e.requireRow(p.X)
		return e.element(e.base(p.X), strconv.FormatInt(p.X.Type().Len, 10), p.Type(), p.Index)
	}
	base, c := splitConst(outer.Index)
	e.requireRow(outer.X)
	array := e.base(outer.X)
	g, at := w.member(e, array+"["+e.printed(base)+"][", c)
	if g.name == "" && !w.scanning {
		rows := g.max - g.min + 1
		e.declareGroup(g, base, array, strconv.FormatInt(outer.X.Type().Len, 10), rows, fmt.Sprintf("[%d]%s", rows, e.typ(outer.Type())))
	}
	s := fmt.Sprintf("%s[%d][%s", g.name, at, e.coordinate(ir.ThreadIdxX))
	if n := within.Int64(); n > 0 {
		s += " + " + strconv.FormatInt(n, 10)
	}
	return s + "]"
}

// declareGroup declares a group of n elements of a slice or array as a pointer to an
// array of type typ.
func (e *emitter) declareGroup(g *group, base ir.Expr, slice, length string, n int64, typ string) {
	w := e.windows
	g.name = e.names.fresh("row")
	start := sum(ir.Add, base, ir.IntConst(ir.TInt, g.min))
	if g.min < 0 {
		start = &ir.Binary{Op: ir.Sub, X: base, Y: ir.IntConst(ir.TInt, -g.min)}
	}
	from := e.value(start, ir.TInt, precOr)
	e.notNegative(start, w)
	at, isConst := constant(start)
	if total, err := strconv.ParseInt(length, 10, 64); !isConst || err != nil || at.Int64()+n > total {
		w.require(fmt.Sprintf("%d <= %s", n, e.difference(length, start)))
	}
	w.decls = append(w.decls, fmt.Sprintf("%s := (*%s)(%s[%s:])", g.name, typ, slice, from))
}

// printed returns the text of an expression, which identifies equal expressions.
func (e *emitter) printed(x ir.Expr) string { return e.value(x, ir.TInt, precOr) }

// splitConst splits x into a part and a constant added to it.
func splitConst(x ir.Expr) (ir.Expr, int64) {
	if c, ok := constant(x); ok {
		return ir.IntConst(ir.TInt, 0), c.Int64()
	}
	if b, ok := x.(*ir.Binary); ok && (b.Op == ir.Add || b.Op == ir.Sub) {
		if c, ok := constant(b.Y); ok {
			inner, n := splitConst(b.X)
			if b.Op == ir.Sub {
				return inner, n - c.Int64()
			}
			return inner, n + c.Int64()
		}
	}
	return x, 0
}

// sideBySide prints the thread's element of the slice or array with the given length;
// index is an offset plus the thread's X coordinate.
func (e *emitter) sideBySide(slice, length string, index ir.Expr) string {
	w := e.windows
	offset, _ := e.facts.offset(index)
	from := e.value(offset, ir.TInt, precOr)
	if w.first != "" {
		from = w.first
		if c, ok := constant(offset); !ok || c.Bits != 0 {
			from = e.value(offset, ir.TInt, precAdd) + " + " + w.first
		}
	}
	key := slice + "[" + from + ":]"
	name, ok := w.names[key]
	if !ok {
		name = e.names.fresh("row")
		w.names[key] = name
		if from != w.first {
			w.notNegative(from)
		}
		switch {
		case from == "0":
			key = slice
			w.require(w.count + " <= " + length)
		case strings.Contains(from, " "):
			w.require(w.count + " <= " + length + " - (" + from + ")")
		default:
			w.require(w.count + " <= " + length + " - " + from)
		}
		w.decls = append(w.decls, fmt.Sprintf("%s := %s[:%s]", name, key, w.count))
	}
	if w.first != "" {
		return name + "[" + w.lane + "]"
	}
	return name + "[" + e.coordinate(ir.ThreadIdxX) + "]"
}

// requireRow adds the condition that a part of shared memory exists to the fast form.
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
