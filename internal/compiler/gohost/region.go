package gohost

import (
	"fmt"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// items prints the work of a block.
func (e *emitter) items(list []item) {
	for _, it := range list {
		switch it := it.(type) {
		case *region:
			e.region(it)
		case *once:
			e.faults(e.facts.mayFault([]ir.Stmt{it.stmt}))
			e.stmt(it.stmt)
		case *control:
			e.control(it)
		case *collective:
			e.collective(it)
		case *warps:
			e.warpLoop(it)
		case *rows:
			e.allItems(it.items)
		}
	}
}

// faults prepares for a failure outside the loops over the threads.
func (e *emitter) faults(may bool) {
	switch {
	case may && e.wholeWarps():
		e.out.add("r.ThreadIdx = %s{X: %s}", e.member(kernelPath, "Dim3"), e.warp.first)
	case may && e.warp != nil:
		e.out.add("r.SetThread(%s)", e.warp.first)
	case may:
		e.out.add("r.ThreadIdx = %s{}", e.member(kernelPath, "Dim3"))
	}
}

// control prints a statement whose control flow is the same for all threads.
func (e *emitter) control(c *control) {
	switch s := c.stmt.(type) {
	case *ir.If:
		e.faults(e.facts.exprMayFault(s.Cond))
		e.out.at(s.Pos, e.facts.exprMayFault(s.Cond), "if %s {", e.value(s.Cond, ir.TBool, precOr))
		e.indented(func() { e.items(c.lists[0]) })
		if len(c.lists[1]) > 0 {
			e.out.add("} else {")
			e.indented(func() { e.items(c.lists[1]) })
		}
		e.out.add("}")
	case *ir.Loop:
		e.uniformLoop(s, c)
	case *ir.Block:
		e.breakable(s.Label, true, func() { e.items(c.lists[0]) })
	}
}

func (e *emitter) indented(f func()) {
	e.out.depth++
	f()
	e.out.depth--
}

func (e *emitter) uniformLoop(s *ir.Loop, c *control) {
	pre, body, post := c.lists[0], c.lists[1], c.lists[2]
	t := target{ir: s.Label, label: e.newLabel("loop"), loop: true}
	cond, next := "", ""
	mayFault := s.Cond != nil && e.facts.exprMayFault(s.Cond)
	inHeader := len(pre) == 0 && !mayFault
	if inHeader && s.Cond != nil && !isTrue(s.Cond) {
		cond = e.value(s.Cond, ir.TBool, precOr)
	}
	if len(post) == 1 {
		if o, ok := post[0].(*once); ok {
			if a, ok := o.stmt.(*ir.Assign); ok && !e.skipped(a) && !e.facts.exprMayFault(a.Src) {
				next = e.assignment(a)
				post = nil
			}
		}
	}
	e.out.label(t.label)
	e.out.at(s.Pos, false, "%s", forClause("", cond, next))
	e.targets = append(e.targets, t)
	e.indented(func() {
		e.pollCancel(s)
		e.items(pre)
		if !inHeader && s.Cond != nil {
			e.faults(mayFault)
			e.out.at(s.Pos, e.facts.exprMayFault(s.Cond), "if %s {", e.negation(s.Cond))
			e.out.add("\tbreak")
			e.out.add("}")
		}
		after := s.Post
		if len(post) == 0 {
			after = nil
		}
		e.withPost(s, after, func() { e.items(body) }, func([]ir.Stmt) { e.items(post) })
	})
	e.targets = e.targets[:len(e.targets)-1]
	e.out.add("}")
}

// region prints a region: loops over the threads of the block around its statements.
func (e *emitter) region(g *region) {
	if e.warp == nil {
		e.allItems([]item{g})
		return
	}
	e.axes = [3]bool{}
	out, body := e.out, &text{}
	e.sections[perRegion], e.sections[perRow], e.out = e.newSection(perRegion), e.newSection(perRow), body
	e.facts.inWarp(func() { e.row(g) })
	e.out = out
	e.out.splice(e.sections[perRegion].text)
	e.out.splice(body)
}

// maxShort is the size of the work of a row, in threads times nodes, up to which a
// function runs all rows of the block, because a call per row would take a large part of
// the time.
const maxShort = 5000

// isShort reports whether the rows of a block do little work.
func (e *emitter) isShort(list []item) bool {
	b := e.kernel.Options.Block
	if e.wide || b[0] == 0 || b[1]*b[2] < 2 {
		return false
	}
	isLoop := func(s ir.Stmt) bool { _, ok := s.(*ir.Loop); return ok }
	for _, it := range list {
		if g, ok := it.(*region); !ok || hasStmt(g.stmts, isLoop) || b[0]*nodes(g.stmts) > maxShort {
			return false
		}
	}
	return true
}

// allItems prints the work of all rows of the block.
func (e *emitter) allItems(list []item) {
	e.allRows = e.isShort(list)
	out, body, targets := e.out, &text{}, e.targets
	e.out = body
	if e.allRows {
		e.free, e.targets = newArguments(), nil
	}
	region := e.newSection(perRegion)
	e.sections[perRegion] = region
	e.inRows(list)
	if e.allRows && len(body.lines) > 0 {
		all := &text{depth: 1}
		all.splice(region.text)
		all.splice(body)
		all.dropUnused()
		call := e.rowFunction(all)
		body = &text{}
		body.add("%s", call)
	} else if !e.allRows {
		out.splice(region.text)
	}
	out.splice(body)
	e.out, e.allRows, e.free, e.targets = out, false, nil, targets
}

// row prints the work of a row of threads in a region, or of a warp's runs of threads.
// The innermost loop, over the threads of the row, is a separate function, so that the
// Go compiler keeps in registers what the row needs and not what the whole kernel needs,
// unless the region is brief. It reports whether a thread can fail.
func (e *emitter) row(g *region) (fails bool) {
	free, targets := e.free, e.targets
	if e.allRows {
		e.rowDone = e.newLabel("done")
	} else {
		e.free = newArguments()
	}
	e.dead = e.deadIn(g)
	fails = e.facts.mayFault(g.stmts)
	prologue := &text{depth: 1}
	e.current, e.facts.once = perThread, e.plan.block
	carried := e.carryRows(g)
	isBrief := !e.allRows && e.isBrief(g)
	if isBrief {
		e.free = free
	}
	all := e.threads(g, g.stmts, "", fails)
	if all != nil {
		fast, always := e.flat(g), false
		switch {
		case fast != nil:
		case e.warp == nil:
			fast, always = e.fastThreads(g)
		default:
			fast, always = e.fastLanes(g)
		}
		if fast != nil {
			prologue.splice(fast)
		}
		if e.edges != nil {
			all = e.threads(g, g.stmts, "", fails)
		}
		e.edges = nil
		if !always {
			prologue.splice(all)
		}
		e.rowThreads()
		if fails {
			e.axes = [3]bool{true, true, true}
			e.names.name(ir.ThreadIdxY, threadNames[ir.ThreadIdxY])
			e.names.name(ir.ThreadIdxZ, threadNames[ir.ThreadIdxZ])
		}
	}
	prologue.keepUsed(carried)
	call := ""
	if all != nil && !e.allRows && !isBrief {
		call = e.rowFunction(prologue)
	}
	e.current, e.free, e.targets, e.facts.once, e.dead = perBlock, free, targets, nil, nil
	switch {
	case all == nil:
		return false
	case e.allRows && e.rowDone.used:
		e.out.label(e.rowDone)
		e.out.add("switch {")
		e.out.add("default:")
		e.out.splice(prologue)
		e.out.add("}")
	case e.allRows:
		e.out.add("{")
		e.out.splice(prologue)
		e.out.add("}")
	case isBrief:
		e.runs(e.sections[perRow], fails, func() { e.out.splice(prologue) })
	case e.warp != nil:
		e.runs(e.sections[perRow], fails, func() { e.out.add("%s", call) })
	default:
		e.out.add("%s", call)
	}
	return fails
}

// maxBrief is the size in nodes up to which what a single lane does needs no function.
const maxBrief = 40

// isBrief reports whether a whole warp does so little in a region that calling a function
// would take a large part of the time: one lane runs a few statements, or all lanes clear
// or copy variables that live across barriers.
func (e *emitter) isBrief(g *region) bool {
	if !e.wholeWarps() {
		return false
	}
	if _, then, isOnly := e.onlyLane(g.stmts); isOnly {
		isLoop := func(s ir.Stmt) bool { _, ok := s.(*ir.Loop); return ok }
		return nodes(then) <= maxBrief && !hasStmt(then, isLoop)
	}
	return e.bulk(g, g.stmts) != nil
}

// rowEnd returns the statement that ends a row's work.
func (e *emitter) rowEnd() string {
	if !e.allRows {
		return "return"
	}
	return jump("break", e.rowDone, false)
}

// rowFunction adds a function with the body, whose parameters are in e.free, and returns a call.
func (e *emitter) rowFunction(body *text) string {
	kernel := FuncName(e.kernel.Name)[len("quernHost"):]
	name := fmt.Sprintf("quernRow%d%s", len(e.rows)+1, kernel)
	f := &text{}
	f.add("//go:noinline")
	f.add("func %s(r *%s%s) {", name, e.member(hostPath, "Run"), e.free.signature())
	f.splice(body)
	f.add("}")
	e.rows = append(e.rows, f)
	return fmt.Sprintf("%s(%s)", name, strings.Join(append([]string{"r"}, e.free.values...), ", "))
}

// threads returns the loop over a row of threads that runs the statements of the
// region, or a variant of them; nil if there is nothing to do. The loop ends at limit,
// by default at the row's end.
func (e *emitter) threads(g *region, stmts []ir.Stmt, limit string, fails bool) *text {
	if t := e.bulk(g, stmts); t != nil {
		return t
	}
	only, then, isOnly := e.onlyLane(stmts)
	lanes := ""
	if isOnly {
		stmts = then
	} else if limit == "" {
		if lanes, stmts = e.firstLanes(stmts); lanes != "" {
			limit = fmt.Sprintf("min(%s, %s)", e.rowLength(), lanes)
		}
	}
	t := target{label: e.newLabel("threads"), loop: true, returns: true}
	inner := e.thread(g, stmts, e.plan.private[g], t, fails)
	if inner == nil {
		return nil
	}
	if limit == "" {
		limit = e.rowLength()
	}
	if e.warp != nil && e.axes[ir.ThreadIdxX] && inner.mentions(e.names.of[ir.ThreadIdxX]) {
		start := &text{}
		start.add("%s := %s + %s", e.names.of[ir.ThreadIdxX], e.outer(e.warp.x, "int"), e.warp.lane)
		start.splice(inner)
		inner = start
	}

	if !fails && !isOnly && e.isRow() {
		if t := e.unrolled(stmts, limit, inner); t != nil {
			return t
		}
	}

	loop := &text{}
	loop.label(t.label)
	first := ""
	if e.windows != nil && e.windows.first != "" {
		first = e.windows.lane
	}
	switch {
	case e.windows == nil && e.edges != nil:
		x := e.names.name(ir.ThreadIdxX, threadNames[ir.ThreadIdxX])
		loop.add("for %s := %s; %s < %s; %s++ {", x, e.edges.next, x, e.edges.end, x)
		loop.add("\tif %s == %s && %s < %s {", x, e.edges.ran, e.edges.ran, e.edges.ranEnd)
		loop.add("\t\t%s = %s - 1", x, e.edges.ranEnd)
		loop.add("\t\tcontinue")
		loop.add("\t}")
	case first != "" && e.axes[ir.ThreadIdxX] && inner.mentions(e.names.of[ir.ThreadIdxX]):
		start := &text{}
		start.add("%s := %s + %s", e.names.of[ir.ThreadIdxX], e.windows.first, first)
		start.splice(inner)
		inner = start
		fallthrough
	case first != "" && inner.mentions(first):
		loop.add("%s", e.overRow(first, limit))
	case first != "":
		loop.add("for range %s {", e.left(limit))
	case e.warp == nil && e.axes[ir.ThreadIdxX] && inner.mentions(e.names.of[ir.ThreadIdxX]):
		loop.add("%s", e.overRow(e.names.of[ir.ThreadIdxX], limit))
	case e.warp == nil:
		loop.add("for range %s {", e.left(limit))
	case isOnly:
		loop.add("for %s := %d; %s < min(%d, %s); %s++ {", e.warp.lane, only, e.warp.lane, only+1, limit, e.warp.lane)
	case inner.mentions(e.warp.lane):
		loop.add("for %s := range %s {", e.warp.lane, limit)
	default:
		loop.add("for range %s {", limit)
	}
	loop.depth++
	loop.splice(inner)
	loop.depth--
	loop.add("}")
	return loop
}

// thread returns what a thread does: the statements of the region, or a variant of them, with
// the private variables. The result is nil if there is nothing to do. The statements are in
// the loop t.
func (e *emitter) thread(g *region, stmts []ir.Stmt, private []*ir.Local, t target, fails bool) *text {
	e.scopes = newScopes()
	e.scopes.place(stmts, private)
	ran := &region{stmts: stmts, last: g.last} // a fast form runs only what the guards enclose
	e.defineCarried(ran, stmts)
	thread, body := e.newSection(perThread), &text{}
	e.sections[perThread] = thread
	out, targets := e.out, e.targets
	e.out, e.targets = body, []target{t}
	e.stmts(stmts)
	empty := len(body.lines) == 0
	carried := e.carryIn(ran)
	if !empty {
		e.carryOut(g)
	}
	e.out, e.targets = out, targets
	if empty {
		return nil
	}
	inner := &text{}
	if fails {
		e.axes[ir.ThreadIdxX] = true
		inner.add("r.ThreadIdx.X = %s", e.names.name(ir.ThreadIdxX, threadNames[ir.ThreadIdxX]))
	}
	inner.splice(carried)
	inner.splice(thread.text)
	inner.splice(body)
	return inner
}

// overRow prints the head of a loop over the threads of a row up to limit, all or those
// that are left.
func (e *emitter) overRow(x, limit string) string {
	if e.windows != nil && e.windows.next != "" {
		return fmt.Sprintf("for %s := %s; %s < %s; %s++ {", x, e.windows.next, x, limit, x)
	}
	return fmt.Sprintf("for %s := range %s {", x, limit)
}

// left returns how many threads of a row up to limit the loop runs.
func (e *emitter) left(limit string) string {
	if e.windows != nil && e.windows.next != "" {
		return limit + " - " + e.windows.next
	}
	return limit
}

// isRow reports whether the current loop over threads begins with the first of a row and
// leaves none out.
func (e *emitter) isRow() bool {
	if e.windows != nil {
		return e.windows.first == ""
	}
	return e.edges == nil
}

// rowLength returns the number of threads in the row: all threads along X, or those of
// a warp.
func (e *emitter) rowLength() string {
	if n := e.declaredRow(); n > 0 {
		return strconv.Itoa(n)
	}
	if e.warp != nil {
		return e.outer(e.warp.n, "int")
	}
	return e.rowThreads()
}

// rowStart returns the number in the block of the row's first thread.
func (e *emitter) rowStart() string {
	if e.warp != nil {
		return e.outer(e.warp.at, "int")
	}
	if e.wide {
		return "" // only one row at a time needs the variable
	}
	return e.firstOfRow()
}

// inRow returns the number of the thread in its row.
func (e *emitter) inRow() string {
	if e.warp != nil {
		return e.warp.lane
	}
	if e.windows != nil && e.windows.first != "" {
		return e.windows.lane
	}
	return e.coordinate(ir.ThreadIdxX)
}

// axis prints the head of the loop over an axis of the block around the items.
func (e *emitter) axis(op ir.ThreadOp, list []item) string {
	limit := e.coordinate(op - ir.ThreadIdxX + ir.BlockDimX)
	switch {
	case !e.axes[op]:
		return "for range " + limit + " {"
	case op == ir.ThreadIdxY:
		return e.overRows(e.rowRange(list, limit), e.names.of[op])
	}
	return "for " + e.names.of[op] + " := range " + limit + " {"
}

// deadIn returns the private or carried variables whose assignments in the region have
// no effect.
func (e *emitter) deadIn(g *region) map[*ir.Local]bool {
	u := uses(g.stmts...)
	live := map[*ir.Local]bool{}
	for _, v := range e.plan.carried {
		live[v] = stores(g, u, v) && !e.facts.addressed[v] // addressed variables are live where they are read
	}
	dead := map[*ir.Local]bool{}
	read := e.facts.reads(g.stmts, live)
	for v := range u.all() {
		if !read[v] && !live[v] && !e.plan.block[v] {
			dead[v] = true
		}
	}
	return dead
}

// stores reports whether other regions may need the value that g gives v.
func stores(g *region, u usage, v *ir.Local) bool { return u.writes[v] && !g.last }

// carryRows returns names and declarations of the row's part of the variables that live
// across barriers.
func (e *emitter) carryRows(g *region) (list [][2]string) {
	u := uses(g.stmts...)
	for _, v := range e.plan.carried {
		if e.hasRow(g, u, v) {
			of := e.names.name(rowOf{v}, v.Name+"Row")
			part := from(e.scratch(v), e.rowStart()) + "[:" + e.rowLength() + "]"
			if n := e.declaredRow(); n > 0 {
				part = fmt.Sprintf("(*[%d]%s)(%s)", n, e.typ(v.Type), from(e.scratch(v), e.rowStart()))
			}
			list = append(list, [2]string{of, fmt.Sprintf("%s := %s", of, part)})
		}
	}
	return list
}

// from prints the part of a slice that begins at an index.
func from(slice, index string) string {
	if index == "" || index == "0" {
		return slice
	}
	return slice + "[" + index + ":]"
}

// declaredRow returns the number of threads in the row if the kernel declares it.
func (e *emitter) declaredRow() int {
	if e.fullWarps() {
		return ir.WarpSize
	}
	if e.warp != nil || e.wide {
		return 0
	}
	return e.kernel.Options.Block[0]
}

// hasRow reports whether a region, with its uses u, accesses the stored values of v.
func (e *emitter) hasRow(g *region, u usage, v *ir.Local) bool {
	_, carried := e.plan.scratchID[v]
	return carried && u.mentions(v) && !e.dead[v] && (e.inPlace(v) || stores(g, u, v) || !assignedFirst(g, v))
}

type rowOf struct{ v *ir.Local }

// carryIn loads the thread's values of the variables that are live across barriers.
func (e *emitter) carryIn(g *region) *text {
	t := &text{}
	u := uses(g.stmts...)
	for _, v := range e.plan.carried {
		if !u.mentions(v) || e.dead[v] {
			continue
		}
		name := e.names.name(v, v.Name)
		reads, assigns := readFirst(g.stmts, v)
		if !e.inPlace(v) && !reads && (assigns || !stores(g, u, v)) {
			if !e.scopes.defined[v] {
				t.add("var %s %s", name, e.typ(v.Type))
			}
			continue
		}
		of := ""
		if e.inPlace(v) {
			of = "&"
		}
		t.add("%s := %s%s[%s]", name, of, e.names.of[rowOf{v}], e.inRow())
	}
	return t
}

// defineCarried makes assignments that precede all other uses of variables live across
// barriers declare those variables.
func (e *emitter) defineCarried(g *region, stmts []ir.Stmt) {
	for _, v := range e.plan.carried {
		if e.dead[v] || e.inPlace(v) || !assignedFirst(g, v) {
			continue
		}
		for _, s := range stmts {
			if !uses(s).mentions(v) {
				continue
			}
			if _, ok := s.(*ir.Assign); ok && definesFirst(s, v) {
				e.scopes.defineAt(s, v)
				e.scopes.defined[v] = true
			}
			break
		}
	}
}

// carryOut stores the values changed in the region.
func (e *emitter) carryOut(g *region) {
	u := uses(g.stmts...)
	for _, v := range e.plan.carried {
		if stores(g, u, v) && !e.inPlace(v) {
			e.out.add("%s[%s] = %s", e.names.of[rowOf{v}], e.inRow(), e.names.of[v])
		}
	}
}
