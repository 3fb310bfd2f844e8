package ptx

import "quern.dev/internal/compiler/ir"

// target holds the jump targets of Break and Continue with a label.
type target struct {
	end  label
	next label // for a Loop
}

// body emits statements and reports whether their end is unreachable. Code after a
// statement that leaves is dead.
func (g *generator) body(list []ir.Stmt) (leaves bool) {
	for len(list) > 0 {
		n := g.entering(list)
		before := list[:n]
		list = list[n:]
		loops := leadingLoops(list)
		done := g.keepSteady(loops)
		for range max(1, len(loops)) {
			g.before = before
			leaves = leaves || g.statement(list[0])
			list = list[1:]
		}
		done()
		if leaves {
			return true
		}
	}
	return false
}

// leadingLoops returns the loops at the start of a list: a loop in batches, and the one over
// the rest.
func leadingLoops(list []ir.Stmt) (loops []*ir.Loop) {
	for _, s := range list {
		l, ok := s.(*ir.Loop)
		if !ok {
			break
		}
		loops = append(loops, l)
	}
	return loops
}

func (g *generator) statement(s ir.Stmt) (leaves bool) {
	g.kernel.Func.Poll()
	defer g.assigned(s)
	switch s := s.(type) {
	case *ir.Assign:
		g.at(s.Pos)
		g.assign(s)
	case *ir.If:
		g.at(s.Pos)
		return g.ifStatement(s)
	case *ir.Loop:
		g.within(func() { g.loop(s) })
	case *ir.Block:
		return g.block(s)
	case *ir.Break:
		g.jump(g.loopTarget(s.Label).end)
		return true
	case *ir.Continue:
		g.jump(g.loopTarget(s.Label).next)
		return true
	case *ir.Return:
		g.at(s.Pos)
		g.checkReturn(s)
		g.emit("ret")
		return true
	case *ir.Panic:
		g.at(s.Pos)
		g.panics(s)
		return true
	case *ir.Check:
		g.check(s)
	case *ir.LoadVector:
		g.at(s.Pos)
		g.loadVector(s)
	case *ir.StoreVector:
		g.at(s.Pos)
		g.storeVector(s)
	case *ir.Atomic:
		g.at(s.Pos)
		g.atomicStatement(s)
	case *ir.Effect:
		g.at(s.Pos)
		g.effect(s)
	case *ir.Memory:
		g.at(s.Pos)
		g.memory(s)
	case *ir.Warp:
		g.at(s.Pos)
		g.warp(s)
	case *ir.Barrier:
		g.at(s.Pos)
		g.barrierOf(s.Of)
	case *ir.Fence:
		g.at(s.Pos)
		g.fence(s.Scope)
	case *ir.Call:
		g.fail(s.Pos, "call of %s was not inlined", s.Func.Name)
	default:
		g.fail(ir.Pos{}, "statement %T", s)
	}
	return false
}

func (g *generator) checkReturn(s *ir.Return) {
	if len(s.Results) > 0 {
		g.fail(s.Pos, "return of a value from a kernel")
	}
}

// assign evaluates the source, then the destination's address.
func (g *generator) assign(s *ir.Assign) {
	t := s.Dst.Type()
	if t.Kind == ir.Slice {
		g.assignSlice(s.Dst, s.Src)
		return
	}
	if !t.IsScalar() {
		g.fail(s.Pos, "assignment of type %s as a whole", t)
		return
	}
	if v, ok := s.Dst.(*ir.VarPlace); ok {
		if v := g.variable(v.Var); v.home == inRegisters {
			g.assignVariable(v, s.Src)
			return
		}
	}
	g.storePlace(s.Dst, g.value(s.Src))
}

func (g *generator) assignVariable(v *variable, src ir.Expr) {
	dst := g.scalar(v)
	if v.local.Type.Kind == ir.Pointer {
		p, space := g.pointer(src)
		g.move(dst, g.cast(p, space, v.space))
		return
	}
	g.assignRegister(dst, src)
}

// check evaluates the address of a place for its checks. A variable has no checks.
func (g *generator) check(s *ir.Check) {
	switch ir.Root(s.Place).(type) {
	case *ir.VarPlace:
		if v := g.variable(ir.Root(s.Place).(*ir.VarPlace).Var); v.home == inRegisters {
			return
		}
	}
	g.address(s.Place)
}

func (g *generator) ifStatement(s *ir.If) (leaves bool) {
	if c, ok := s.Cond.(*ir.Const); ok {
		if c.Bits != 0 {
			return g.body(s.Then)
		}
		return g.body(s.Else)
	}
	if len(s.Else) == 0 && (g.jumpStatement(s) || g.resetStatement(s)) {
		return false
	}
	end := g.newLabel()
	if len(s.Then) == 0 {
		g.branch(s.Cond, true, end)
		g.within(func() { g.body(s.Else) })
		g.place(end)
		return false
	}
	if len(s.Else) == 0 {
		g.branch(s.Cond, false, end)
		g.within(func() { g.body(s.Then) })
		g.place(end)
		return false
	}
	otherwise := g.newLabel()
	g.branch(s.Cond, false, otherwise)
	thenLeaves, elseLeaves := false, false
	g.within(func() { thenLeaves = g.body(s.Then) })
	if !thenLeaves {
		g.jump(end)
	}
	g.place(otherwise)
	g.within(func() { elseLeaves = g.body(s.Else) })
	g.place(end)
	return thenLeaves && elseLeaves
}

