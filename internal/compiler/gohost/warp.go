package gohost

import (
	"fmt"
	"maps"
	"strings"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// collective is a warp operation. It runs on the values that the threads have stored in
// scratch memory.
type collective struct {
	stmt  *ir.Warp
	value *ir.Local // each thread's operand; nil if there is none
	lane  ir.Expr   // source lane of a shuffle, if the same for all threads, or
	lanes *ir.Local // the lane that each thread reads

	fragments []*ir.Local // of a matrix operation, instead of value
}

// warps is a loop over the warps of the block. Each warp runs all items before the next
// one starts. It replaces statements with warp operations that not all warps reach.
type warps struct{ items []item }

func (*collective) item() {}
func (*warps) item()      {}

// isCollective reports whether threads synchronize at a statement.
func isCollective(s ir.Stmt) bool { return isBarrier(s) || opt.IsWarp(s) }

func (c *collective) uses() usage {
	u := usage{map[*ir.Local]bool{}, map[*ir.Local]bool{}}
	if c.lane != nil {
		u = readsOf(c.lane)
	}
	for _, v := range [...]*ir.Local{c.value, c.lanes} {
		if v != nil {
			u.reads[v] = true
		}
	}
	for _, v := range c.fragments {
		u.reads[v] = true
	}
	for _, v := range c.stmt.Dst {
		if v != nil {
			u.writes[v] = true
		}
	}
	return u
}

// newWarpSplitter returns a splitter for a warp's work.
func newWarpSplitter(k *ir.Kernel, f *facts) *splitter {
	s := newSplitterOf(f, opt.AnalyseWarp(k), isCollective)
	s.fn, s.warp = k.Func, true
	s.findControl(k.Func.Body)
	return s
}

// splitWarps splits the regions of a list that contain warp operations.
func (p *plan) splitWarps(k *ir.Kernel, f *facts, list []item) []item {
	var uniform *opt.Uniformity
	var walk func(list []item) []item
	walk = func(list []item) []item {
		for i, it := range list {
			switch it := it.(type) {
			case *control:
				for j := range it.lists {
					it.lists[j] = walk(it.lists[j])
				}
			case *region:
				if !hasStmt(it.stmts, opt.IsWarp) {
					break
				}
				if uniform == nil {
					uniform = opt.AnalyseWarp(k)
				}
				s := newSplitterOf(f, uniform, opt.IsWarp)
				s.fn, s.warp, s.outer = k.Func, true, p.block
				s.findControl(it.stmts)
				s.findOwn(it.stmts, p.mentionedBeside(it))
				list[i] = &warps{s.split(it.stmts, nil)}
				for v := range s.block {
					p.block[v] = true
				}
			}
		}
		return list
	}
	return walk(list)
}

// mentionedBeside returns the variables used by items other than g.
func (p *plan) mentionedBeside(g *region) map[*ir.Local]bool {
	found := map[*ir.Local]bool{}
	add := func(u usage) {
		for v := range u.all() {
			found[v] = true
		}
	}
	var walk func(list []item)
	walk = func(list []item) {
		for _, it := range list {
			switch it := it.(type) {
			case *region:
				if it != g {
					add(uses(it.stmts...))
				}
			case *once:
				add(uses(it.stmt))
			case *collective:
				add(it.uses())
			case *warps:
				walk(it.items)
			case *rows:
				walk(it.items)
			case *rowLoop:
				walk(it.items)
			case *control:
				add(headUses(it.stmt))
				for _, l := range it.lists {
					walk(l)
				}
			}
		}
	}
	walk(p.items)
	return found
}

// headUses returns the variables that the condition of a control statement reads.
func headUses(s ir.Stmt) usage {
	switch s := s.(type) {
	case *ir.If:
		return readsOf(s.Cond)
	case *ir.Loop:
		if s.Cond != nil {
			return readsOf(s.Cond)
		}
	}
	return usage{}
}

// findOwn finds the variables that exist once per warp while it runs the statements:
// they are the same for its threads, are used nowhere else, and need no earlier value.
func (s *splitter) findOwn(body []ir.Stmt, beside map[*ir.Local]bool) {
	for v := range uses(body...).all() {
		if s.uniform.IsUniform(v) && !s.facts.addressed[v] && !s.facts.params[v] && s.facts.local(v) > perBlock &&
			!beside[v] && !s.outer[v] && startsHere(body, v) {
			s.block[v] = true
		}
	}
	s.dropLoads(body)
	for {
		before := len(s.block)
		s.dropAssigned(body, nil)
		if len(s.block) == before {
			return
		}
	}
}

// dropLoads removes the variables that are loaded from memory, and which only regions
// read: a thread's own load is cheaper than the end of a region.
func (s *splitter) dropLoads(body []ir.Stmt) {
	loaded, needed := map[*ir.Local]bool{}, map[*ir.Local]bool{}
	need := func(u usage) { maps.Copy(needed, u.reads) }
	for before := -1; before < len(needed); {
		before = len(needed)
		hasStmt(body, func(t ir.Stmt) bool {
			switch a, ok := t.(*ir.Assign); {
			case s.control[t]:
				need(headUses(t))
			case s.splits(t):
				need(operandsOf(t))
			case ok && s.runsOnce(t):
				v := ir.Root(a.Dst).(*ir.VarPlace).Var
				if loaded[v] = loaded[v] || readsMemory(a.Src); !loaded[v] || needed[v] {
					need(uses(t))
				}
			}
			return false
		})
	}
	for v := range loaded {
		if loaded[v] && !needed[v] {
			delete(s.block, v)
		}
	}
}

// startsHere reports whether a variable is assigned on each entry to the list before
// any statement of the list reads it.
func startsHere(list []ir.Stmt, v *ir.Local) bool {
	for i, t := range list {
		if !uses(t).mentions(v) {
			continue
		}
		if definesFirst(t, v) {
			return true
		}
		if uses(list[i+1:]...).mentions(v) || headUses(t).mentions(v) {
			return false
		}
		inside := 0
		for _, l := range children(t) {
			if uses(l...).mentions(v) {
				inside++
				if !startsHere(l, v) {
					return false
				}
			}
		}
		_, isLoop := t.(*ir.Loop)
		return inside == 1 || !isLoop
	}
	return true
}

// dropResults removes the results of a warp operation from the variables that exist
// once, unless the result is the same for the whole warp.
func (s *splitter) dropResults(t *ir.Warp) {
	if !s.warp {
		s.drop([]ir.Stmt{t})
	}
}

// collective adds a warp operation, preceded by the assignments of the threads'
// operands.
func (s *splitter) collective(l *layout, t *ir.Warp) {
	c := &collective{stmt: t}
	if matrixFunction(t.Op) != "" {
		s.givenMatrices(l, c)
	} else if len(t.Args) > 0 {
		c.value = s.given(l, t.Args[0], t.Pos)
	}
	if t.Op.IsShuffle() {
		if s.fixed(t.Args[1]) {
			c.lane = t.Args[1]
		} else {
			c.lanes = s.given(l, laneOf(t), t.Pos)
		}
	}
	if t.Op == ir.WarpSync {
		l.open = nil
		return
	}
	l.add(c)
}

// given returns the variable that holds each thread's value of x.
func (s *splitter) given(l *layout, x ir.Expr, pos ir.Pos) *ir.Local {
	if v, ok := ir.Variable(x); ok && s.facts.local(v) == varying && !s.facts.params[v] && !s.block[v] && !s.outer[v] && !s.facts.addressed[v] {
		return v
	}
	v := &ir.Local{Name: "given", Type: goType(x), Pos: pos}
	s.fn.Locals = append(s.fn.Locals, v)
	s.facts.read[v] = true
	s.facts.opaque(v)
	l.run(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: x, Pos: pos})
	return v
}

