package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// Threads of a coarse kernel each run several threads of the original kernel
// (ir.Coarsening). Short kernels need this: a GPU starts about 300 threads per
// nanosecond, and it saturates memory bandwidth only if each thread moves more than a
// few bytes.
//
// If each thread touches element number Global() of its slices, a coarse thread runs
// neighbouring threads and moves their elements in accesses of up to 16 bytes, provided
// that the slices' addresses allow it. Otherwise it runs the same thread of
// neighbouring blocks, so that the access pattern of a warp does not change.
//
// The body has a fast and a slow half. The fast half handles threads that all exist,
// pass the guards at the start of the kernel, and index in range. It runs the first
// statement for all of them, then the second, and so on, so that their loads are in
// flight together. Everything else goes to the slow half, a loop that runs the threads
// one by one and in which checks fail. The fast half bails out before it has written
// anything.
//
// Interleaving the statements of several threads changes the result only if one thread
// reads or writes what another thread writes. Without an atomic operation, that is a
// data race in the source.

// Sizes of coarse kernels.
const (
	// maxCoarse is the maximum number of expression and statement nodes in the fast
	// half, over all threads. Longer kernels do not lack threads, and need their
	// registers.
	maxCoarse = 512
	// strided is the number of threads per coarse thread if these are not neighbours,
	// for elements of up to 4 bytes.
	strided = 4
	// leastCoarse is the number of threads below which a launch does not gain from
	// coarsening. leastBlocks is the minimum number of blocks along X per thread of a
	// coarse thread, so that the slow last block has little weight.
	leastCoarse = 1 << 17
	leastBlocks = 4
)

// coarse returns the coarse form of a finished variant, or nil if it has none. The form
// is for launches with enough threads or, if small is set, for all.
func coarse(k *ir.Kernel, small bool) *ir.Kernel {
	if !canCoarsen(k) {
		return nil
	}
	work := ir.CloneKernel(k)
	vectorise(work)
	c := &coarsener{kernel: work, narrow: len(k.Limits) > 0, small: small}
	c.peel(work.Func.Body)
	if len(c.core) == 0 {
		return nil
	}
	c.findIndices()
	c.adjacent = c.index != nil && c.onlyNumbers()
	f := &flattener{coarsener: c}
	f.list(c.core)
	if f.refused || !f.effect {
		return nil
	}
	c.items = f.items
	if !c.chooseThreads() {
		return nil
	}
	out := ir.CloneKernel(k)
	c.build(out)
	return out
}

// guard is a condition that a thread must pass.
type guard struct {
	cond ir.Expr
	pos  ir.Pos
}

// coarsener makes one coarse kernel.
type coarsener struct {
	kernel *ir.Kernel // the variant; the lists below use its variables
	narrow bool       // lengths fit 32 bits
	small  bool       // also for launches too small to gain

	setup []ir.Stmt // assignments before the core; they access no memory
	conds []guard   // conditions for reaching the core
	core  []ir.Stmt
	items []item // the core in the order in which threads are interleaved

	// indices are the variables that hold the thread's index in the grid.
	indices map[*ir.Local]bool
	index   *ir.Type // type of the index

	threads  int
	adjacent bool
}

// item is a step of the fast half.
type item struct {
	stmt ir.Stmt // run for each thread; or
	bail guard   // if it holds for a thread, all threads go to the slow half
	// vector: stmt assigns from or to the element of a slice parameter at the thread's
	// index.
	vector bool
}

// canCoarsen checks for operations that a thread cannot do for other threads.
func canCoarsen(k *ir.Kernel) bool {
	if len(k.Shared) > 0 || k.Options.Cluster != [3]int{} {
		return false
	}
	for _, v := range k.Func.Locals {
		if !v.Type.IsScalar() && v.Type.Kind != ir.Slice || v.Type.Kind == ir.Pointer {
			return false
		}
	}
	isParam := func(v *ir.Local) bool { return slices.Contains(k.Func.Params, v) }
	ok := true
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				v, isVar := ir.Root(s.Dst).(*ir.VarPlace)
				ok = ok && !(isVar && isParam(v.Var))
			case *ir.If, *ir.Block, *ir.Break, *ir.Return, *ir.Atomic, *ir.Check:
			default:
				ok = false
			}
			return ok
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				ok = ok && !e.Check
			case *ir.SliceExpr:
				ok = ok && !e.Check
			case *ir.ThreadValue:
				ok = ok && e.Op <= ir.WarpID
			case *ir.Addr:
				ok = false
			}
			return ok
		},
		Place: func(p ir.Place) bool {
			switch p.(type) {
			case *ir.VarPlace, *ir.ElemPlace, *ir.FieldPlace, *ir.IndexPlace, *ir.TablePlace:
			default:
				ok = false
			}
			return ok
		},
	}
	v.Body(k.Func.Body)
	return ok
}

// peel splits a list into setup, conds and core.
func (c *coarsener) peel(list []ir.Stmt) {
	for i, s := range list {
		rest := list[i+1:]
		switch s := s.(type) {
		case *ir.Assign:
			if _, ok := s.Dst.(*ir.VarPlace); ok && s.Dst.Type().IsScalar() && isFree(s.Src) {
				c.setup = append(c.setup, s)
				continue
			}
		case *ir.If:
			switch {
			case len(s.Else) == 0 && returns(s.Then):
				c.require(guard{complement(s.Cond), s.Pos}, rest)
				return
			case len(s.Else) == 0 && len(rest) == 0:
				c.require(guard{s.Cond, s.Pos}, s.Then)
				return
			}
		}
		c.core = list[i:]
		return
	}
}

