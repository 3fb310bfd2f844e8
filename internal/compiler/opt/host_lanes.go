package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// laneLoops makes the lanes of a warp run loops in lockstep in which they divide a range
// that is the same for the warp, up to one of the warp's operations:
//
//	for e := from + t.Lane(); e < to; e += 32 { sum += in[e] }
//	sum = kernel.WarpReduceAdd(t, sum)
//
// because neighbours then read adjacent elements. The lane's loop becomes one of the warp:
//
//	for k := from; k < to; k += 32 {
//		t.SyncWarp()
//		if t.Lane() < to-k { sum += in[k+t.Lane()] }
//	}
//
// SyncWarp is for the Go back end, which splits the work at operations of the warp. The
// lane's loop remains for ranges in which its counter could wrap. It also remains for the
// end of a range, where the Go back end turns it into one loop over the elements (isFlat).
func laneLoops(k *ir.Kernel) {
	if !leaves(k.Func.Body, IsWarp) {
		return
	}
	b := k.Options.Block
	oneWarp := k.Options.OneWarp() && b[1] <= 1 && b[2] <= 1
	l := &laneLooper{k: k, uniform: AnalyseWarp(k), ofBlock: Analyse(k), oneWarp: oneWarp, strider: strider{f: k.Func, uses: countUses(k.Func), values: map[*ir.Local]ir.Expr{}}}
	k.Func.Body = l.list(k.Func.Body)
}

type laneLooper struct {
	k       *ir.Kernel
	uniform *Uniformity
	ofBlock *Uniformity
	oneWarp bool // the block is a row of at most one warp
	strider strider
}

func (l *laneLooper) list(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for i, st := range list {
		switch st := st.(type) {
		case *ir.Assign:
			l.strider.note(st)
		case *ir.If:
			st.Then, st.Else = l.list(st.Then), l.list(st.Else)
		case *ir.Block:
			st.Body = l.list(st.Body)
		case *ir.Loop:
			if at, end := l.start(out, st), l.warpReaches(list[i+1:]); at >= 0 && end != nil {
				if first, rest := l.inStep(out[at].(*ir.Assign), st, end); first != nil {
					out[at] = first
					out = append(out, rest...)
					continue
				}
			}
			st.Body = l.list(st.Body)
		}
		out = append(out, st)
	}
	return out
}

// start returns the position of the assignment to a loop's counter, which at most the
// assignment of the loop's bound follows, or -1.
func (l *laneLooper) start(before []ir.Stmt, loop *ir.Loop) int {
	cond, ok := loop.Cond.(*ir.Binary)
	if !ok {
		return -1
	}
	for i := len(before) - 1; i >= max(0, len(before)-2); i-- {
		a, ok := before[i].(*ir.Assign)
		if !ok {
			return -1
		}
		dst, ok := a.Dst.(*ir.VarPlace)
		switch {
		case ok && isVariable(cond.X, dst.Var):
			return i
		case !ok || !isVariable(cond.Y, dst.Var):
			return -1
		}
	}
	return -1
}

// warpReaches returns the operation of the whole warp to which the statements lead, so that
// all its lanes are there at the start, or nil.
func (l *laneLooper) warpReaches(rest []ir.Stmt) *ir.Warp {
	for _, st := range rest {
		if end, ok := st.(*ir.Warp); ok {
			return end
		}
		if leaves([]ir.Stmt{st}, isJump) {
			return nil
		}
	}
	return nil
}

func isJump(st ir.Stmt) bool {
	switch st.(type) {
	case *ir.Break, *ir.Continue, *ir.Return:
		return true
	}
	return false
}

// maxLaneKept is the maximum number of a lane's variables that are loaded and stored in
// each iteration.
const maxLaneKept = 4

