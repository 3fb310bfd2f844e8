package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// flattener turns the core into items. Every load that is always executed becomes a
// separate item, after the check of its index.
type flattener struct {
	*coarsener
	items   []item
	effect  bool // something was written
	refused bool // a check comes too late, or a construct is not supported
	shifts  bool // checks of shifts become items
	pos     ir.Pos
}

func (f *flattener) list(list []ir.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			f.assign(s)
		case *ir.If:
			f.pos = s.Pos
			s.Cond = f.expr(s.Cond)
			f.unit(s)
		case *ir.Block:
			f.unit(s)
		case *ir.Atomic:
			f.pos = s.Pos
			for i, a := range s.Args {
				s.Args[i] = f.expr(a)
			}
			s.Place = f.place(s.Place)
			f.add(s)
			f.effect = true
		case *ir.LoadVector:
			f.pos = s.Pos
			s.Place = f.place(s.Place)
			f.add(s)
		case *ir.StoreVector:
			f.pos = s.Pos
			for i, e := range s.Src {
				s.Src[i] = f.expr(e)
			}
			s.Place = f.place(s.Place)
			f.add(s)
			f.effect = true
		case *ir.Check:
			f.place(s.Place)
		default:
			f.refused = true
		}
	}
}

func (f *flattener) assign(s *ir.Assign) {
	f.pos = s.Pos
	s.Src = f.expr(s.Src)
	if _, ok := s.Dst.(*ir.VarPlace); ok {
		f.add(s)
		return
	}
	s.Dst = f.place(s.Dst)
	f.items = append(f.items, item{stmt: s, vector: f.isVector(s.Dst)})
	f.effect = true
}

func (f *flattener) add(s ir.Stmt) { f.items = append(f.items, item{stmt: s}) }

// unit adds a statement that each thread runs as a whole. Its checks could fail after
// writes, and a thread that leaves the statement would have to be excluded from then
// on.
func (f *flattener) unit(s ir.Stmt) {
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Return, *ir.Check:
				f.refused = true
			case *ir.Assign:
				if _, ok := s.Dst.(*ir.VarPlace); !ok {
					f.effect = true
				}
			case *ir.Atomic, *ir.StoreVector:
				f.effect = true
			}
			return true
		},
		Place: func(p ir.Place) bool {
			f.refused = f.refused || isChecked(p)
			return true
		},
	}
	v.Body([]ir.Stmt{s})
	f.add(s)
}

func isChecked(p ir.Place) bool {
	switch p := p.(type) {
	case *ir.ElemPlace:
		return p.Check
	case *ir.IndexPlace:
		return p.Check
	}
	return false
}

// expr moves the loads out of an expression, in the order of evaluation.
func (f *flattener) expr(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case nil, *ir.Const, *ir.Zero, *ir.ThreadValue, *ir.Len, *ir.Cap:
		return e
	case *ir.Load:
		if _, ok := e.Place.(*ir.VarPlace); ok {
			return e
		}
		e.Place = f.place(e.Place)
		if _, ok := ir.Root(e.Place).(*ir.VarPlace); ok || !e.Type().IsScalar() {
			return e
		}
		return f.temporary("loaded", e, item{vector: f.isVector(e.Place)})
	case *ir.Unary:
		e.X = f.expr(e.X)
	case *ir.Convert:
		e.X = f.expr(e.X)
	case *ir.Binary:
		e.X = f.expr(e.X)
		if e.Op.IsLogical() {
			f.refused = f.refused || hasChecks(e.Y)
			return e
		}
		e.Y = f.expr(e.Y)
		if e.Check && e.Op.IsShift() && f.shifts {
			e.Check = false
			if _, isVar := ir.Variable(e.Y); !isVar {
				e.Y = f.temporary("count", e.Y, item{})
			}
			negative := &ir.Binary{Op: ir.Lt, X: ir.CloneExpr(e.Y), Y: ir.IntConst(e.Y.Type(), 0)}
			f.items = append(f.items, item{bail: guard{negative, f.pos}})
		}
	case *ir.Intrinsic:
		for i, a := range e.Args {
			e.Args[i] = f.expr(a)
		}
	case *ir.Select:
		e.X, e.Y = f.expr(e.X), f.expr(e.Y)
		e.Cond = f.expr(e.Cond)
	case *ir.SliceExpr:
		e.X, e.Lo, e.Hi, e.Max = f.expr(e.X), f.expr(e.Lo), f.expr(e.Hi), f.expr(e.Max)
		f.refused = f.refused || e.Array != nil
	default:
		f.refused = true
	}
	return e
}

