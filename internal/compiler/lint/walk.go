package lint

import (
	"maps"
	"strings"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// walker simulates one warp of a kernel.
type walker struct {
	kernel   *ir.Kernel
	uniform  *opt.Uniformity // values that the threads of a warp have in common for other reasons
	threads  map[ir.ThreadOp]value
	env      map[*ir.Local]value
	sets     int                // number of assignments so far
	slices   map[*ir.Local]part // what local slices refer to
	active   uint32             // lanes that may be active
	left     map[exit]uint32
	record   bool // record accesses: loop variables are stable
	weight   int  // multiplier for the cost of the current code
	padding  int64
	data     conditions
	accesses []access
	branches []branch
	atomics  []atomic
}

// access is one access of the warp.
type access struct {
	place  ir.Place
	pos    ir.Pos
	object any // variable of the slice, or shared variable
	at     value
	padded value // the same if rows of a shared array were one element longer
	bytes  int64
	store  bool
	active uint32
	weight int
}

// atomic is an atomic operation of the warp.
type atomic struct {
	s      *ir.Atomic
	object any
	at     value
	active uint32
}

// conditions are the enclosing conditions on data, for which the active threads are
// unknown.
type conditions struct {
	depth int           // number of enclosing conditions
	left  map[exit]bool // where some of the threads have gone
}

func (c *conditions) some() bool { return c.depth > 0 || len(c.left) > 0 }

// exit is the target of a jump: the end of the labelled statement, or of an iteration
// of it, or without a label the end of the thread.
type exit struct {
	label     *ir.Label
	iteration bool
}

// branch is a condition in which the lanes of a warp may diverge.
type branch struct {
	s     *ir.If
	cond  ir.Expr
	taken uint32 // lanes for which it holds, if known
	known bool
}

const allLanes = 1<<32 - 1

func walk(k *ir.Kernel) *walker {
	w := &walker{
		kernel: k, uniform: opt.AnalyseWarp(k), env: map[*ir.Local]value{}, slices: map[*ir.Local]part{},
		active: allLanes, left: map[exit]uint32{}, record: true, weight: 1, data: conditions{left: map[exit]bool{}},
	}
	w.threads = coordinates(k)
	for _, p := range k.Func.Params {
		w.env[p] = same(p.Name, unaligned)
	}
	w.body(k.Func.Body)
	return w
}

// block returns the block shape assumed for a kernel.
func block(k *ir.Kernel) [3]int64 {
	if d := k.Options.Block; d[0] > 0 {
		return [3]int64{int64(d[0]), int64(max(d[1], 1)), int64(max(d[2], 1))}
	}
	deep := [3]int64{256, 1, 1}
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if t, ok := e.(*ir.ThreadValue); ok {
			switch t.Op {
			case ir.ThreadIdxY, ir.BlockIdxY, ir.BlockDimY:
				if deep[2] == 1 {
					deep = [3]int64{32, 8, 1}
				}
			case ir.ThreadIdxZ, ir.BlockIdxZ, ir.BlockDimZ:
				deep = [3]int64{32, 4, 2}
			}
		}
		return true
	}}
	v.Body(k.Func.Body)
	return deep
}

// coordinates returns the coordinates of the lanes in the second warp of a block.
func coordinates(k *ir.Kernel) map[ir.ThreadOp]value {
	shape := block(k)
	first := int64(32)
	if shape[0]*shape[1]*shape[2] <= 32 {
		first = 0
	}
	var x, y, z, lane value
	for i := range int64(32) {
		n := first + i
		x.lane[i], y.lane[i], z.lane[i], lane.lane[i] = n%shape[0], n/shape[0]%shape[1], n/shape[0]/shape[1], i
	}
	m := map[ir.ThreadOp]value{
		ir.ThreadIdxX: x, ir.ThreadIdxY: y, ir.ThreadIdxZ: z, ir.LaneID: lane, ir.WarpID: constant(first / 32),
	}
	for i, name := range []string{"BlockIdx.X", "BlockIdx.Y", "BlockIdx.Z"} {
		v := same(name, unaligned)
		v.block = true
		m[ir.BlockIdxX+ir.ThreadOp(i)] = v
	}
	for i, name := range []string{"GridDim.X", "GridDim.Y", "GridDim.Z"} {
		m[ir.GridDimX+ir.ThreadOp(i)] = same(name, unaligned)
	}
	for i, name := range []string{"BlockDim.X", "BlockDim.Y", "BlockDim.Z"} {
		v := constant(shape[i])
		if k.Options.Block[0] == 0 {
			v = same(name, map[bool]int64{true: 32, false: unaligned}[i == 0])
		}
		m[ir.BlockDimX+ir.ThreadOp(i)] = v
	}
	return m
}

func (w *walker) body(list []ir.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *walker) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Assign:
		v := w.value(s.Src)
		if p, ok := s.Dst.(*ir.VarPlace); ok {
			if p.Var.Type.Kind == ir.Slice {
				w.slices[p.Var] = w.sliceOf(s.Src)
			}
			w.set(p.Var, v.called(p.Var))
			return
		}
		w.place(s.Dst, true)
	case *ir.If:
		w.branch(s)
	case *ir.Loop:
		w.loop(s)
		w.arrive(exit{label: s.Label})
	case *ir.Block:
		w.body(s.Body)
		w.arrive(exit{label: s.Label})
	case *ir.Break:
		w.leave(exit{label: s.Label})
	case *ir.Continue:
		w.leave(exit{s.Label, true})
	case *ir.Return:
		w.leave(exit{})
	default:
		w.others(s)
	}
}

// set assigns a value to a variable.
func (w *walker) set(v *ir.Local, x value) {
	if x.data && w.uniform.IsUniform(v) {
		x = same("", unaligned).called(v)
		x.block = true
	}
	w.sets++
	x.set = w.sets
	w.env[v] = x
}

