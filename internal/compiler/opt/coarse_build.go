package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// build turns out, a copy of the variant, into the coarse form.
func (c *coarsener) build(out *ir.Kernel) {
	b := &coarseBuilder{coarsener: c, f: out.Func, body: out.Func.Body}
	for i, p := range c.kernel.Func.Params {
		b.params = append(b.params, [2]*ir.Local{p, out.Func.Params[i]})
	}
	b.number = b.local("number", ir.TInt32)
	b.left = b.local("left", ir.TInt32)
	b.first = b.local("first", ir.TInt32)
	if c.adjacent {
		b.first.Type = c.index
	}
	n := ir.IntConst(ir.TInt32, int64(c.threads))
	block := func() ir.Expr { return mul(coordinate(ir.BlockIdxX), ir.CloneExpr(n)) }
	first := block()
	if c.adjacent {
		first = b.firstNumber(c.index)
	}
	slow := &ir.Label{Name: "slow"}
	fast := []ir.Stmt{&ir.If{Cond: less(ir.Get(b.left), n), Then: []ir.Stmt{&ir.Break{Label: slow}}}}
	out.Func.Body = []ir.Stmt{
		set(b.left, &ir.Binary{Op: ir.Sub, X: coordinate(ir.GridDimX), Y: block()}),
		set(b.first, first),
		&ir.Block{Label: slow, Body: append(append(fast, b.fast(slow)...), &ir.Return{})},
	}
	out.Func.Body = append(out.Func.Body, b.slow()...)
	out.Coarse = &ir.Coarsening{Threads: c.threads, Adjacent: c.adjacent, Number: b.number}
	out.Limits = append(c.limits(), c.kernel.Limits...) // with those that vector accesses need
}

// coarseBuilder writes the body of a coarse kernel.
type coarseBuilder struct {
	*coarsener
	f      *ir.Func
	body   []ir.Stmt      // the variant's body, in variables of f
	params [][2]*ir.Local // variables of the coarsener's kernel and of f
	number *ir.Local      // of the current thread, in the slow half
	left   *ir.Local      // blocks from the first to the end of the grid
	first  *ir.Local      // block of thread number 0, or its index in the grid
}

func (b *coarseBuilder) local(name string, t *ir.Type) *ir.Local {
	v := &ir.Local{Name: name, Type: t}
	b.f.Locals = append(b.f.Locals, v)
	return v
}

// firstNumber returns the grid index of the first thread that a coarse thread runs.
func (b *coarseBuilder) firstNumber(t *ir.Type) ir.Expr {
	at := func(op ir.ThreadOp) ir.Expr {
		if t.Kind == ir.Int {
			return &ir.ThreadValue{Op: op}
		}
		return &ir.Convert{T: t, X: &ir.ThreadValue{Op: op}}
	}
	number := &ir.Binary{Op: ir.Add, X: mul(at(ir.BlockIdxX), at(ir.BlockDimX)), Y: at(ir.ThreadIdxX)}
	return mul(number, ir.IntConst(t, int64(b.threads)))
}

// fast generates the fast half.
func (b *coarseBuilder) fast(slow *ir.Label) []ir.Stmt {
	leave := func(cond ir.Expr, pos ir.Pos) ir.Stmt {
		return &ir.If{Cond: cond, Then: []ir.Stmt{&ir.Break{Label: slow}}, Pos: pos}
	}
	copies := make([]*copier, b.threads)
	for i := range copies {
		copies[i] = b.copier(ir.IntConst(b.first.Type, int64(i)))
	}
	var out []ir.Stmt
	for _, s := range b.setup {
		for _, c := range copies {
			out = append(out, c.stmt(s))
		}
	}
	for _, g := range b.conds {
		var fails ir.Expr
		for _, c := range b.strictest(g.cond, copies) {
			fails = either(fails, complement(c.expr(g.cond)))
		}
		out = append(out, leave(fails, g.pos))
	}
	for _, it := range b.items {
		switch {
		case it.stmt == nil:
			var fails ir.Expr
			for _, c := range copies {
				fails = either(fails, c.expr(it.bail.cond))
			}
			out = append(out, leave(fails, it.bail.pos))
		case it.vector && b.adjacent:
			out = append(out, b.vector(it.stmt.(*ir.Assign), copies))
		case b.isCommonLoad(it.stmt):
			out = append(out, b.shared(it.stmt.(*ir.LoadVector), copies)...)
		default:
			for _, c := range copies {
				out = append(out, c.stmt(it.stmt))
			}
		}
	}
	return out
}

