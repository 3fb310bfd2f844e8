package opt

import "quern.dev/internal/compiler/ir"

// collectives replaces warp reductions, scans and matches with the hardware's shuffles
// and votes.
//
// A reduction uses the same tree over the lanes on every device, with distances 16, 8,
// 4, 2 and 1, so that sums of floats agree bit for bit. In a warp with fewer threads,
// only the tree of the lowest lane is complete; that lane passes the result to the
// others.
func collectives(k *ir.Kernel) error {
	c := &collector{f: k.Func, full: k.Options.FullWarps()}
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		w, ok := s.(*ir.Warp)
		if !ok {
			return []ir.Stmt{s}
		}
		c.out, c.pos = nil, w.Pos
		c.warp(w)
		return c.out
	}}
	k.Func.Body = r.Body(k.Func.Body)
	return nil
}

// collector generates the statements of one operation.
type collector struct {
	f    *ir.Func
	full bool // all warps have all lanes
	pos  ir.Pos
	out  []ir.Stmt
}

func (c *collector) warp(s *ir.Warp) {
	switch {
	case s.Op.IsReduction():
		c.finish(s, 0, c.reduce(s.Op, s.Args[0]))
	case s.Op == ir.WarpScanAdd:
		c.finish(s, 0, ir.Get(c.scan(s.Args[0])))
	case s.Op == ir.WarpScanExclusive:
		v, below := c.shuffle(ir.WarpShuffleUp, c.scan(s.Args[0]), 1)
		c.finish(s, 0, &ir.Select{Cond: ir.Get(below), X: ir.Get(v), Y: &ir.Const{T: v.Type}})
	case s.Op == ir.WarpMatchAny:
		c.finish(s, 0, ir.Get(c.matchAny(s.Args[0])))
	case s.Op == ir.WarpMatchAll:
		all, members := c.matchAll(s.Args[0])
		c.finish(s, 0, &ir.Select{Cond: ir.Get(all), X: ir.Get(members), Y: ir.IntConst(ir.TUint32, 0)})
		c.finish(s, 1, ir.Get(all))
	default:
		c.emit(s)
	}
}

func (c *collector) emit(s ir.Stmt) { c.out = append(c.out, s) }

// finish assigns result i of the operation.
func (c *collector) finish(s *ir.Warp, i int, value ir.Expr) {
	if s.Dst[i] != nil {
		c.set(s.Dst[i], value)
	}
}

func (c *collector) set(v *ir.Local, value ir.Expr) {
	c.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: value, Pos: c.pos})
}

func (c *collector) local(name string, t *ir.Type) *ir.Local {
	v := &ir.Local{Name: name, Type: t, Pos: c.pos, Hidden: true}
	c.f.Locals = append(c.f.Locals, v)
	return v
}

// do emits an operation and returns its results.
func (c *collector) do(op ir.WarpOp, args ...ir.Expr) []*ir.Local {
	s := &ir.Warp{Op: op, Args: args, Pos: c.pos}
	for _, t := range op.Results(args[0].Type()) {
		s.Dst = append(s.Dst, c.local(op.String(), t))
	}
	c.emit(s)
	return s.Dst
}

// shuffle returns v of another lane, and whether that lane exists.
func (c *collector) shuffle(op ir.WarpOp, v *ir.Local, distance int64) (value, exists *ir.Local) {
	out := c.do(op, ir.Get(v), ir.IntConst(ir.TInt, distance))
	return out[0], out[1]
}

func (c *collector) reduce(op ir.WarpOp, x ir.Expr) ir.Expr {
	v := c.local("reduced", x.Type())
	c.set(v, x)
	for distance := int64(ir.WarpSize / 2); distance > 0; distance /= 2 {
		other, exists := c.shuffle(ir.WarpShuffleXor, v, distance)
		sum := combine(op, ir.Get(v), ir.Get(other))
		if !c.full {
			sum = &ir.Select{Cond: ir.Get(exists), X: sum, Y: ir.Get(v)}
		}
		c.set(v, sum)
	}
	if !c.full {
		v, _ = c.shuffle(ir.WarpShuffle, v, 0)
	}
	return ir.Get(v)
}