// called returns a value as held by a source variable. A value that is computed, or has
// no name, gets the variable's name.
func (v value) called(as *ir.Local) value {
	if v.uniform() && !as.Hidden && (v.name == "" || strings.ContainsAny(v.name, "+-*/%(")) && !v.exact() {
		v.name = as.Shown()
	}
	return v
}

// leave moves the active lanes to an exit.
func (w *walker) leave(to exit) {
	w.left[to] |= w.active
	w.active = 0
	if w.data.depth > 0 {
		w.data.left[to] = true
	}
}

// arrive reactivates the lanes that took an exit.
func (w *walker) arrive(from exit) {
	w.active |= w.left[from]
	delete(w.left, from)
	delete(w.data.left, from)
}

// others visits the expressions and places of a statement without a body.
func (w *walker) others(s ir.Stmt) {
	for e := range ir.Args(s) {
		w.value(*e)
	}
	switch s := s.(type) {
	case *ir.Atomic:
		object, _, at := w.way(s.Place)
		if w.record && object != nil && !w.data.some() {
			w.atomics = append(w.atomics, atomic{s, object, at, w.active})
		}
	case *ir.Memory:
		for i, p := range s.Places {
			w.place(p, s.Op.Writes(i) && !s.Op.IsBulk())
		}
	case *ir.LoadVector:
		w.vector(s.Place, len(s.Dst), false)
	case *ir.StoreVector:
		w.vector(s.Place, len(s.Src), true)
	case *ir.Check:
		w.way(s.Place)
	}
	for v := range ir.Defined(s) {
		w.set(v, unknown())
	}
}

func (w *walker) values(list []ir.Expr) {
	for _, e := range list {
		w.value(e)
	}
}

func (w *walker) branch(s *ir.If) {
	taken, known := w.condition(s.Cond)
	w.value(s.Cond)
	if w.record {
		w.branches = append(w.branches, branch{s, s.Cond, taken, known})
	}
	uniform := known && (taken&w.active == 0 || taken&w.active == w.active) || w.same(s.Cond)
	data := !known && !w.every(s.Cond)
	before, active := w.env, w.active
	arm := func(list []ir.Stmt, lanes uint32) (env map[*ir.Local]value, behind uint32) {
		w.env, w.active = maps.Clone(before), active&lanes
		if data {
			w.data.depth++
			defer func() { w.data.depth-- }()
		}
		w.body(list)
		return w.env, w.active
	}
	then, x := arm(s.Then, taken)
	rest := uint32(allLanes)
	if known {
		rest = ^taken
	}
	other, y := arm(s.Else, rest)
	w.active = x | y
	w.env = before
	for v := range assigned(s) {
		if _, ok := before[v]; !ok {
			continue
		}
		switch { // lanes that have left do not reach what follows
		case x == 0 && y != 0:
			before[v] = other[v]
		case y == 0 && x != 0, then[v].set == other[v].set:
			before[v] = then[v]
		default:
			w.set(v, settled(then, other, v, uniform))
		}
	}
}

// settled returns a variable's value after a branch.
func settled(then, other map[*ir.Local]value, v *ir.Local, uniform bool) value {
	a, b := then[v], other[v]
	if uniform && a.uniform() && b.uniform() && !a.pattern(b) {
		return opaque(a, b).called(v)
	}
	if !uniform && a.uniform() && b.uniform() {
		x, ok := a.constant()
		if y, same := b.constant(); !ok || !same || x != y {
			return unknown()
		}
	}
	return meet(a, b)
}

// loop walks the body until the changed variables are stable, and then once more to
// record accesses.
func (w *walker) loop(s *ir.Loop) {
	changed := assigned(s)
	entry := map[*ir.Local]value{}
	for v := range changed {
		if e, ok := w.env[v]; ok {
			entry[v] = e
			e.base = gcd(e.base, aligned)
			if e.uniform() {
				e.name = ""
				e = e.called(v)
			}
			w.env[v] = e
		}
	}
	record, active := w.record, w.active
	w.record = false
	for range 4 {
		start := maps.Clone(w.env)
		w.iteration(s)
		again := false
		for v := range entry {
			next := meet(start[v], w.env[v])
			if next.data && start[v].uniform() && w.env[v].uniform() {
				next = opaque(start[v], w.env[v])
			}
			again = again || next.data != start[v].data || next.base != start[v].base
			start[v] = next.called(v)
		}
		w.env = start
		w.active = active
		if !again {
			break
		}
	}
	w.record = record
	if record {
		start := maps.Clone(w.env)
		w.iteration(s)
		w.env = start
	}
	w.active = active
	if s.Cond == nil {
		w.active = 0 // lanes leave only by jumps
	}
}

// iteration walks a loop's body once for the lanes that reach its end.
func (w *walker) iteration(s *ir.Loop) {
	w.weight *= iterations
	defer func() { w.weight /= iterations }()
	w.body(s.Pre)
	if s.Cond != nil {
		w.value(s.Cond)
		if _, known := w.condition(s.Cond); !known && !w.every(s.Cond) {
			w.data.depth++
			defer func() { w.data.depth-- }()
		}
	}
	w.body(s.Body)
	w.arrive(exit{s.Label, true})
	w.body(s.Post)
}

// assigned returns the variables that statements assign.
func assigned(s ir.Stmt) map[*ir.Local]bool {
	out := map[*ir.Local]bool{}
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if p, ok := a.Dst.(*ir.VarPlace); ok {
				out[p.Var] = true
			}
		}
		for d := range ir.Defined(s) {
			out[d] = true
		}
		return true
	}}
	v.Body([]ir.Stmt{s})
	return out
}