// require peels a list that runs if g holds.
func (c *coarsener) require(g guard, list []ir.Stmt) {
	switch b, ok := g.cond.(*ir.Binary); {
	case ok && b.Op == ir.LAnd:
		if isFree(b.X) {
			c.conds = append(c.conds, guard{b.X, g.pos})
			c.require(guard{b.Y, g.pos}, list)
			return
		}
	case isFree(g.cond):
		c.conds = append(c.conds, g)
		c.peel(list)
		return
	}
	c.core = []ir.Stmt{&ir.If{Cond: g.cond, Then: list, Pos: g.pos}}
}

func returns(list []ir.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	_, ok := list[0].(*ir.Return)
	return ok
}

// complement returns the complement of a condition. For a comparison of integers it is
// a comparison.
func complement(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Unary:
		if e.Op == ir.LNot {
			return e.X
		}
	case *ir.Binary:
		if op, ok := inverse[e.Op]; ok && !e.X.Type().IsFloat() {
			return &ir.Binary{Op: op, X: e.X, Y: e.Y, Pos: e.Pos}
		}
		switch e.Op {
		case ir.LOr:
			return &ir.Binary{Op: ir.LAnd, X: complement(e.X), Y: complement(e.Y), Pos: e.Pos}
		case ir.LAnd:
			return &ir.Binary{Op: ir.LOr, X: complement(e.X), Y: complement(e.Y), Pos: e.Pos}
		}
	}
	return &ir.Unary{Op: ir.LNot, X: e}
}

// isFree reports whether an expression may be evaluated for a thread that does not
// reach it: it reads no memory and is defined for all operands.
func isFree(e ir.Expr) bool {
	ok := true
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Load:
			_, isVar := ir.Root(e.Place).(*ir.VarPlace)
			ok = ok && isVar
		case *ir.Binary:
			if e.Op == ir.Div || e.Op == ir.Rem || e.Op.IsShift() {
				_, isConst := e.Y.(*ir.Const)
				ok = ok && (isConst || e.X.Type().IsFloat())
			}
		case *ir.SliceExpr:
			ok = false
		}
		return ok
	}, Place: func(p ir.Place) bool {
		if p, is := p.(*ir.IndexPlace); is {
			_, isConst := p.Index.(*ir.Const)
			ok = ok && isConst
		}
		return ok
	}}
	v.Value(e)
	return ok
}

// findIndices finds the variables that hold the thread's index in the grid.
func (c *coarsener) findIndices() {
	c.indices = map[*ir.Local]bool{}
	uses := countUses(c.kernel.Func)
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if a, ok := s.(*ir.Assign); ok {
				if v, ok := a.Dst.(*ir.VarPlace); ok && uses[v.Var].once() && c.isNumber(a.Src) {
					c.indices[v.Var] = true
				}
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			if c.isNumber(e) {
				if c.index != nil && !c.index.Equal(e.Type()) {
					c.index = ir.TInt
				} else {
					c.index = e.Type()
				}
				return false
			}
			return true
		},
	}
	v.Body(c.kernel.Func.Body)
}

// isNumber reports whether an expression is t.Global().
func (c *coarsener) isNumber(e ir.Expr) bool {
	sum, ok := e.(*ir.Binary)
	if !ok || sum.Op != ir.Add {
		return false
	}
	x, y := sum.X, sum.Y
	if isCoordinate(x, ir.ThreadIdxX) {
		x, y = y, x
	}
	product, ok := x.(*ir.Binary)
	if !ok || product.Op != ir.Mul || !isCoordinate(y, ir.ThreadIdxX) {
		return false
	}
	a, b := product.X, product.Y
	if isCoordinate(b, ir.BlockIdxX) {
		a, b = b, a
	}
	return isCoordinate(a, ir.BlockIdxX) && (isCoordinate(b, ir.BlockDimX) || c.isBlockSize(b))
}

// isBlockSize reports whether an expression is the block size along X that the kernel
// declares.
func (c *coarsener) isBlockSize(e ir.Expr) bool {
	k, ok := e.(*ir.Const)
	return ok && c.kernel.Options.Block[0] > 0 && k.Int64() == int64(c.kernel.Options.Block[0])
}

func isCoordinate(e ir.Expr, op ir.ThreadOp) bool {
	if v, ok := e.(*ir.Convert); ok && v.T.IsInteger() && v.T.Size() >= 4 {
		e = v.X
	}
	t, ok := e.(*ir.ThreadValue)
	return ok && t.Op == op
}

// isIndex reports whether an index is the thread's index in the grid.
func (c *coarsener) isIndex(e ir.Expr) bool {
	if v, ok := e.(*ir.Convert); ok && v.T.IsInteger() && v.T.Size() >= 4 && v.X.Type().IsInteger() && v.X.Type().Size() <= v.T.Size() {
		return c.isIndex(v.X)
	}
	if v, ok := ir.Variable(e); ok {
		return c.indices[v]
	}
	return c.isNumber(e)
}
