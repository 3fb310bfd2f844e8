package opt

import "quern.dev/internal/compiler/ir"

// stride makes the threads of a block run loops in lockstep that start at the thread's
// own index,
//
//	for i := t.Global(); i < n; i += t.Stride() { ... }
//
// because neighbours then read adjacent elements. The thread's loop becomes a loop of
// the block that begins at the block's first index:
//
//	for k := first; k < n; k += t.Stride() {
//		t.Sync()
//		if k+t.ThreadIdx.X < n { ... }
//	}
//
// The barrier is for the Go back end, which splits the work at barriers. All threads
// must reach the loop, so only loops that are not conditional and not after a return
// change.
func stride(f *ir.Func) {
	s := strider{f: f, uses: countUses(f), values: map[*ir.Local]ir.Expr{}}
	var out []ir.Stmt
	for i, st := range f.Body {
		if leaves([]ir.Stmt{st}, func(s ir.Stmt) bool { _, ok := s.(*ir.Return); return ok }) {
			out = append(out, f.Body[i:]...)
			break
		}
		if a, ok := st.(*ir.Assign); ok {
			s.note(a)
		}
		if loop, ok := st.(*ir.Loop); ok && i > 0 {
			if changed := s.inStep(f.Body[i-1], loop); changed != nil {
				out = append(out[:len(out)-1], changed...)
				continue
			}
		}
		out = append(out, st)
	}
	f.Body = out
}

type strider struct {
	f      *ir.Func
	uses   usages
	values map[*ir.Local]ir.Expr // of variables assigned once
}

func (s *strider) note(a *ir.Assign) {
	if v, ok := a.Dst.(*ir.VarPlace); ok && s.uses[v.Var] != nil && s.uses[v.Var].once() {
		s.values[v.Var] = a.Src
	}
}

// inStep returns the statements of a loop that the block runs in lockstep, or nil if
// the loop does not qualify.
func (s *strider) inStep(before ir.Stmt, loop *ir.Loop) []ir.Stmt {
	init, ok := before.(*ir.Assign)
	if !ok || len(loop.Pre) > 0 || len(loop.Post) != 1 || leaves(loop.Body, s.stays(loop)) {
		return nil
	}
	cond, ok := loop.Cond.(*ir.Binary)
	if !ok || cond.Op != ir.Lt || !s.isUniform(cond.Y) {
		return nil
	}
	dst, ok := init.Dst.(*ir.VarPlace)
	if !ok || dst.Var.Type.Kind != ir.Int {
		return nil
	}
	i := dst.Var
	post, ok := loop.Post[0].(*ir.Assign)
	if !ok || !isVariable(cond.X, i) || assigns(loop.Body, i) || s.uses[i] == nil || s.uses[i].addressed || s.occursOutside(i, init, loop) {
		return nil
	}
	step, ok := post.Src.(*ir.Binary)
	if to, isVar := post.Dst.(*ir.VarPlace); !ok || !isVar || to.Var != i || step.Op != ir.Add || !isVariable(step.X, i) || !s.isUniform(step.Y) {
		return nil
	}
	first, own := s.split(init.Src)
	if own == nil {
		return nil
	}
	k := &ir.Local{Name: i.Name + "First", Type: i.Type, Pos: i.Pos, Hidden: true}
	s.f.Locals = append(s.f.Locals, k)
	if first == nil {
		first = ir.IntConst(i.Type, 0)
	}
	// The index is not a variable: k is the row's only within the loop body.
	index := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		if isVariable(e, i) {
			return &ir.Binary{Op: ir.Add, X: ir.Get(k), Y: ir.CloneExpr(own)}
		}
		return e
	}}
	bound := ir.CloneExpr(cond.Y)
	begin := []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: k}, Src: first, Pos: init.Pos}}
	if four, end := s.together(k, first, own, step.Y, cond.Y, index, loop); four != nil {
		rest := &ir.Intrinsic{Op: ir.Max, T: k.Type, Args: []ir.Expr{end, ir.CloneExpr(first)}}
		begin = append(four, &ir.Assign{Dst: &ir.VarPlace{Var: k}, Src: rest, Pos: init.Pos})
	}
	guarded := &ir.If{Cond: index.Value(cond), Then: index.Body(loop.Body), Pos: loop.Pos}
	return append(begin,
		&ir.Loop{
			Label: loop.Label,
			Cond:  &ir.Binary{Op: ir.Lt, X: ir.Get(k), Y: bound, Pos: cond.Pos},
			Body:  []ir.Stmt{&ir.Barrier{Pos: loop.Pos}, guarded},
			Post: []ir.Stmt{&ir.Assign{
				Dst: &ir.VarPlace{Var: k},
				Src: &ir.Binary{Op: ir.Add, X: ir.Get(k), Y: step.Y, Pos: step.Pos}, Pos: post.Pos,
			}},
			Pos: loop.Pos,
		})
}