// temporary creates an item that assigns an expression to a new variable.
func (f *flattener) temporary(name string, e ir.Expr, it item) ir.Expr {
	v := &ir.Local{Name: name, Type: e.Type()}
	f.kernel.Func.Locals = append(f.kernel.Func.Locals, v)
	it.stmt = &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: e, Pos: f.pos}
	f.items = append(f.items, it)
	return ir.Get(v)
}

// place moves loads and checks out of a place.
func (f *flattener) place(p ir.Place) ir.Place {
	switch p := p.(type) {
	case *ir.FieldPlace:
		p.X = f.place(p.X)
	case *ir.IndexPlace:
		p.X = f.place(p.X)
		p.Index = f.expr(p.Index)
		if p.Check {
			p.Check = false
			p.Index = f.check(p.Index, ir.IntConst(ir.TInt, p.X.Type().Len), p.Pos)
		}
	case *ir.ElemPlace:
		p.Slice = f.expr(p.Slice)
		p.Index = f.expr(p.Index)
		if p.Check {
			p.Check = false
			p.Index = f.check(p.Index, &ir.Len{X: ir.CloneExpr(p.Slice)}, p.Pos)
		}
	case *ir.VarPlace, *ir.TablePlace:
	default:
		f.refused = true
	}
	return p
}

// check creates an item that bails out if an index is out of range.
func (f *flattener) check(index, length ir.Expr, pos ir.Pos) ir.Expr {
	f.refused = f.refused || f.effect
	_, isVar := ir.Variable(index)
	if _, isConst := index.(*ir.Const); !isVar && !isConst {
		index = f.temporary("index", index, item{})
	}
	word := ir.TUint64
	if f.narrow && index.Type().Size() <= 4 {
		word = ir.TUint32
	}
	to := func(e ir.Expr) ir.Expr { return &ir.Convert{T: word, X: e} }
	outside := &ir.Binary{Op: ir.Ge, X: to(ir.CloneExpr(index)), Y: to(length)}
	f.items = append(f.items, item{bail: guard{outside, pos}})
	return index
}

func hasChecks(e ir.Expr) bool {
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool { found = found || isChecked(p); return true }}
	v.Value(e)
	return found
}

// isVector reports whether a place is the element at the thread's index in a slice
// parameter whose type vector accesses can move.
func (c *coarsener) isVector(p ir.Place) bool {
	e, ok := p.(*ir.ElemPlace)
	if !ok || !c.isIndex(e.Index) {
		return false
	}
	t := e.Type()
	return c.parameter(e) >= 0 && t.IsScalar() && t.Kind != ir.Bool && t.Kind != ir.Pointer
}

// parameter returns the index of the slice parameter that an element belongs to, or -1.
func (c *coarsener) parameter(e *ir.ElemPlace) int {
	if v, ok := ir.Variable(e.Slice); ok {
		for i, p := range c.kernel.Func.Params {
			if p == v {
				return i
			}
		}
	}
	return -1
}

// chooseThreads decides which threads a coarse thread runs, and how many. It returns
// false if coarsening does not pay.
func (c *coarsener) chooseThreads() bool {
	size := int64(1) // of the largest accessed element
	vectors := false
	for _, it := range c.items {
		if it.vector {
			vectors = true
			size = max(size, vectorPlace(it.stmt).Type().Size())
		}
	}
	c.adjacent = c.adjacent && vectors && !c.hasStrides()
	if c.adjacent {
		c.threads = int(ir.VectorBytes / size)
	} else {
		if c.hasWide() {
			return false
		}
		c.threads = strided
		if size > 4 {
			c.threads = strided / 2
		}
	}
	for cost := c.cost(); c.threads*cost > maxCoarse; c.threads /= 2 {
	}
	return c.threads > 1
}