// laneOf returns the number of the lane that a thread reads in a shuffle. A lane that
// does not exist stands for the thread's own.
func laneOf(t *ir.Warp) ir.Expr {
	distance := &ir.Binary{Op: ir.And, X: t.Args[1], Y: ir.IntConst(ir.TInt, ir.WarpSize-1)}
	own := &ir.ThreadValue{Op: ir.LaneID}
	switch t.Op {
	case ir.WarpShuffleUp:
		return &ir.Binary{Op: ir.Sub, X: own, Y: distance}
	case ir.WarpShuffleDown:
		return &ir.Binary{Op: ir.Add, X: own, Y: distance}
	case ir.WarpShuffleXor:
		return &ir.Binary{Op: ir.Xor, X: own, Y: distance}
	}
	return distance
}

// warpNames are the names of the properties of a warp, or of a run of its threads with
// consecutive X, while code for it is generated.
type warpNames struct {
	first, lanes string // number of the first thread in the block, and number of threads
	at, n, x     string // of the run: its first thread and number of threads, and the first thread's X
	lane         string // of the loop over the run
}

// warpLoop prints the loop over the warps of the block.
func (e *emitter) warpLoop(w *warps) {
	names := &warpNames{
		first: e.names.fresh("first"), lanes: e.names.fresh("lanes"),
		at: e.names.fresh("at"), n: e.names.fresh("n"), x: e.names.fresh("startX"), lane: e.names.fresh("lane"),
	}
	label := e.newLabel("warps")
	body, out := &text{}, e.out
	e.warp, e.out = names, body
	e.targets = append(e.targets, target{label: label, loop: true, returns: true})
	e.items(w.items)
	e.targets = e.targets[:len(e.targets)-1]
	e.warp, e.out = nil, out
	threads := e.blockThreads()
	e.out.label(label)
	e.out.add("for %s := 0; %s < %s; %s += %d {", names.first, names.first, threads, names.first, ir.WarpSize)
	e.out.depth++
	if body.mentions(names.lanes) {
		e.out.add("%s := min(%d, %s-%s)", names.lanes, ir.WarpSize, threads, names.first)
	}
	e.out.splice(body)
	e.out.depth--
	e.out.add("}")
}