// combine returns one step of a reduction. Each step rounds: a product that is reduced
// must not be fused in one lane and not in another.
func combine(op ir.WarpOp, x, y ir.Expr) ir.Expr {
	switch op {
	case ir.WarpReduceMin:
		return &ir.Intrinsic{Op: ir.Min, T: x.Type(), Args: []ir.Expr{x, y}}
	case ir.WarpReduceMax:
		return &ir.Intrinsic{Op: ir.Max, T: x.Type(), Args: []ir.Expr{x, y}}
	}
	operators := map[ir.WarpOp]ir.BinaryOp{ir.WarpReduceAdd: ir.Add, ir.WarpReduceAnd: ir.And, ir.WarpReduceOr: ir.Or, ir.WarpReduceXor: ir.Xor}
	return &ir.Binary{Op: operators[op], X: x, Y: y, Strict: true}
}

func (c *collector) scan(x ir.Expr) *ir.Local {
	v := c.local("scanned", x.Type())
	c.set(v, x)
	for distance := int64(1); distance < ir.WarpSize; distance *= 2 {
		other, exists := c.shuffle(ir.WarpShuffleUp, v, distance)
		c.set(v, &ir.Select{Cond: ir.Get(exists), X: combine(ir.WarpReduceAdd, ir.Get(other), ir.Get(v)), Y: ir.Get(v)})
	}
	return v
}

// matchAny loops once per distinct value in the warp. (The instruction match.any needs
// sm_70.)
func (c *collector) matchAny(x ir.Expr) *ir.Local {
	key := c.key(x)
	mask, left := c.local("mask", ir.TUint32), c.local("left", ir.TUint32)
	c.set(mask, ir.IntConst(ir.TUint32, 0))
	c.set(left, ir.Get(c.do(ir.WarpBallot, ir.BoolConst(true))[0]))
	outer := c.out
	c.out = nil
	first := &ir.Intrinsic{Op: ir.TrailingZeros, T: ir.TInt, Args: []ir.Expr{ir.Get(left)}}
	other := c.do(ir.WarpShuffle, ir.Get(key), first)[0]
	same := c.local("same", ir.TBool)
	c.set(same, &ir.Binary{Op: ir.Eq, X: ir.Get(key), Y: ir.Get(other)})
	lanes := c.do(ir.WarpBallot, ir.Get(same))[0]
	c.set(mask, &ir.Select{Cond: ir.Get(same), X: ir.Get(lanes), Y: ir.Get(mask)})
	c.set(left, &ir.Binary{Op: ir.AndNot, X: ir.Get(left), Y: ir.Get(lanes)})
	loop := &ir.Loop{
		Label: &ir.Label{Name: "match"}, Body: c.out, Pos: c.pos,
		Cond: &ir.Binary{Op: ir.Ne, X: ir.Get(left), Y: ir.IntConst(ir.TUint32, 0)},
	}
	c.out = append(outer, loop)
	return mask
}

func (c *collector) matchAll(x ir.Expr) (all, members *ir.Local) {
	key := c.key(x)
	first, _ := c.shuffle(ir.WarpShuffle, key, 0)
	all = c.do(ir.WarpAll, &ir.Binary{Op: ir.Eq, X: ir.Get(key), Y: ir.Get(first)})[0]
	return all, c.do(ir.WarpBallot, ir.BoolConst(true))[0]
}

// key returns a value whose bits are compared instead of the numbers.
func (c *collector) key(x ir.Expr) *ir.Local {
	if t := x.Type(); t.IsFloat() {
		bits := ir.TUint32
		if t.Size() == 8 {
			bits = ir.TUint64
		}
		x = &ir.Intrinsic{Op: ir.Bitcast, T: bits, Args: []ir.Expr{x}}
	}
	v := c.local("key", x.Type())
	c.set(v, x)
	return v
}