// hasWide reports whether a thread already moves 16 bytes of its own in one access. Such
// threads are not too many for the memory.
func (c *coarsener) hasWide() bool {
	return slices.ContainsFunc(c.items, func(it item) bool {
		switch s := it.stmt.(type) {
		case *ir.LoadVector:
			return !c.isCommonLoad(s) && int64(len(s.Dst))*s.Dst[0].Type.Size() == ir.VectorBytes
		case *ir.StoreVector:
			return int64(len(s.Src))*s.Src[0].Type().Size() == ir.VectorBytes
		}
		return false
	})
}

// vectorPlace returns the element of a vector item.
func vectorPlace(s ir.Stmt) *ir.ElemPlace {
	a := s.(*ir.Assign)
	if p, ok := a.Dst.(*ir.ElemPlace); ok {
		return p
	}
	return a.Src.(*ir.Load).Place.(*ir.ElemPlace)
}

// onlyNumbers reports whether the kernel uses the thread's position along X only
// through its index in the grid.
func (c *coarsener) onlyNumbers() bool {
	ok := true
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if c.isNumber(e) {
			return false
		}
		if t, is := e.(*ir.ThreadValue); is {
			switch t.Op {
			case ir.ThreadIdxX, ir.BlockIdxX, ir.BlockDimX, ir.LaneID, ir.WarpID:
				ok = false
			}
		}
		return ok
	}}
	v.Body(c.kernel.Func.Body)
	return ok
}

// hasStrides reports whether there is a non-vector access at an index computed from the
// thread's index without a memory access. If a coarse thread ran neighbours, such
// accesses of a warp would be spread out.
func (c *coarsener) hasStrides() bool {
	follows := map[*ir.Local]bool{}
	for v := range c.indices {
		follows[v] = true
	}
	depends := func(e ir.Expr) bool {
		found := false
		v := ir.Visitor{Expr: func(e ir.Expr) bool {
			if c.isNumber(e) {
				found = true
			}
			if l, ok := e.(*ir.Load); ok {
				v, isVar := l.Place.(*ir.VarPlace)
				found = found || isVar && follows[v.Var]
				return false
			}
			return !found
		}}
		v.Value(e)
		return found
	}
	for changed := true; changed; {
		changed = false
		v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
			if a, ok := s.(*ir.Assign); ok {
				if v, ok := a.Dst.(*ir.VarPlace); ok && !follows[v.Var] && depends(a.Src) {
					follows[v.Var], changed = true, true
				}
			}
			return true
		}}
		v.Body(c.setup)
		for _, it := range c.items {
			if it.stmt != nil {
				v.Body([]ir.Stmt{it.stmt})
			}
		}
	}
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		switch p := p.(type) {
		case *ir.ElemPlace:
			found = found || depends(p.Index)
		case *ir.IndexPlace:
			found = found || depends(p.Index)
		}
		return true
	}}
	for _, it := range c.items {
		switch a, ok := it.stmt.(*ir.Assign); {
		case it.stmt == nil:
		case it.vector && ok:
			if _, store := a.Dst.(*ir.ElemPlace); store {
				v.Value(a.Src)
			}
		default:
			v.Body([]ir.Stmt{it.stmt})
		}
	}
	return found
}

// cost returns the number of nodes of the items.
func (c *coarsener) cost() int {
	n := 0
	v := ir.Visitor{
		Stmt: func(ir.Stmt) bool { n++; return true },
		Expr: func(ir.Expr) bool { n++; return true },
	}
	for _, it := range c.items {
		v.Value(it.bail.cond)
		if it.stmt != nil {
			v.Body([]ir.Stmt{it.stmt})
		}
	}
	return n
}
