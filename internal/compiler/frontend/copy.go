package frontend

import (
	"go/ast"
	"go/token"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// copyCall lowers the built-in copy.
func (fn *function) copyCall(e *ast.CallExpr) ir.Expr {
	pos := fn.l.pos(e.Pos())
	dst, to := fn.copiedSlice(e.Args[0])
	src, from := fn.copiedSlice(e.Args[1])
	t := dst.Type()
	if t.Kind != ir.Slice || !t.Equal(src.Type()) {
		return zeroOf(ir.TInt) // already reported
	}
	n := fn.hidden("n", ir.TInt, e.Pos())
	length := &ir.Intrinsic{Op: ir.Min, T: ir.TInt, Args: []ir.Expr{&ir.Len{X: ir.CloneExpr(dst)}, &ir.Len{X: ir.CloneExpr(src)}}}
	fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: n}, Src: length, Pos: pos})
	_, text := from.(ir.Place)
	apart := text || to != nil && from != nil && to != from
	fn.emit(&ir.Memory{Op: ir.SliceCopy, Args: []ir.Expr{dst, src, ir.Get(n)}, Apart: apart, Pos: pos})
	return ir.Get(n)
}

// copiedSlice lowers an argument of copy to a value that can be used more than once.
// The origin is what the slice is known to be part of: a shared variable, a variable of
// the thread, or a constant string. Slices passed to the kernel have no origin, because
// they may overlap.
func (fn *function) copiedSlice(e ast.Expr) (x ir.Expr, origin any) {
	if text, ok := fn.constantString(e); ok {
		p := fn.stringTable(text, e.Pos())
		return &ir.SliceExpr{T: ir.SliceOf(ir.TUint8), Array: p, Pos: fn.l.pos(e.Pos())}, p
	}
	x = fn.expr(e)
	for y := x; ; {
		s, ok := y.(*ir.SliceExpr)
		switch {
		case !ok:
			return fn.stable(x, e.Pos()), nil
		case s.X != nil:
			y = s.X
			continue
		}
		switch root := ir.Root(s.Array).(type) {
		case *ir.VarPlace:
			origin = root.Var
		case *ir.SharedPlace:
			origin = root.Var
		}
		return fn.stable(x, e.Pos()), origin
	}
}

// clearCall lowers the built-in clear of a slice.
func (fn *function) clearCall(e *ast.CallExpr) {
	if t := fn.subst(fn.typeOf(e.Args[0])); t != nil {
		if _, ok := t.Underlying().(*types.Slice); !ok {
			fn.errorf(e.Pos(), "maps are not supported in kernels; use a slice or array indexed by the key")
			return
		}
	}
	x := fn.stable(fn.expr(e.Args[0]), e.Args[0].Pos())
	t := x.Type()
	if t.Kind != ir.Slice || t.Elem.Size() == 0 {
		return
	}
	pos := fn.l.pos(e.Pos())
	i := fn.hidden("i", ir.TInt, token.NoPos)
	set := func(value ir.Expr) ir.Stmt { return &ir.Assign{Dst: &ir.VarPlace{Var: i}, Src: value, Pos: pos} }
	fn.emit(set(ir.IntConst(ir.TInt, 0)))
	fn.emit(&ir.Loop{
		Label: &ir.Label{Name: "clear"},
		Cond:  &ir.Binary{Op: ir.Lt, X: ir.Get(i), Y: &ir.Len{X: ir.CloneExpr(x)}, Pos: pos},
		Body:  []ir.Stmt{&ir.Assign{Dst: &ir.ElemPlace{Slice: x, Index: ir.Get(i), Pos: pos}, Src: &ir.Zero{T: t.Elem}, Pos: pos}},
		Post:  []ir.Stmt{set(&ir.Binary{Op: ir.Add, X: ir.Get(i), Y: ir.IntConst(ir.TInt, 1), Pos: pos})},
		Pos:   pos,
	})
}
