package opt

import "quern.dev/internal/compiler/ir"

// Jam gives loops a form that runs several iterations as one:
//
//	m := c + (max(n, c)-c) &^ (copies-1)
//	for i := c; i < m; i += copies { body(i); body(i+1); ... }
//	for i := m; i < n; i++ { body }
//
// It changes those of the loops that count by one from a constant c >= 0, assigned by
// the statement before the loop, to an invariant bound n. It reports whether it has
// changed any. copies is a power of two. The loops have no jumps out of their bodies, and
// only they use their counters.
func Jam(f *ir.Func, loops map[*ir.Loop]bool, copies int64) bool {
	u := newUnroller(f)
	changed := false
	var list func(body []ir.Stmt) []ir.Stmt
	list = func(body []ir.Stmt) []ir.Stmt {
		var out []ir.Stmt
		for _, s := range body {
			switch s := s.(type) {
			case *ir.If:
				s.Then, s.Else = list(s.Then), list(s.Else)
			case *ir.Block:
				s.Body = list(s.Body)
			case *ir.Loop:
				if n := len(out); loops[s] && n > 0 {
					if both := u.jam(out[n-1], s, copies); both != nil {
						out, changed = append(out[:n-1], both...), true
						continue
					}
				}
				s.Body = list(s.Body)
			}
			out = append(out, s)
		}
		return out
	}
	f.Body = list(f.Body)
	return changed
}

func (u *unroller) jam(before ir.Stmt, s *ir.Loop, copies int64) []ir.Stmt {
	init, ok := before.(*ir.Assign)
	step := u.step(s)
	if !ok || step == nil {
		return nil
	}
	v, _ := ir.Variable(&ir.Load{Place: step.Dst})
	dst, ok := init.Dst.(*ir.VarPlace)
	first := asConst(init.Src)
	cond, isBinary := s.Cond.(*ir.Binary)
	if !ok || dst.Var != v || v.Type.Kind != ir.Int || first == nil || first.Int64() < 0 || !isBinary || cond.Op != ir.Lt {
		return nil
	}
	by, ok := increment(step.Src, v)
	w, isCounter := ir.Variable(cond.X)
	if !ok || by != 1 || !isCounter || w != v || !u.invariant(cond.Y, s, v) {
		return nil
	}

	local := func(name string) *ir.Local {
		l := *v
		l.Name = name
		u.f.Locals = append(u.f.Locals, &l)
		u.homes[&l], u.uses[&l] = u.homes[v], u.uses[v]
		return &l
	}
	set := func(l *ir.Local, src ir.Expr) *ir.Assign {
		return &ir.Assign{Dst: &ir.VarPlace{Var: l}, Src: src, Pos: init.Pos}
	}
	binary := func(op ir.BinaryOp, x, y ir.Expr) ir.Expr { return &ir.Binary{Op: op, X: x, Y: y, Pos: s.Pos} }
	number := func(n int64) ir.Expr { return ir.IntConst(v.Type, n) }
	c := first.Int64()

	end, counter := local("whole"), local(v.Name)
	greater := &ir.Intrinsic{Op: ir.Max, T: v.Type, Args: []ir.Expr{ir.CloneExpr(cond.Y), number(c)}}
	trips := simplifyExpr(binary(ir.Sub, greater, number(c)))
	whole := simplifyExpr(binary(ir.Add, binary(ir.AndNot, trips, number(copies-1)), number(c)))

	here := u.regions[s]
	outside, private := outerLabels(s.Body), u.private(s.Body, here)
	main := &ir.Loop{
		Label: &ir.Label{Name: s.Label.Name}, Cond: binary(ir.Lt, ir.Get(counter), ir.Get(end)),
		Post: []ir.Stmt{set(counter, binary(ir.Add, ir.Get(counter), number(copies)))},
		Pos:  s.Pos, Long: s.Long,
	}
	for i := range copies {
		at := ir.Expr(ir.Get(counter))
		r := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
			if w, ok := ir.Variable(e); !ok || w != v {
				return e
			}
			if i == 0 {
				return ir.CloneExpr(at)
			}
			return binary(ir.Add, ir.CloneExpr(at), number(i))
		}}
		main.Body = append(main.Body, r.Body(u.copyBody(s.Body, outside, private, here))...)
	}
	return []ir.Stmt{set(end, whole), set(counter, first), main, set(v, ir.Get(end)), s}
}
