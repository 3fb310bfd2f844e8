package opt

import "quern.dev/internal/compiler/ir"

// copies turns copies of slices into loops. They run from the last element to the first
// if the destination begins behind the source, so that no element is read after it was
// overwritten.
func copies(k *ir.Kernel) error {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		m, ok := s.(*ir.Memory)
		if !ok || m.Op != ir.SliceCopy {
			return []ir.Stmt{s}
		}
		return copyLoops(k.Func, m)
	}}
	k.Func.Body = r.Body(k.Func.Body)
	return nil
}

// copyLoops returns loops that copy a slice element by element.
func copyLoops(f *ir.Func, m *ir.Memory) []ir.Stmt {
	dst, src, n, pos := m.Args[0], m.Args[1], m.Args[2], m.Pos
	t := dst.Type()
	if t.Elem.Size() == 0 {
		return nil
	}
	i := &ir.Local{Name: "i", Type: ir.TInt, Pos: pos, Hidden: true}
	f.Locals = append(f.Locals, i)
	elem := func(x ir.Expr, index ir.Expr) *ir.ElemPlace {
		return &ir.ElemPlace{Slice: ir.CloneExpr(x), Index: index, Pos: pos}
	}
	binary := func(op ir.BinaryOp, x, y ir.Expr) ir.Expr { return &ir.Binary{Op: op, X: x, Y: y, Pos: pos} }
	set := func(x ir.Expr) ir.Stmt { return &ir.Assign{Dst: &ir.VarPlace{Var: i}, Src: x, Pos: pos} }
	integer := func(v int64) ir.Expr { return ir.IntConst(ir.TInt, v) }
	loop := func(first ir.Expr, op ir.BinaryOp, end ir.Expr, step ir.BinaryOp) []ir.Stmt {
		return []ir.Stmt{set(first), &ir.Loop{
			Label: &ir.Label{Name: "copy"},
			Cond:  binary(op, ir.Get(i), end),
			Body:  []ir.Stmt{&ir.Assign{Dst: elem(dst, ir.Get(i)), Src: &ir.Load{Place: elem(src, ir.Get(i))}, Pos: pos}},
			Post:  []ir.Stmt{set(binary(step, ir.Get(i), integer(1)))},
			Pos:   pos,
		}}
	}
	forward := loop(integer(0), ir.Lt, ir.CloneExpr(n), ir.Add)
	if m.Apart {
		return forward
	}
	address := func(x ir.Expr) ir.Expr { return &ir.Addr{T: ir.PointerTo(t.Elem), Place: elem(x, integer(0))} }
	backward := loop(binary(ir.Sub, n, integer(1)), ir.Ge, integer(0), ir.Sub)
	return []ir.Stmt{&ir.If{Cond: binary(ir.Gt, address(dst), address(src)), Then: backward, Else: forward, Pos: pos}}
}