// blockThreads returns the number of threads of the block.
func (e *emitter) blockThreads() string {
	name := e.names.name(blockThreads{}, "threads")
	e.root.once(blockThreads{}, func(t *text) { t.add("%s := r.BlockDim.Count()", name) })
	return e.outer(name, "int")
}

type blockThreads struct{}

// runs prints the loop over the runs of a warp's threads with consecutive X, around
// what body prints.
func (e *emitter) runs(row *section, fails bool, body func()) {
	w := e.warp
	if e.wholeWarps() {
		e.wholeWarp(row, fails, body)
		return
	}
	dimX := e.coordinate(ir.BlockDimX)
	e.out.add("for %s, %s := %s, 0; %s < %s+%s; %s += %s {", w.at, w.n, w.first, w.at, w.first, w.lanes, w.at, w.n)
	e.out.depth++
	e.out.add("%s := %s %% %s", w.x, w.at, dimX)
	e.out.add("%s = min(%s-%s, %s+%s-%s)", w.n, dimX, w.x, w.first, w.lanes, w.at)
	if e.axes[ir.ThreadIdxY] {
		e.out.add("%s := %s", e.names.of[ir.ThreadIdxY], remainder(w.at+" / "+dimX, e.coordinate(ir.BlockDimY)))
	}
	if e.axes[ir.ThreadIdxZ] {
		e.out.add("%s := %s / (%s * %s)", e.names.of[ir.ThreadIdxZ], w.at, dimX, e.coordinate(ir.BlockDimY))
	}
	if fails {
		e.out.add("r.ThreadIdx.Y, r.ThreadIdx.Z = %s, %s", e.names.of[ir.ThreadIdxY], e.names.of[ir.ThreadIdxZ])
	}
	e.out.splice(row.text)
	body()
	e.out.depth--
	e.out.add("}")
}

