package gohost

import (
	"maps"
	"math"

	"quern.dev/internal/compiler/ir"
)

// level says how often a value must be computed: once per launch, per block, each time
// that the block runs a region, per row of threads along X, or per thread.
type level uint8

const (
	perLaunch level = iota
	perBlock
	perRegion
	perRow
	perThread
	varying // may differ between evaluations
)

// facts describes the variables of a kernel's body.
type facts struct {
	assigned  map[*ir.Local]int     // assignments to the variable as a whole
	source    map[*ir.Local]ir.Expr // of variables with a single assignment
	addressed map[*ir.Local]bool    // its address is taken, or it is sliced
	changed   map[*ir.Local]bool    // assigned in part
	read      map[*ir.Local]bool
	params    map[*ir.Local]bool
	levels    map[*ir.Local]level
	shared    map[*ir.Local]*ir.SharedVar // pointers to shared variables, and dynamic shared memory

	// rows holds loop counters that the threads of a row share because they run the
	// loop in lockstep.
	rows map[*ir.Local]bool
	// once holds variables that keep their value while the current code runs: in a
	// region, the variables of the block.
	once  map[*ir.Local]bool
	costs map[*ir.Local]int // of computing a variable in each thread
	block [3]int            // the declared dimensions
	// clamps says that indices of the thread which are clamped have an offset too. If
	// found is set, it receives the bounds between which they are the clamped index.
	clamps bool
	found  *[]bounds
	// divides says that divisions that may fail have a level too.
	divides bool
	warp    bool // a row consists of threads of one warp
	lanes   bool // rows are the lanes of a warp
	// element, if set, is the number of the element in a loop over the elements that the
	// threads of a row divide.
	element *ir.Local

	// safe, if set, reports elements that are known to be in range.
	safe func(ir.Place) bool
}

func newFacts(k *ir.Kernel) *facts {
	f := &facts{
		assigned: map[*ir.Local]int{}, source: map[*ir.Local]ir.Expr{},
		addressed: map[*ir.Local]bool{}, changed: map[*ir.Local]bool{},
		params: map[*ir.Local]bool{}, levels: map[*ir.Local]level{}, shared: map[*ir.Local]*ir.SharedVar{},
		rows: map[*ir.Local]bool{}, costs: map[*ir.Local]int{}, block: k.Options.Block,
	}
	for _, v := range k.Func.Params {
		f.params[v] = true
	}
	f.scan(k.Func.Body)
	defer func() {
		for v := range f.source {
			f.local(v) // before once is set
		}
	}()
	for v, n := range f.assigned {
		if n != 1 || f.addressed[v] || f.changed[v] || f.params[v] {
			delete(f.source, v)
		}
	}
	f.read = f.reads(k.Func.Body, nil)
	for v, src := range f.source {
		if a, ok := src.(*ir.Addr); ok {
			if s, ok := a.Place.(*ir.SharedPlace); ok {
				f.shared[v] = s.Var
			}
		}
		if s, ok := ir.Dynamic(src); ok {
			f.shared[v] = s
		}
	}
	return f
}

func (f *facts) scan(body []ir.Stmt) {
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				if p, ok := s.Dst.(*ir.VarPlace); ok {
					f.assigned[p.Var]++
					f.source[p.Var] = s.Src
				} else if p, ok := ir.Root(s.Dst).(*ir.VarPlace); ok {
					f.changed[p.Var] = true
				}
			default:
				for d := range ir.Defined(s) {
					f.opaque(d)
				}
				for p := range ir.Targets(s) {
					if p, ok := ir.Root(*p).(*ir.VarPlace); ok {
						f.addressed[p.Var] = true
					}
				}
			}
			return true
		},
		Expr: func(x ir.Expr) bool {
			var p ir.Place
			switch x := x.(type) {
			case *ir.Addr:
				p = x.Place
			case *ir.SliceExpr:
				p = x.Array
			}
			if p != nil {
				if root, ok := ir.Root(p).(*ir.VarPlace); ok {
					f.addressed[root.Var] = true
				}
			}
			return true
		},
	}
	v.Body(body)
}