// A thread runs strideCopies iterations at once if their bodies have at most
// maxStrideNodes nodes.
const (
	strideCopies   = 4
	maxStrideNodes = 60
)

// together returns a loop that runs as many times strideCopies iterations as all threads
// of a block of one row run, and the counter behind it, which is not less than first:
//
//	for k := first; 0 < step && step < 1<<40 && 0 <= n && k < n-3*step-BlockDim.X {
//		t.Sync()
//		body(k+ThreadIdx.X); body(k+step+ThreadIdx.X); ...
//		k += 4 * step
//	}
//
// The result is empty if the block may have several rows, or the body is large.
func (s *strider) together(counter *ir.Local, first, own, step, bound ir.Expr, index ir.Rewriter, loop *ir.Loop) ([]ir.Stmt, ir.Expr) {
	x, ok := own.(*ir.ThreadValue)
	if !ok || x.Op != ir.ThreadIdxX || !s.isPlain(loop.Body) {
		return nil, nil
	}
	again := *counter
	k := &again
	s.f.Locals = append(s.f.Locals, k)
	binary := func(op ir.BinaryOp, x, y ir.Expr) ir.Expr {
		return &ir.Binary{Op: op, X: x, Y: ir.CloneExpr(y), Pos: loop.Pos}
	}
	number := func(n int64) ir.Expr { return ir.IntConst(ir.TInt, n) }
	times := func(n int64) ir.Expr { return binary(ir.Mul, ir.CloneExpr(step), number(n)) }
	and := func(x, y ir.Expr) ir.Expr { return &ir.Binary{Op: ir.LAnd, X: x, Y: y} }

	last := binary(ir.Sub, binary(ir.Sub, ir.CloneExpr(bound), times(strideCopies-1)), &ir.ThreadValue{Op: ir.BlockDimX})
	cond := and(binary(ir.Lt, number(0), step), binary(ir.Lt, ir.CloneExpr(step), number(1<<40)))
	cond = and(cond, binary(ir.Le, number(0), bound))
	cond = and(cond, binary(ir.Lt, ir.Get(k), last))

	u := newUnroller(s.f)
	here := u.regions[loop]
	outside, private := outerLabels(loop.Body), u.private(loop.Body, here)
	body := []ir.Stmt{&ir.Barrier{Pos: loop.Pos}}
	for i := range int64(strideCopies) {
		at := &ir.Local{Name: "at", Type: k.Type, Pos: loop.Pos, Hidden: true}
		s.f.Locals = append(s.f.Locals, at)
		src := ir.Expr(ir.Get(k))
		if i > 0 {
			src = binary(ir.Add, src, times(i))
		}
		body = append(body, &ir.Assign{Dst: &ir.VarPlace{Var: at}, Src: src, Pos: loop.Pos})
		shift := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
			if isVariable(e, counter) {
				return ir.Get(at)
			}
			return e
		}}
		body = append(body, shift.Body(index.Body(u.copyBody(loop.Body, outside, private, here)))...)
	}
	return []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: k}, Src: ir.CloneExpr(first), Pos: loop.Pos}, &ir.Loop{
		Label: &ir.Label{Name: loop.Label.Name}, Cond: cond, Body: body,
		Post: []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: k}, Src: binary(ir.Add, ir.Get(k), times(strideCopies)), Pos: loop.Pos}},
		Pos:  loop.Pos,
	}}, ir.Get(k)
}