// strictest returns those threads for which the condition must hold so that it holds
// for all. The threads' grid indices ascend.
func (b *coarseBuilder) strictest(cond ir.Expr, copies []*copier) []*copier {
	e, ok := cond.(*ir.Binary)
	if !ok || !e.Op.IsComparison() {
		return copies
	}
	x, y, op := e.X, e.Y, e.Op
	if b.isIndex(y) {
		x, y, op = y, x, mirrored[op]
	}
	if !b.isIndex(x) || !b.isCommon(y) {
		return copies
	}
	switch op {
	case ir.Lt, ir.Le:
		return copies[len(copies)-1:]
	case ir.Gt, ir.Ge:
		return copies[:1]
	}
	return copies
}

// isCommon reports whether an expression is the same for all threads: it consists of
// constants and parameters.
func (c *coarsener) isCommon(e ir.Expr) bool {
	ok := true
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			_, thread := e.(*ir.ThreadValue)
			ok = ok && !thread
			return ok
		},
		Place: func(p ir.Place) bool {
			v, isVar := p.(*ir.VarPlace)
			ok = ok && isVar && slices.Contains(c.kernel.Func.Params, v.Var)
			return ok
		},
	}
	v.Value(e)
	return ok
}

// isCommonLoad reports whether a statement loads the same elements for all threads.
func (c *coarsener) isCommonLoad(s ir.Stmt) bool {
	load, ok := s.(*ir.LoadVector)
	if !ok {
		return false
	}
	for p := load.Place; ; {
		switch q := p.(type) {
		case *ir.FieldPlace:
			p = q.X
		case *ir.IndexPlace:
			if !c.isCommon(q.Index) {
				return false
			}
			p = q.X
		case *ir.ElemPlace:
			return c.isCommon(q.Slice) && c.isCommon(q.Index)
		default:
			return false
		}
	}
}

// shared generates a load of the same elements for all threads.
func (b *coarseBuilder) shared(s *ir.LoadVector, copies []*copier) []ir.Stmt {
	out := []ir.Stmt{copies[0].stmt(s)}
	for _, c := range copies[1:] {
		for _, v := range s.Dst {
			if v != nil {
				out = append(out, set(c.variable(v), ir.Get(copies[0].variable(v))))
			}
		}
	}
	return out
}

// vector generates an assignment from or to neighbouring elements.
func (b *coarseBuilder) vector(s *ir.Assign, copies []*copier) ir.Stmt {
	p := vectorPlace(s)
	place := &ir.ElemPlace{Slice: copies[0].expr(p.Slice), Index: ir.Get(b.first), Pos: p.Pos}
	if dst, ok := s.Dst.(*ir.VarPlace); ok {
		load := &ir.LoadVector{Place: place, Pos: s.Pos}
		for _, c := range copies {
			load.Dst = append(load.Dst, c.variable(dst.Var))
		}
		return load
	}
	store := &ir.StoreVector{Place: place, Pos: s.Pos}
	for _, c := range copies {
		store.Src = append(store.Src, c.expr(s.Src))
	}
	return store
}

// slow generates the loop over the threads.
func (b *coarseBuilder) slow() []ir.Stmt {
	n := func() ir.Expr { return ir.IntConst(ir.TInt32, int64(b.threads)) }
	next := &ir.Label{Name: "thread"}
	var place, end ir.Expr = ir.Get(b.number), ir.Get(b.left) // the thread's position among the remaining ones
	if b.adjacent {
		place = &ir.Binary{Op: ir.Add, X: mul(coordinate(ir.ThreadIdxX), n()), Y: place}
		end = mul(end, coordinate(ir.BlockDimX))
	}
	missing := &ir.Binary{Op: ir.LAnd, X: less(ir.Get(b.left), n()), Y: &ir.Binary{Op: ir.Ge, X: place, Y: end}}

	var number ir.Expr = ir.Get(b.number)
	if !b.first.Type.Equal(ir.TInt32) {
		number = &ir.Convert{T: b.first.Type, X: number}
	}
	in := placement{b.adjacent, b.coarsener, func() ir.Expr { return sum(ir.Get(b.first), ir.CloneExpr(number)) }}
	body := in.body(b.body)
	leave := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if _, ok := s.(*ir.Return); ok {
			return []ir.Stmt{&ir.Continue{Label: next}}
		}
		return []ir.Stmt{s}
	}}
	body = leave.Body(body)
	return []ir.Stmt{
		set(b.number, ir.IntConst(ir.TInt32, 0)),
		&ir.Loop{
			Label: next,
			Cond:  less(ir.Get(b.number), n()),
			Body:  append([]ir.Stmt{&ir.If{Cond: missing, Then: []ir.Stmt{&ir.Break{Label: next}}}}, body...),
			Post:  []ir.Stmt{set(b.number, sum(ir.Get(b.number), ir.IntConst(ir.TInt32, 1)))},
		},
	}
}