// wholeWarps reports whether the current code is for warps of a block of one row.
func (e *emitter) wholeWarps() bool { return e.warp != nil && e.isOneRow() }

// fullWarps reports whether the current code is for warps of a block of one row that all
// have WarpSize threads.
func (e *emitter) fullWarps() bool {
	return e.wholeWarps() && e.kernel.Options.Block[0]%ir.WarpSize == 0
}

// isOneRow reports whether the kernel declares a block of one row.
func (e *emitter) isOneRow() bool {
	b := e.kernel.Options.Block
	return b[0] > 0 && b[1] <= 1 && b[2] <= 1
}

// onlyLane returns the statements that a single lane of a whole warp runs.
func (e *emitter) onlyLane(stmts []ir.Stmt) (lane int64, then []ir.Stmt, ok bool) {
	if len(stmts) != 1 || !e.wholeWarps() {
		return 0, nil, false
	}
	branch, ok := stmts[0].(*ir.If)
	if !ok || len(branch.Else) > 0 {
		return 0, nil, false
	}
	b, ok := branch.Cond.(*ir.Binary)
	if !ok || b.Op != ir.Eq || !isThread(b.X, ir.LaneID) {
		return 0, nil, false
	}
	c, ok := constant(b.Y)
	if !ok || c.Int64() < 0 || c.Int64() >= ir.WarpSize {
		return 0, nil, false
	}
	return c.Int64(), branch.Then, true
}

// firstLanes returns the statements that the lanes below a limit run, and the limit, which
// is the same for all lanes of a whole warp.
func (e *emitter) firstLanes(stmts []ir.Stmt) (limit string, then []ir.Stmt) {
	if len(stmts) != 1 || !e.wholeWarps() {
		return "", stmts
	}
	branch, ok := stmts[0].(*ir.If)
	if !ok || len(branch.Else) > 0 {
		return "", stmts
	}
	b, ok := branch.Cond.(*ir.Binary)
	if !ok || b.Op != ir.Lt || !isThread(b.X, ir.LaneID) || e.facts.level(b.Y) >= perThread || e.facts.exprMayFault(b.Y) {
		return "", stmts
	}
	return e.value(b.Y, ir.TInt, precOr), branch.Then
}

// wholeWarp prints what body prints for a warp in a block of one row.
func (e *emitter) wholeWarp(row *section, fails bool, body func()) {
	w := e.warp
	e.out.add("{")
	e.out.depth++
	e.out.add("%s, %s, %s := %s, %s, %s", w.at, w.n, w.x, w.first, w.lanes, w.first)
	e.out.add("_, _, _ = %s, %s, %s", w.at, w.n, w.x)
	for _, op := range [...]ir.ThreadOp{ir.ThreadIdxY, ir.ThreadIdxZ} {
		if e.axes[op] {
			e.out.add("%s := 0 // no constant, by which Go would not divide", e.names.of[op])
			e.out.add("_ = %s", e.names.of[op])
		}
	}
	if fails {
		e.out.add("r.ThreadIdx.Y, r.ThreadIdx.Z = 0, 0")
	}
	e.out.splice(row.text)
	body()
	e.out.depth--
	e.out.add("}")
}

// remainder prints x modulo n.
func remainder(x, n string) string {
	if n == "1" {
		return "0"
	}
	return x + " % " + n
}

// warpCoordinate returns a coordinate that is the same for the warp.
func (e *emitter) warpCoordinate(op ir.ThreadOp) string {
	first := e.warp.first
	switch op {
	case ir.ThreadIdxY:
		return "(" + remainder(first+" / "+e.coordinate(ir.BlockDimX), e.coordinate(ir.BlockDimY)) + ")"
	case ir.ThreadIdxZ:
		return fmt.Sprintf("(%s / (%s * %s))", first, e.coordinate(ir.BlockDimX), e.coordinate(ir.BlockDimY))
	}
	return noCoordinate // uniform only because it is the only one
}

