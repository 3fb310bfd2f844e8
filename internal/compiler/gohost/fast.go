package gohost

import (
	"fmt"
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
	next     string            // the first thread that the loop runs, less first; "" if it is 0
	lane     string            // the loop's variable if first is set: the number of the thread, less first
	full     int64             // the number of threads if known: a whole row of declared length
	groups   map[string]*group // by slice and variable part of the offset, if full is known
	scanning bool              // groups are being collected
	names    map[string]string // by slice and offset
	decls    []string
	cuts     [][2]string // names and declarations of parts of variables' rows
	required []string    // conditions for the elements to exist
	seen     map[string]bool
	never    bool    // a group does not fit in its array
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
	found, gains := e.facts.gain(rest)
	if len(clamps) == 0 && (!found && len(guards) == 0 || !gains) {
		return nil, false
	}

	w := &windows{
		names: map[string]string{}, seen: map[string]bool{}, groups: map[string]*group{},
		stores: e.storesOf(rest),
	}
	width := e.rowThreads()
	var near, skip, innerFirsts, innerEnds []string
	var skipPos ir.Pos
	skipFails, far := false, false
	firsts, ends := []string{"0"}, []string{width}
	limit := func(b bounds, firsts, ends *[]string) {
		for _, x := range [...]ir.Expr{b.top, b.offset, b.limit} {
			if x == nil {
				continue
			}
			far = far || isFar(x)
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
	if far {
		return nil, false
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
	var several *text
	if len(clamps) == 0 {
		if p := e.loopsAbreast(g, rest); p != nil {
			several, w.next = e.abreast(g, rest, p)
		}
	}
	loop := e.threads(g, rest, w.limit(), fails)
	if several != nil && loop != nil {
		several.splice(loop)
		loop = several
	}
	restore()
	e.windows, e.facts.safe, e.facts.clamps = nil, nil, false
	if loop == nil || w.never {
		return nil, false
	}

	t := &text{}
	if len(skip) > 0 {
		if skipFails {
			t.add("r.ThreadIdx.X = 0")
		}
		t.at(skipPos, skipFails, "if !(%s) {", strings.Join(skip, " && "))
		t.add("\t%s", e.rowEnd())
		t.add("}")
	}
	if len(clamps) > 0 {
		e.edges = &edges{e.names.fresh("next"), e.names.fresh("end"), e.names.fresh("ran"), e.names.fresh("ranEnd")}
		t.add("%s, %s, %s, %s := 0, %s, 0, 0", e.edges.next, e.edges.end, e.edges.ran, e.edges.ranEnd, width)
	}
	if len(near) > 0 {
		t.add("if %s {", e.ofRegion(near))
		t.depth++
	}
	start, end := "0", count
	if w.full == 0 {
		if first != "" {
			start, end = first, first+" + "+count
			e.early(t, first, extreme("max", firsts))
			e.early(t, count, extreme("min", ends)+" - "+first)
		} else {
			e.early(t, count, extreme("min", ends))
		}
	}
	if bounded {
		t.add("if %s <= 0 {", count)
		t.add("\t%s", e.rowEnd())
		t.add("}")
	}
	if len(clamps) > 0 {
		t.add("%s, %s = %s, %s", e.edges.next, e.edges.end, start, end)
		e.early(t, w.first, extreme("max", append(innerFirsts, start)))
		e.early(t, w.count, extreme("min", append(innerEnds, end))+" - "+w.first)
		w.required = append([]string{w.count + " > 0"}, w.required...)
	}
	always = e.guard(w, t, loop, count) && len(near) == 0
	if len(near) > 0 {
		t.depth--
		t.add("}")
	}
	return t, always
}

// minGain is the work, in nodes, for each access or condition without a check up to which a fast
// form is generated: it would double the text of a region and save about a hundredth of its time.
const minGain = 64

// maxNested is the size in nodes up to which a body with nested loops is small.
const maxNested = 256

// gain reports whether the threads of a row access adjacent elements in a body, and whether their
// checks, and those of the guards, take a noticeable part of its time. In a small body with nested
// loops they do, because their variables take registers of the inner loop.
func (f *facts) gain(body []ir.Stmt) (found, gains bool) {
	count := 0
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if f.hasWindow(p) {
			count++
		}
		return true
	}}
	v.Body(body)
	small := nodes(body) <= maxNested
	inner := ir.Visitor{
		Place: func(p ir.Place) bool {
			gains = gains || f.hasWindow(p)
			return !gains
		},
		Stmt: func(s ir.Stmt) bool {
			_, nested := s.(*ir.Loop)
			gains = gains || nested && small
			return !gains
		},
	}
	outer := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		l, ok := s.(*ir.Loop)
		if ok {
			inner.Body(slices.Concat(l.Pre, l.Body, l.Post))
		}
		return !ok && !gains
	}}
	outer.Body(body)
	return count > 0, gains || work(body) <= minGain*(count+2)
}