// jumpStatement emits an if that contains only a jump as a conditional jump.
func (g *generator) jumpStatement(s *ir.If) bool {
	if len(s.Then) != 1 {
		return false
	}
	switch t := s.Then[0].(type) {
	case *ir.Break:
		g.branch(s.Cond, true, g.loopTarget(t.Label).end)
	case *ir.Continue:
		g.branch(s.Cond, true, g.loopTarget(t.Label).next)
	case *ir.Return:
		g.checkReturn(t)
		g.emitIf(g.condition(s.Cond), "ret")
	default:
		return false
	}
	return true
}

// resetStatement emits an if that only sets a variable to a constant as a selection:
// after a jump, ptxas assumes that the variable differs between threads.
func (g *generator) resetStatement(s *ir.If) bool {
	if len(s.Then) != 1 {
		return false
	}
	a, ok := s.Then[0].(*ir.Assign)
	if !ok {
		return false
	}
	c, isConst := a.Src.(*ir.Const)
	p, isVar := a.Dst.(*ir.VarPlace)
	if !isConst || !isVar || c.T.Kind == ir.Bool || g.variable(p.Var).home != inRegisters {
		return false
	}
	defer g.assigned(a)
	v := g.scalar(g.variable(p.Var))
	g.choose(v, g.condition(s.Cond), constOperand(c), v)
	return true
}

// branch jumps to l if cond equals want, and falls through otherwise.
func (g *generator) branch(cond ir.Expr, want bool, l label) {
	switch e := cond.(type) {
	case *ir.Const:
		if (e.Bits != 0) == want {
			g.jump(l)
		}
		return
	case *ir.Unary:
		if e.Op == ir.LNot {
			g.branch(e.X, !want, l)
			return
		}
	case *ir.Binary:
		if e.Op.IsLogical() && !isSpeculable(e.Y) {
			// One value decides: false for &&, true for ||.
			if decides := e.Op == ir.LOr; decides == want {
				g.branch(e.X, want, l)
				g.within(func() { g.branch(e.Y, want, l) })
				return
			}
			skip := g.newLabel()
			g.branch(e.X, !want, skip)
			g.within(func() { g.branch(e.Y, want, l) })
			g.place(skip)
			return
		}
	}
	c := g.condition(cond)
	if !want {
		c = c.not()
	}
	g.jumpIf(c, l)
}

func (g *generator) block(s *ir.Block) (leaves bool) {
	end := g.newLabel()
	g.loops[s.Label] = &target{end: end}
	g.within(func() { leaves = g.body(s.Body) })
	if g.labels[end] > 0 {
		leaves = false
	}
	g.place(end)
	return leaves
}

// loop emits a loop. A simple condition is tested before the first iteration and then
// at the bottom.
func (g *generator) loop(s *ir.Loop) {
	head, t := g.newLabel(), &target{end: g.newLabel(), next: g.newLabel()}
	g.loops[s.Label] = t
	bottom := testsAtBottom(s)
	before := g.before
	g.before = nil

	g.at(s.Pos)
	if bottom {
		g.branch(s.Cond, false, t.end)
	}
	for _, s := range before {
		g.statement(s)
	}
	g.placeHead(head)
	g.stepped.passed = nil
	if s.Unroll == ir.NoUnroll {
		g.pragma("nounroll")
	}
	leaves := false
	if !bottom {
		leaves = g.body(s.Pre)
		if s.Cond != nil && !leaves {
			g.at(s.Pos)
			g.branch(s.Cond, false, t.end)
		}
	}
	done := g.keepShared(s)
	leaves = leaves || g.body(s.Body)
	done()
	if g.labels[t.next] > 0 {
		leaves = false
	}
	g.place(t.next)
	g.stepped.passed = nil
	if !leaves {
		leaves = g.body(s.Post)
	}
	g.at(s.Pos)
	switch {
	case leaves:
	case bottom:
		g.branch(s.Cond, true, head)
	default:
		g.jump(head)
	}
	g.place(t.end)
}

// testsAtBottom reports whether a loop's condition is tested once before the loop and then at its
// end.
func testsAtBottom(s *ir.Loop) bool {
	return len(s.Pre) == 0 && s.Cond != nil && isRepeatable(s.Cond)
}

// isRepeatable reports whether a loop condition is small enough to be emitted twice.
func isRepeatable(e ir.Expr) bool {
	const budget = 16
	nodes := 0
	v := &ir.Visitor{Expr: func(ir.Expr) bool { nodes++; return nodes <= budget }}
	v.Value(e)
	return nodes <= budget
}

func (g *generator) loopTarget(l *ir.Label) *target {
	t := g.loops[l]
	if t == nil {
		g.fail(ir.Pos{}, "jump to label %s, which encloses nothing", l.Name)
		t = &target{end: g.newLabel(), next: g.newLabel()}
	}
	return t
}