// copier copies statements of the coarsener's lists for one thread.
type copier struct {
	b      *coarseBuilder
	cloner ir.Cloner
	in     placement
}

func (b *coarseBuilder) copier(number *ir.Const) *copier {
	c := &copier{b: b, cloner: ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}}
	for _, p := range b.params {
		c.cloner.Vars[p[0]] = p[1]
	}
	c.in = placement{b.adjacent, b.coarsener, func() ir.Expr {
		if number.Bits == 0 {
			return ir.Get(b.first)
		}
		return sum(ir.Get(b.first), ir.CloneExpr(number))
	}}
	for _, v := range b.kernel.Func.Locals {
		w := *v
		c.cloner.Vars[v] = &w
		b.f.Locals = append(b.f.Locals, &w)
	}
	return c
}

func (c *copier) variable(v *ir.Local) *ir.Local { return c.cloner.Vars[v] }

func (c *copier) stmt(s ir.Stmt) ir.Stmt { return c.in.body(c.cloner.Body([]ir.Stmt{s}))[0] }

func (c *copier) expr(e ir.Expr) ir.Expr { return c.in.rewriter().Value(c.cloner.Expr(e)) }

// placement replaces the thread's position by that of one of the threads that a coarse
// thread runs: its grid index, or its block, as 32 bits.
type placement struct {
	adjacent bool
	c        *coarsener
	by       func() ir.Expr
}

func (s placement) body(list []ir.Stmt) []ir.Stmt { return s.rewriter().Body(list) }

func (s placement) rewriter() *ir.Rewriter {
	return &ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		if s.adjacent {
			if !s.c.isNumber(e) {
				return e
			}
			return resized(e.Type(), s.by())
		}
		switch e := e.(type) {
		case *ir.ThreadValue:
			if e.Op == ir.BlockIdxX {
				return resized(ir.TInt, s.by())
			}
		case *ir.Convert:
			if inner, ok := e.X.(*ir.Convert); ok && e.T.Kind == ir.Int32 && inner.X.Type().Kind == ir.Int32 && inner.T.IsInteger() && inner.T.Size() >= 4 {
				return inner.X
			}
		}
		return e
	}}
}

func resized(t *ir.Type, e ir.Expr) ir.Expr {
	if t.Equal(e.Type()) {
		return e
	}
	return &ir.Convert{T: t, X: e}
}

// limits returns the launch conditions that the coarse form adds to the variant. Those
// that a small launch or an unaligned address fails come first.
func (c *coarsener) limits() ir.Limits {
	dim := func(d int64) *ir.Sym { return &ir.Sym{Op: ir.SymDim, Value: d} }
	product := func(x, y *ir.Sym) *ir.Sym { return &ir.Sym{Op: ir.SymMul, X: x, Y: y} }
	atLeast := func(x *ir.Sym, n int64) ir.Limit {
		return ir.Limit{X: &ir.Sym{Op: ir.SymSub, X: &ir.Sym{}, Y: x}, Max: -n}
	}
	const gridX, gridY, blockX, blockY = 0, 1, 3, 4
	var out ir.Limits
	if !c.small {
		out = ir.Limits{
			atLeast(dim(gridX), int64(leastBlocks*c.threads)),
			atLeast(product(product(dim(gridX), dim(blockX)), product(dim(gridY), dim(blockY))), leastCoarse),
		}
	}
	if !c.adjacent {
		return out
	}
	var odd *ir.Sym
	seen := map[int]bool{}
	for _, it := range c.items {
		if !it.vector {
			continue
		}
		i := c.parameter(vectorPlace(it.stmt))
		if seen[i] {
			continue
		}
		seen[i] = true
		address := &ir.Sym{Op: ir.SymAddress, Value: int64(i)}
		if odd == nil {
			odd = address
		} else {
			odd = &ir.Sym{Op: ir.SymAdd, X: odd, Y: address}
		}
	}
	return append(out, ir.Limit{X: odd, Max: 0})
}

// coordinate returns a coordinate of the thread as 32 bits.
func coordinate(op ir.ThreadOp) ir.Expr {
	return &ir.Convert{T: ir.TInt32, X: &ir.ThreadValue{Op: op}}
}

func set(v *ir.Local, e ir.Expr) ir.Stmt { return &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: e} }

func sum(x, y ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Add, X: x, Y: y} }

func mul(x, y ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Mul, X: x, Y: y} }

func less(x, y ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Lt, X: x, Y: y} }

// either returns the disjunction of two conditions; nil is no condition.
func either(x, y ir.Expr) ir.Expr {
	if x == nil {
		return y
	}
	return &ir.Binary{Op: ir.LOr, X: x, Y: y}
}