// work estimates the nodes that a thread runs at least, with a few iterations of loops.
func work(body []ir.Stmt) int {
	const iterations = 4
	n := 0
	for _, s := range body {
		switch s := s.(type) {
		case *ir.If:
			n += min(work(s.Then), work(s.Else)) + 1
		case *ir.Block:
			n += work(s.Body)
		case *ir.Loop:
			n += iterations * (work(s.Pre) + work(s.Body) + work(s.Post) + 1)
		default:
			n += nodes([]ir.Stmt{s})
		}
	}
	return n
}

// fastLanes is like fastThreads for the lanes of a whole warp, or those below a limit.
func (e *emitter) fastLanes(g *region) (_ *text, always bool) {
	limit, rest := e.firstLanes(g.stmts)
	if _, _, isOnly := e.onlyLane(rest); isOnly || !e.wholeWarps() || nodes(rest) > maxFast {
		return nil, false
	}
	e.facts.lanes = true
	defer func() { e.facts.lanes = false }()
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		found = found || e.facts.hasWindow(p)
		return !found
	}}
	v.Body(rest)
	if !found {
		return nil, false
	}
	count := e.names.fresh("count")
	w := &windows{
		count: count, names: map[string]string{}, seen: map[string]bool{}, groups: map[string]*group{},
		stores: e.storesOf(rest),
	}
	if limit == "" {
		w.full = int64(e.declaredRow())
	}
	e.windows, e.facts.safe = w, e.facts.isSafe
	fails := e.facts.mayFault(rest)
	if w.full > 0 {
		w.scanning = true
		e.threads(g, rest, w.limit(), fails)
		w.scanning = false
	}
	restore := e.cutRows(g, w)
	loop := e.threads(g, rest, w.limit(), fails)
	restore()
	e.windows, e.facts.safe = nil, nil
	if loop == nil || w.never {
		return nil, false
	}
	t := &text{}
	if w.full > 0 {
		return t, e.guard(w, t, loop, count)
	}
	if limit == "" {
		t.add("%s := %s", count, e.rowLength())
	} else {
		t.add("%s := min(%s, %s)", count, e.rowLength(), limit)
		t.add("if %s <= 0 {", count)
		t.add("\t%s", e.rowEnd())
		t.add("}")
	}
	return t, e.guard(w, t, loop, count)
}

// early declares a variable in t, or before the loops over the rows if its value is the
// same for all rows.
func (e *emitter) early(t *text, name, value string) {
	if !e.sameForRows(value) {
		e.sections[perRow].names[name] = true
		t.add("%s := %s", name, value)
		return
	}
	e.sections[perRegion].declare(name, name+" := "+value)
	if !e.allRows {
		e.outer(name, "int")
	}
}

// sameForRows reports whether a text has the same value for all rows of the block, and
// there may be many.
func (e *emitter) sameForRows(text string) bool {
	if b := e.kernel.Options.Block; e.wide || b[0] > 0 && b[1]*b[2] <= 1 {
		return false
	}
	own := map[string]bool{}
	for _, op := range [...]ir.ThreadOp{ir.ThreadIdxX, ir.ThreadIdxY, ir.ThreadIdxZ} {
		own[e.names.of[op]] = true
	}
	return !slices.ContainsFunc(identifiers(text), func(name string) bool {
		for s := e.sections[perRow]; s != nil; s = s.outer {
			if s.names[name] {
				return true
			}
		}
		return own[name]
	})
}

