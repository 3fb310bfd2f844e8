package frontend

import (
	"go/ast"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// groupMMA lowers the multiplication of tiles in shared memory.
func (fn *function) groupMMA(e *ast.CallExpr, typeArgs []types.Type) {
	fn.threadValue(e.Args[0])
	if !fn.l.kernel.Options.FullGroups() {
		fn.errorf(e.Pos(), "kernel.GroupMMA needs groups of 128 threads; declare a block that is a multiple of 128 on the directive: //quern:kernel block=128")
		return
	}
	a, _ := matrixFormat(lineElement(typeArgs[0]))
	b, _ := matrixFormat(lineElement(typeArgs[1]))
	op, ok := ir.GroupMMA(a, b)
	if !ok {
		fn.errorf(e.Pos(), "kernel.GroupMMA multiplies tiles of the same type, or of int8 and uint8, or of 8-bit floats, not of %s and %s", typeString(typeArgs[0]), typeString(typeArgs[1]))
		return
	}
	whole, _ := ast.Unparen(e.Args[3]).(*ast.SliceExpr)
	if whole == nil || whole.Low != nil || whole.High != nil {
		fn.errorf(e.Args[3].Pos(), "kernel.GroupMMA adds to all of an array variable; write its name followed by [:]")
		return
	}
	s := &ir.Warp{Op: op, Pos: fn.l.pos(e.Pos())}
	for _, arg := range e.Args[1:3] {
		s.Args = append(s.Args, fn.exprAs(arg, nil))
	}
	place := fn.place(whole.X)
	variable, _ := place.(*ir.VarPlace)
	t := place.Type()
	switch {
	case variable != nil && fn.isBad(variable):
		return
	case variable == nil || t.Kind != ir.Array:
		fn.errorf(whole.X.Pos(), "kernel.GroupMMA adds to an array variable, which every thread has for itself")
		return
	case t.Len != 8 && t.Len != 16 && t.Len != 32:
		fn.errorf(whole.X.Pos(), "kernel.GroupMMA with %d accumulators; the number is 8, 16 or 32", t.Len)
		return
	case t.Elem.Elem.Kind != op.MMASum().Kind:
		fn.errorf(e.Pos(), "kernel.GroupMMA of %s adds up in accumulators of %s, not of %s", typeString(typeArgs[0]), op.MMASum(), t.Elem.Elem)
		return
	}
	var sums []ir.Place
	for j := range t.Len {
		for i := range t.Elem.Len {
			row := &ir.IndexPlace{X: &ir.VarPlace{Var: variable.Var}, Index: ir.IntConst(ir.TInt, j)}
			p := &ir.IndexPlace{X: row, Index: ir.IntConst(ir.TInt, i)}
			sums = append(sums, p)
			s.Args = append(s.Args, &ir.Load{Place: p})
			s.Dst = append(s.Dst, fn.hidden("sum", op.MMASum(), e.Pos()))
		}
	}
	fn.f.UsesThread = true
	fn.emit(s)
	for i, p := range sums {
		fn.emit(&ir.Assign{Dst: ir.ClonePlace(p), Src: ir.Get(s.Dst[i]), Pos: s.Pos})
	}
}

// lineElement returns the element type of a line of a matrix.
func lineElement(t types.Type) types.Type {
	if line, ok := t.Underlying().(*types.Array); ok {
		return line.Elem()
	}
	return t
}