// inStep returns the statements of a loop that a warp runs in lockstep, first the one that
// replaces init. They are nil if the loop does not qualify. The operation end follows it.
func (l *laneLooper) inStep(init *ir.Assign, loop *ir.Loop, end *ir.Warp) (first ir.Stmt, rest []ir.Stmt) {
	s := &l.strider
	e, t := init.Dst.(*ir.VarPlace).Var, init.Dst.Type()
	if len(loop.Pre) > 0 || len(loop.Post) != 1 || leaves(loop.Body, s.stays(loop)) || !slices.Contains(laneCounters, t.Kind) {
		return nil, nil
	}
	cond := loop.Cond.(*ir.Binary)
	post, ok := loop.Post[0].(*ir.Assign)
	if !ok || cond.Op != ir.Lt || assigns(loop.Body, e) || s.uses[e].addressed || s.occursOutside(e, init, loop) {
		return nil, nil
	}
	next, ok := post.Src.(*ir.Binary)
	if to, isVar := post.Dst.(*ir.VarPlace); !ok || !isVar || to.Var != e || next.Op != ir.Add || !isVariable(next.X, e) {
		return nil, nil
	}
	by := asConst(next.Y)
	if by == nil || by.Int64() <= 0 || by.Int64() > ir.WarpSize*ir.WarpSize {
		return nil, nil
	}
	h := hoister{f: s.f, uses: s.uses}
	if ir.MayFault(cond.Y) || !ofVariables(cond.Y) || !l.uniform.UniformExpr(cond.Y) || !h.steady(loop, cond.Y) {
		return nil, nil
	}
	step := by.Int64()
	from, ok := l.split(init.Src)
	if !ok || !l.keepsFew(init, loop, e) || !l.adjacent(loop.Body, e) {
		return nil, nil
	}
	if from == nil {
		from = ir.IntConst(t, 0)
	}
	if !l.oneWarp && l.ofBlock.Together(end) && l.ofBlock.UniformExpr(from) && l.ofBlock.UniformExpr(cond.Y) {
		return nil, nil // rows of several warps would run it, in which neighbours are not always adjacent
	}
	k := &ir.Local{Name: e.Name + "First", Type: t, Pos: e.Pos, Hidden: true}
	s.f.Locals = append(s.f.Locals, k)
	lane := func() ir.Expr {
		if l.oneWarp {
			return &ir.ThreadValue{Op: ir.ThreadIdxX}
		}
		return &ir.ThreadValue{Op: ir.LaneID}
	}
	at := func(by int64) ir.Expr { return sumOf(ir.Get(k), by) }
	binary := func(op ir.BinaryOp, x, y ir.Expr) ir.Expr { return &ir.Binary{Op: op, X: x, Y: y, Pos: loop.Pos} }
	own := func(by int64) ir.Expr { return binary(ir.Add, at(by), converted(t, lane())) }
	u := newUnroller(s.f)
	here := u.regions[loop]
	copied := func(by int64) []ir.Stmt {
		owns := map[ir.Expr]bool{}
		whole := func(p *ir.Expr) { // an index does not wrap: it need not have the counter's type
			if owns[*p] {
				*p = binary(ir.Add, converted(ir.TInt, at(by)), lane())
			}
		}
		index := ir.Rewriter{
			Expr: func(x ir.Expr) ir.Expr {
				if isVariable(x, e) {
					x = own(by)
					owns[x] = true
				}
				return x
			},
			Place: func(p ir.Place) ir.Place {
				switch p := p.(type) {
				case *ir.ElemPlace:
					whole(&p.Index)
				case *ir.IndexPlace:
					whole(&p.Index)
				}
				return p
			},
		}
		return index.Body(u.copyBody(loop.Body, outerLabels(loop.Body), u.private(loop.Body, here), here))
	}
	last := int64(1)<<(8*t.Size()-1) - 1
	if !t.IsSigned() {
		last = 1<<(8*t.Size()) - 1
	}
	fits := binary(ir.LAnd, binary(ir.Le, ir.Get(k), ir.IntConst(t, last-ir.WarpSize)),
		binary(ir.Le, ir.CloneExpr(cond.Y), ir.IntConst(t, last-step)))
	if t.IsSigned() {
		fits = binary(ir.LAnd, binary(ir.Le, ir.IntConst(t, 0), ir.Get(k)), fits)
	}
	left := func() ir.Expr {
		return binary(ir.Sub, converted(ir.TInt, ir.CloneExpr(cond.Y)), converted(ir.TInt, ir.Get(k)))
	}
	ofWarp := func(cond ir.Expr, copies int64) ir.Stmt {
		body := []ir.Stmt{&ir.Warp{Op: ir.WarpSync, Pos: loop.Pos}}
		if copies == 1 {
			body = append(body, &ir.If{Cond: binary(ir.Lt, lane(), left()), Then: copied(0), Pos: loop.Pos})
		} else {
			for i := range copies {
				body = append(body, copied(i*step)...)
			}
		}
		return &ir.Loop{
			Label: &ir.Label{Name: loop.Label.Name}, Cond: cond, Body: body,
			Post: []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: k}, Src: at(copies * step), Pos: post.Pos}},
			Pos:  loop.Pos,
		}
	}
	more := func() ir.Expr { return &ir.Binary{Op: ir.Lt, X: ir.Get(k), Y: ir.CloneExpr(cond.Y), Pos: cond.Pos} }
	var then []ir.Stmt
	if s.isPlain(loop.Body) {
		full := ir.IntConst(ir.TInt, (strideCopies-1)*step+ir.WarpSize)
		then = append(then, ofWarp(binary(ir.LAnd, more(), binary(ir.Le, full, left())), strideCopies))
	}
	first = &ir.Assign{Dst: &ir.VarPlace{Var: k}, Src: from, Pos: init.Pos}
	own0 := &ir.Assign{Dst: &ir.VarPlace{Var: e}, Src: own(0), Pos: init.Pos}
	if step == ir.WarpSize && l.isFlat(loop.Body, e) {
		return first, []ir.Stmt{
			&ir.If{Cond: fits, Then: then, Pos: loop.Pos},
			own0, loop,
			&ir.Warp{Op: ir.WarpSync, Pos: loop.Pos},
		}
	}
	return first, []ir.Stmt{&ir.If{
		Cond: fits, Then: append(then, ofWarp(more(), 1)), Pos: loop.Pos,
		Else: []ir.Stmt{own0, loop},
	}}
}