// reads returns the variables that statements read, except in assignments to variables
// that are neither read nor live afterwards. Anything that the kernel reads through a
// pointer may be read anywhere.
func (f *facts) reads(body []ir.Stmt, live map[*ir.Local]bool) map[*ir.Local]bool {
	found := map[*ir.Local]bool{}
	read := func(p ir.Place) {
		if root, ok := ir.Root(p).(*ir.VarPlace); ok {
			found[root.Var] = true
		}
	}
	assigned := func(v *ir.Local) {
		if f.addressed[v] && f.read[v] {
			found[v] = true
		}
	}
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			for d := range ir.Defined(s) {
				assigned(d)
			}
			switch s := s.(type) {
			case *ir.Assign:
				p, whole := s.Dst.(*ir.VarPlace)
				if whole {
					assigned(p.Var)
				}
				if whole && !found[p.Var] && !live[p.Var] {
					return f.exprMayFault(s.Src)
				}
				if !whole {
					read(s.Dst)
				}
			default:
				for p := range ir.Places(s) {
					read(*p)
				}
			}
			return true
		},
		Expr: func(x ir.Expr) bool {
			switch x := x.(type) {
			case *ir.Load:
				read(x.Place)
			case *ir.Addr:
				read(x.Place)
			case *ir.SliceExpr:
				if x.Array != nil {
					read(x.Array)
				}
			}
			return true
		},
	}
	for before := -1; before < len(found); {
		before = len(found)
		v.Body(body)
	}
	return found
}

// opaque records an assignment whose value is not an expression.
func (f *facts) opaque(v *ir.Local) {
	f.assigned[v] += 2
}

// reassigned reports whether a parameter changes or its address is taken.
func (f *facts) reassigned(v *ir.Local) bool {
	return f.assigned[v] > 0 || f.changed[v] || f.addressed[v]
}

// level returns how often an expression must be computed. Below varying, the expression
// has no side effects or faults and reads no memory that can change, so it can be
// evaluated anywhere.
func (f *facts) level(e ir.Expr) level {
	switch e := e.(type) {
	case nil, *ir.Const, *ir.Zero:
		return perLaunch
	case *ir.Load:
		return f.placeLevel(e.Place)
	case *ir.Unary:
		return f.level(e.X)
	case *ir.Binary:
		if mayFaultBinary(e) && !f.divides {
			return varying
		}
		y := f.level(e.Y) // first: in a sum of many terms, X is all terms but the last
		if y == varying {
			return varying
		}
		return max(f.level(e.X), y)
	case *ir.Convert:
		return f.level(e.X)
	case *ir.Len:
		return f.level(e.X)
	case *ir.Cap:
		return f.level(e.X)
	case *ir.Addr:
		return f.addressLevel(e.Place)
	case *ir.ThreadValue:
		switch {
		case e.Op >= ir.BlockDimX && e.Op <= ir.GridDimZ:
			return perLaunch
		case e.Op >= ir.BlockIdxX && e.Op <= ir.BlockIdxZ:
			return perBlock
		case e.Op == ir.ThreadIdxY || e.Op == ir.ThreadIdxZ, e.Op == ir.WarpID && f.warp:
			return perRow
		}
		return perThread
	case *ir.Intrinsic:
		if e.Op == ir.ClusterAddress { // the other block must have started
			return varying
		}
		return f.highest(e.Args)
	case *ir.Composite:
		return f.highest(e.Elems)
	case *ir.Select:
		return max(f.level(e.Cond), f.level(e.X), f.level(e.Y))
	}
	return varying
}

// inWarp calls do with the knowledge that a row consists of threads of one warp.
func (f *facts) inWarp(do func()) {
	levels := f.levels
	f.levels, f.warp = maps.Clone(levels), true
	maps.DeleteFunc(f.levels, func(_ *ir.Local, l level) bool { return l == perThread })
	do()
	f.levels, f.warp = levels, false
}

// addressLevel returns the level of the address of a place.
func (f *facts) addressLevel(p ir.Place) level {
	switch p := p.(type) {
	case *ir.SharedPlace:
		return perLaunch
	case *ir.DerefPlace:
		if to := f.pointee(p); to != nil {
			return f.addressLevel(to)
		}
	case *ir.FieldPlace:
		return f.addressLevel(p.X)
	case *ir.IndexPlace:
		if f.inRange(p) {
			return max(f.addressLevel(p.X), f.level(p.Index))
		}
	}
	return varying
}

// pointee returns the place whose address the pointer always holds, or nil.
func (f *facts) pointee(p *ir.DerefPlace) ir.Place {
	for x := p.Ptr; ; {
		if a, ok := x.(*ir.Addr); ok {
			return a.Place
		}
		v, ok := ir.Variable(x)
		if !ok || f.source[v] == nil {
			return nil
		}
		x = f.source[v]
	}
}