var collectiveFunctions = map[ir.WarpOp]string{
	ir.WarpShuffle: "Shuffle", ir.WarpShuffleUp: "ShuffleUp", ir.WarpShuffleDown: "ShuffleDown", ir.WarpShuffleXor: "ShuffleXor",
	ir.WarpBallot: "Ballot", ir.WarpAny: "Any", ir.WarpAll: "All", ir.WarpMatchAny: "MatchAny", ir.WarpMatchAll: "MatchAll",
	ir.WarpReduceAdd: "ReduceAdd", ir.WarpReduceMin: "ReduceMin", ir.WarpReduceMax: "ReduceMax",
	ir.WarpReduceAnd: "ReduceAnd", ir.WarpReduceOr: "ReduceOr", ir.WarpReduceXor: "ReduceXor",
	ir.WarpScanAdd: "ScanAdd", ir.WarpScanExclusive: "ScanExclusiveAdd",
}

// collective prints a warp operation, in all warps of the block or in the current one.
func (e *emitter) collective(c *collective) {
	if sum := e.warpSum(c); sum != "" {
		e.out.at(c.stmt.Pos, false, "%s", sum)
		return
	}
	var args []string
	var after []string
	wanted := false
	for _, v := range c.stmt.Dst {
		switch {
		case c.stmt.Op.IsShuffle() && len(args) > 0: // whether the lane exists
			continue
		case !e.wants(v):
			args = append(args, "nil")
			continue
		case e.plan.block[v]:
			one := e.names.name(oneOf{v}, v.Name+"Of")
			e.root.once(oneOf{v}, func(t *text) { t.add("var %s [1]%s", one, e.typ(v.Type)) })
			args = append(args, one+"[:]")
			after = append(after, fmt.Sprintf("%s = %s[0]", e.assigned(v), one))
		default:
			args = append(args, e.ofWarp(v))
		}
		wanted = true
	}
	if !wanted {
		return
	}
	if c.stmt.Op.IsGroupMMA() { // many results: one argument
		args = []string{"[][]" + e.typ(c.stmt.Op.MMASum()) + "{" + strings.Join(args, ", ") + "}"}
	}
	name := collectiveFunctions[c.stmt.Op]
	if matrix := matrixFunction(c.stmt.Op); matrix != "" {
		name = matrix
		for _, v := range c.fragments {
			args = append(args, e.ofWarp(v))
		}
	} else {
		args = append(args, e.ofWarp(c.value))
	}
	switch {
	case c.lane != nil:
		args = append(args, e.value(c.lane, ir.TInt, precOr))
	case c.lanes != nil:
		name = "Gather"
		args = append(args, e.ofWarp(c.lanes))
	}
	e.out.at(c.stmt.Pos, false, "%s(%s)", e.member(hostPath, name), strings.Join(args, ", "))
	for _, s := range after {
		e.out.add("%s", s)
	}
}

// warpSum prints a sum over the current warp as the assignment of one value, or returns ""
// if the warp may have fewer threads or does not need the value only once.
func (e *emitter) warpSum(c *collective) string {
	if c.stmt.Op != ir.WarpReduceAdd || !e.fullWarps() {
		return ""
	}
	v := c.stmt.Dst[0]
	if !e.wants(v) || !e.plan.block[v] {
		return ""
	}
	return fmt.Sprintf("%s = %s((*[%d]%s)(%s[%s:]))", e.assigned(v), e.member(hostPath, "Sum"), ir.WarpSize, e.typ(c.value.Type), e.scratch(c.value), e.warp.first)
}

type oneOf struct{ v *ir.Local }

// ofWarp returns the part of a scratch slice that the current code uses.
func (e *emitter) ofWarp(v *ir.Local) string {
	s := e.scratch(v)
	if e.warp != nil {
		return fmt.Sprintf("%s[%s:][:%s]", s, e.warp.first, e.warp.lanes)
	}
	return s
}