// ofRegion joins conditions. Those that are the same for all rows are tested once.
func (e *emitter) ofRegion(conditions []string) string {
	var same, own []string
	for _, c := range conditions {
		if e.sameForRows(c) {
			same = append(same, c)
		} else {
			own = append(own, c)
		}
	}
	if len(same) > 1 {
		same = []string{e.sections[perRegion].value("same", "bool", strings.Join(same, " && "))}
	}
	return strings.Join(append(same, own...), " && ")
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
func (e *emitter) guard(w *windows, t, loop *text, count string) (always bool) {
	if len(w.required) > 0 {
		t.add("if %s {", e.ofRegion(w.required))
		t.depth++
	}
	cut := &text{}
	cut.splice(loop)
	cut.keepUsed(w.cuts)
	for _, d := range w.decls {
		t.add("%s", d)
	}
	t.splice(cut)
	if left := e.edges; left != nil {
		t.add("if %s == %s {", w.count, count)
		t.add("\t%s", e.rowEnd())
		t.add("}")
		t.add("%s, %s = %s, %s+%s", left.ran, left.ranEnd, w.first, w.first, w.count)
	} else if len(w.required) > 0 || t.depth > 0 { // something follows
		t.add("%s", e.rowEnd())
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
		to := f.pointee(p)
		return to != nil && f.ofRow(to) && f.addressLevel(to) <= perRow
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
	if e.beside != nil {
		if s := e.beside.element(e, p); s != "" {
			return s
		}
	}
	if e.facts.isFixed(p) {
		e.requireFixed(p)
		return ""
	}
	if !e.facts.hasWindow(p) {
		if e.facts.isFixedInWindow(p) {
			e.requireIndex(p.(*ir.IndexPlace))
		}
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
		if e.facts.inRow(p, w.full) {
			return "" // the Go compiler knows as much
		}
		if outer, ok := p.X.(*ir.IndexPlace); ok && !e.facts.inRange(outer) {
			return e.elementOfRow(outer, p)
		}
		e.requireRow(p.X)
		return e.element(e.base(p.X), length, p.Type(), p.Index)
	}
	return ""
}

// inRow reports whether an array of fixed place has an element for each of n threads.
func (f *facts) inRow(p *ir.IndexPlace, n int64) bool {
	offset, _ := f.offset(p.Index)
	c, ok := constant(offset)
	if !ok || c.Int64() < 0 || c.Int64()+n > p.X.Type().Len {
		return false
	}
	for x := p.X; ; {
		switch q := x.(type) {
		case *ir.FieldPlace:
			x = q.X
			continue
		case *ir.IndexPlace:
			if i, ok := constant(q.Index); !ok || i.Bits >= uint64(q.X.Type().Len) {
				return false
			}
			x = q.X
			continue
		}
		return true
	}
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
	s := g.name + "[" + e.inRow()
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
	s := fmt.Sprintf("%s[%d][%s", g.name, at, e.inRow())
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
		w.never = w.never || isConst && err == nil
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
	at := e.inRow()
	if e.facts.element != nil {
		at = e.names.of[e.facts.element]
	}
	return name + "[" + at + "]"
}

// requireRow adds the condition that a part of shared memory exists to the fast form.
func (e *emitter) requireRow(p ir.Place) {
	switch p := p.(type) {
	case *ir.FieldPlace:
		e.requireRow(p.X)
	case *ir.IndexPlace:
		e.requireRow(p.X)
		e.requireIndex(p)
	}
}

// requireIndex adds the condition that an array has an element to the fast form.
func (e *emitter) requireIndex(p *ir.IndexPlace) {
	if !e.facts.inRange(p) {
		e.notNegative(p.Index, e.windows)
		e.windows.require(fmt.Sprintf("%s < %d", e.value(p.Index, ir.TInt, precCompare+1), p.X.Type().Len))
	}
}