func (f *facts) highest(list []ir.Expr) level {
	l := perLaunch
	for _, e := range list {
		l = max(l, f.level(e))
	}
	return l
}

func (f *facts) placeLevel(p ir.Place) level {
	switch p := p.(type) {
	case *ir.VarPlace:
		if l := f.local(p.Var); l < varying || !f.once[p.Var] {
			return l
		}
		return perRegion
	case *ir.FieldPlace:
		return f.placeLevel(p.X)
	case *ir.IndexPlace:
		if f.inRange(p) {
			return max(f.placeLevel(p.X), f.level(p.Index))
		}
	case *ir.SharedPlace:
		if p.Var.IsDynamic() { // the slice, not its elements
			return perLaunch
		}
	}
	return varying
}

// local returns how often a variable's value must be computed, if the value is the same
// throughout the kernel.
func (f *facts) local(v *ir.Local) level {
	if f.params[v] {
		if f.reassigned(v) {
			return varying
		}
		return perLaunch
	}
	if f.rows[v] {
		return perRow
	}
	if l, ok := f.levels[v]; ok {
		return l
	}
	f.levels[v] = varying // the level of a variable that depends on itself
	if src := f.source[v]; src != nil {
		f.levels[v] = f.level(src)
	}
	return f.levels[v]
}

// cheap is the maximum weight of a value that a thread computes before it is known to
// be needed.
const cheap = 8

// isCheap reports whether the per-thread part of computing a variable's value is cheap.
func (f *facts) isCheap(v *ir.Local) bool {
	cost, ok := f.costs[v]
	if !ok {
		src := f.source[v]
		cost = weight(src, math.MaxInt)
		for w := range readsOf(src).reads {
			switch {
			case f.local(w) != perThread:
			case f.isCheap(w):
				cost += f.costs[w]
			default:
				cost += cheap + 1
			}
		}
		f.costs[v] = cost
	}
	return cost <= cheap
}

// inRange reports whether an array index cannot fail: it is a constant, a coordinate of
// the thread, or a number whose type or last mask keeps it below the length.
func (f *facts) inRange(p *ir.IndexPlace) bool {
	n := uint64(p.X.Type().Len)
	index := p.Index
	for {
		switch e := index.(type) {
		case *ir.Const:
			return e.Bits < n
		case *ir.Load:
			v, ok := ir.Variable(e)
			if !ok || f.source[v] == nil {
				break
			}
			index = f.source[v]
			continue
		case *ir.ThreadValue:
			return f.below(e.Op) > 0 && uint64(f.below(e.Op)) <= n
		case *ir.Binary:
			mask, ok := e.Y.(*ir.Const)
			return ok && e.Op == ir.And && mask.Int64() >= 0 && mask.Bits < n && !mayFaultBinary(e) && n > 0
		case *ir.Convert:
			if e.X.Type().IsInteger() && e.T.Size() > e.X.Type().Size() {
				index = e.X
				continue
			}
		}
		switch index.Type().Kind {
		case ir.Uint8:
			return n > math.MaxUint8
		case ir.Uint16:
			return n > math.MaxUint16
		}
		return false
	}
}

// below returns a number that a coordinate of the thread is always less than, or 0 if the
// kernel does not declare its block.
func (f *facts) below(op ir.ThreadOp) int {
	const lanes = 32
	switch {
	case op <= ir.ThreadIdxZ:
		return f.block[op]
	case op == ir.LaneID:
		return lanes
	case op == ir.WarpID:
		return (f.block[0]*f.block[1]*f.block[2] + lanes - 1) / lanes
	}
	return 0
}

func mayFaultBinary(e *ir.Binary) bool {
	c, constant := e.Y.(*ir.Const)
	switch {
	case (e.Op == ir.Div || e.Op == ir.Rem) && e.X.Type().IsInteger():
		return !constant || c.Bits == 0
	case e.Op.IsShift() && e.Y.Type().IsSigned():
		return !constant || c.Int64() < 0
	}
	return false
}

// mayFault reports whether running statements can stop the thread.
func (f *facts) mayFault(body []ir.Stmt) bool {
	found := false
	v := f.faultVisitor(&found)
	v.Stmt = func(s ir.Stmt) bool {
		switch s.(type) {
		case *ir.Panic, *ir.Call:
			found = true
		}
		return !found
	}
	v.Body(body)
	return found
}

// exprMayFault reports whether evaluating an expression can stop the thread.
func (f *facts) exprMayFault(e ir.Expr) bool {
	found := false
	v := f.faultVisitor(&found)
	v.Value(e)
	return found
}