// isPlain reports whether a loop with the body runs several iterations at once.
func (s *strider) isPlain(body []ir.Stmt) bool {
	return size(body) <= maxStrideNodes && !leaves(body, func(st ir.Stmt) bool {
		switch st.(type) {
		case *ir.Assign, *ir.If:
			return false
		}
		return !ir.IsOperation(st)
	})
}

// stays returns a test for statements that prevent the change: those that leave the
// loop, and those that synchronize threads.
func (s *strider) stays(loop *ir.Loop) func(ir.Stmt) bool {
	return func(st ir.Stmt) bool {
		switch st := st.(type) {
		case *ir.Break:
			return st.Label == loop.Label
		case *ir.Continue:
			return st.Label == loop.Label
		case *ir.Return, *ir.Barrier, *ir.Warp:
			return true
		}
		return false
	}
}

func isVariable(e ir.Expr, v *ir.Local) bool {
	w, ok := ir.Variable(e)
	return ok && w == v
}

// occursOutside reports whether v occurs outside a loop and its init.
func (s *strider) occursOutside(v *ir.Local, init *ir.Assign, loop *ir.Loop) bool {
	count := func(list []ir.Stmt) int {
		n := 0
		visitor := ir.Visitor{Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok && p.Var == v {
				n++
			}
			return true
		}}
		visitor.Body(list)
		return n
	}
	return count(s.f.Body) != count([]ir.Stmt{init, loop})
}

// isUniform reports whether all threads of a block compute the same value, at any time.
func (s *strider) isUniform(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Len:
		return s.isUniform(e.X)
	case *ir.Convert:
		return s.isUniform(e.X)
	case *ir.Binary:
		return !e.Check && s.isUniform(e.X) && s.isUniform(e.Y)
	case *ir.ThreadValue:
		switch e.Op {
		case ir.ThreadIdxX, ir.ThreadIdxY, ir.ThreadIdxZ, ir.LaneID, ir.WarpID:
			return false
		}
		return true
	case *ir.Load:
		v, ok := ir.Variable(e)
		if !ok || s.uses[v] == nil || s.uses[v].addressed {
			return false
		}
		if s.uses[v].param {
			return s.uses[v].writes == 1 && s.uses[v].parts == 0
		}
		value, known := s.values[v]
		return known && s.isUniform(value)
	}
	return false
}

// split splits a sum into a uniform part, nil for 0, and a non-negative part of the
// thread's own, nil if there is no such sum.
func (s *strider) split(e ir.Expr) (uniform, own ir.Expr) {
	if s.isUniform(e) {
		return ir.CloneExpr(e), nil
	}
	if s.isOwn(e) {
		return nil, ir.CloneExpr(e)
	}
	if v, ok := ir.Variable(e); ok && s.values[v] != nil {
		return s.split(s.values[v])
	}
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != ir.Add {
		return nil, nil
	}
	uniformX, ownX := s.split(b.X)
	uniformY, ownY := s.split(b.Y)
	if uniformX == nil && ownX == nil || uniformY == nil && ownY == nil {
		return nil, nil
	}
	return total(uniformX, uniformY), total(ownX, ownY)
}

// isOwn reports whether an expression is an index of the thread within its block, or a
// multiple of one.
func (s *strider) isOwn(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.ThreadValue:
		return e.Op == ir.ThreadIdxX || e.Op == ir.ThreadIdxY || e.Op == ir.ThreadIdxZ
	case *ir.Binary:
		return e.Op == ir.Mul && (s.isOwn(e.X) && isExtent(e.Y) || isExtent(e.X) && s.isOwn(e.Y))
	}
	return false
}

func total(x, y ir.Expr) ir.Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return &ir.Binary{Op: ir.Add, X: x, Y: y}
}