// isFlat reports whether the Go back end has a loop over all elements of a range for a loop
// whose step is the size of a warp, in which each lane only assigns variables.
func (l *laneLooper) isFlat(body []ir.Stmt, e *ir.Local) bool {
	b := l.k.Options.Block
	if b[0] == 0 || b[0]%ir.WarpSize != 0 || b[1] > 1 || b[2] > 1 || !l.strider.isPlain(body) {
		return false
	}
	if leaves(body, func(st ir.Stmt) bool {
		switch st := st.(type) {
		case *ir.If:
			return false
		case *ir.Assign:
			_, isLocal := st.Dst.(*ir.VarPlace)
			return !isLocal
		}
		return true
	}) {
		return false
	}
	found := e.Type.Kind == ir.Int // other types' sums may wrap
	v := ir.Visitor{Place: func(p ir.Place) bool {
		at, ok := p.(*ir.ElemPlace)
		found = found || ok && isVariable(at.Index, e)
		return !found
	}}
	v.Body(body)
	return found
}

// sumOf returns x plus a number.
func sumOf(x ir.Expr, n int64) ir.Expr {
	if n == 0 {
		return x
	}
	return &ir.Binary{Op: ir.Add, X: x, Y: ir.IntConst(x.Type(), n)}
}

// laneCounters are the types of counters whose sums fit into an int.
var laneCounters = []ir.Kind{ir.Int, ir.Int64, ir.Int32, ir.Uint32}

func converted(t *ir.Type, x ir.Expr) ir.Expr {
	if x.Type().Kind == t.Kind {
		return x
	}
	return &ir.Convert{T: t, X: x}
}

// split splits a sum of the lane's number and values that are the same for the warp into
// the sum of the latter, which is nil if there are none.
func (l *laneLooper) split(x ir.Expr) (from ir.Expr, ok bool) {
	if l.isLane(x) {
		return nil, true
	}
	b, ok := x.(*ir.Binary)
	if !ok || b.Op != ir.Add {
		return nil, false
	}
	for _, order := range [...][2]ir.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		rest, ok := l.split(order[0])
		if ok && l.uniform.UniformExpr(order[1]) {
			return total(rest, ir.CloneExpr(order[1])), true
		}
	}
	return nil, false
}

// isLane reports whether an expression is the number of the thread in its warp.
func (l *laneLooper) isLane(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.ThreadValue:
		return x.Op == ir.LaneID
	case *ir.Convert:
		return x.T.IsInteger() && l.isLane(x.X)
	case *ir.Load:
		v, ok := ir.Variable(x)
		return ok && l.strider.values[v] != nil && l.isLane(l.strider.values[v])
	case *ir.Binary:
		b := l.k.Options.Block
		first, ok := x.X.(*ir.ThreadValue)
		n := asConst(x.Y)
		return ok && n != nil && first.Op == ir.ThreadIdxX && b[0] > 0 && b[1] <= 1 && b[2] <= 1 &&
			(x.Op == ir.And && n.Int64() == ir.WarpSize-1 || x.Op == ir.Rem && n.Int64() == ir.WarpSize)
	}
	return false
}

// keepsFew reports whether few of a lane's variables live longer than an iteration.
func (l *laneLooper) keepsFew(init *ir.Assign, loop *ir.Loop, e *ir.Local) bool {
	kept := map[*ir.Local]bool{}
	few := true
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok && p.Var != e && !kept[p.Var] {
			u := l.strider.uses[p.Var]
			if u == nil || u.addressed {
				few = false
			} else if !u.param && (!l.uniform.IsUniform(p.Var) || assigns(loop.Body, p.Var)) && l.strider.occursOutside(p.Var, init, loop) {
				kept[p.Var] = true
				few = few && p.Var.Type.IsScalar() && len(kept) <= maxLaneKept
			}
		}
		return few
	}}
	v.Body(loop.Body)
	leaves(loop.Body, func(st ir.Stmt) bool {
		for p := range ir.Targets(st) {
			v.Target(*p)
		}
		for d := range ir.Defined(st) {
			v.Place(&ir.VarPlace{Var: d})
		}
		return !few
	})
	return few
}

// adjacent reports whether neighbouring lanes access adjacent elements in a body.
func (l *laneLooper) adjacent(body []ir.Stmt, e *ir.Local) bool {
	found := false
	var isNext func(x ir.Expr) bool
	isNext = func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.Load:
			return isVariable(x, e)
		case *ir.Convert:
			return isNext(x.X)
		case *ir.Binary:
			return x.Op == ir.Add && (isNext(x.X) && l.uniform.UniformExpr(x.Y) || isNext(x.Y) && l.uniform.UniformExpr(x.X))
		}
		return false
	}
	v := ir.Visitor{Place: func(p ir.Place) bool {
		switch p := p.(type) {
		case *ir.ElemPlace:
			found = found || isNext(p.Index)
		case *ir.IndexPlace:
			found = found || isNext(p.Index)
		}
		return !found
	}}
	v.Body(body)
	return found
}