// exprMayFaultAnywhere is exprMayFault without knowledge of accesses in range: which
// reads count as needed does not depend on that knowledge.
func (f *facts) exprMayFaultAnywhere(e ir.Expr) bool {
	safe := f.safe
	f.safe = nil
	defer func() { f.safe = safe }()
	return f.exprMayFault(e)
}

func (f *facts) faultVisitor(found *bool) *ir.Visitor {
	return &ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				*found = *found || mayFaultBinary(e)
			case *ir.SliceExpr:
				*found = *found || e.Lo != nil || e.Hi != nil || e.Max != nil
			}
			return !*found
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.ElemPlace:
				*found = *found || f.safe == nil || !f.safe(p)
			case *ir.IndexPlace:
				if f.safe != nil && f.safe(p) {
					return false // everything on the way to it is in range too
				}
				*found = *found || !f.inRange(p)
			case *ir.ArrayPlace:
				*found = true
			case *ir.DerefPlace:
				*found = *found || !f.valid(p.Ptr)
			}
			return !*found
		},
	}
}

// valid reports whether a pointer is known not to be nil.
func (f *facts) valid(ptr ir.Expr) bool {
	switch e := ptr.(type) {
	case *ir.Addr:
		return true
	case *ir.Load:
		p, ok := e.Place.(*ir.VarPlace)
		if !ok {
			return false
		}
		_, addr := f.source[p.Var].(*ir.Addr)
		return addr
	}
	return false
}

// readsMemory reports whether an expression reads memory that other threads can write.
func readsMemory(e ir.Expr) bool {
	found := false
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if l, ok := e.(*ir.Load); ok && isMemory(l.Place) {
			found = true
		}
		return !found
	}}
	v.Value(e)
	return found
}

// isMemory reports whether other threads may access a place.
func isMemory(p ir.Place) bool {
	switch ir.Root(p).(type) {
	case *ir.VarPlace, *ir.TablePlace:
		return false
	}
	return true
}

// writesMemory reports whether statements may change memory that other threads or
// pointers access.
func writesMemory(body []ir.Stmt) bool {
	found := false
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Assign:
			found = found || isMemory(s.Dst)
		case *ir.Call, *ir.Fence:
			found = true
		default:
			found = found || ir.IsOperation(s)
		}
		return !found
	}}
	v.Body(body)
	return found
}

// usage records how statements use variables.
type usage struct {
	reads, writes map[*ir.Local]bool
}

func (u usage) mentions(v *ir.Local) bool { return u.reads[v] || u.writes[v] }

// all returns the variables that are read or written.
func (u usage) all() map[*ir.Local]bool {
	all := maps.Clone(u.reads)
	maps.Copy(all, u.writes)
	return all
}

// uses returns the variables that statements read and write. A partial write counts as
// both.
func uses(body ...ir.Stmt) usage {
	u := usage{map[*ir.Local]bool{}, map[*ir.Local]bool{}}
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				if p, ok := s.Dst.(*ir.VarPlace); ok {
					u.writes[p.Var] = true
				} else if p, ok := ir.Root(s.Dst).(*ir.VarPlace); ok {
					u.reads[p.Var], u.writes[p.Var] = true, true
				}
			default:
				for d := range ir.Defined(s) {
					u.writes[d] = true
				}
				for p := range ir.Places(s) {
					u.touch(*p)
				}
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Load:
				if p, ok := ir.Root(e.Place).(*ir.VarPlace); ok {
					u.reads[p.Var] = true
				}
			case *ir.Addr:
				u.touch(e.Place)
			case *ir.SliceExpr:
				if e.Array != nil {
					u.touch(e.Array)
				}
			}
			return true
		},
	}
	v.Body(body)
	return u
}

// touch records a place that may be read and written.
func (u usage) touch(p ir.Place) {
	if root, ok := ir.Root(p).(*ir.VarPlace); ok {
		u.reads[root.Var], u.writes[root.Var] = true, true
	}
}

// readsOf returns the variables that an expression reads.
func readsOf(e ir.Expr) usage {
	return uses(&ir.Return{Results: []ir.Expr{e}})
}

// operandsOf returns the variables that a statement reads as operands.
func operandsOf(s ir.Stmt) usage {
	var reads []ir.Stmt
	for e := range ir.Args(s) {
		reads = append(reads, &ir.Return{Results: []ir.Expr{*e}})
	}
	for p := range ir.Places(s) {
		reads = append(reads, &ir.Check{Place: *p})
	}
	return uses(reads...)
}
