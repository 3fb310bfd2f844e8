package frontend

import (
	"go/ast"
	"go/token"
	"go/types"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/mma"
)

// matrixLoads lists the functions of package kernel that read fragments from shared
// memory, with their operation and the words that they read of each fragment.
var matrixLoads = map[string]struct {
	op    ir.WarpOp
	words [][]int
}{
	"LoadMatrixA":           {ir.WarpLoadMatrix, [][]int{{0, 1, 2, 3}}},
	"LoadMatrixATransposed": {ir.WarpLoadMatrixTransposed, [][]int{{0, 2, 1, 3}}},
	"LoadMatrixB":           {ir.WarpLoadMatrixTransposed, [][]int{{0, 1}, {2, 3}}},
	"LoadMatrixBTransposed": {ir.WarpLoadMatrix, [][]int{{0, 2}, {1, 3}}},
}

// matrixFormat returns the format of matrix elements of type t.
func matrixFormat(t types.Type) (f mma.Format, ok bool) {
	switch {
	case isKernelType(t, "Float16"):
		return mma.Float16, true
	case isKernelType(t, "BFloat16"):
		return mma.BFloat16, true
	case isKernelType(t, "Float8E4M3"):
		return mma.E4M3, true
	case isKernelType(t, "Float8E5M2"):
		return mma.E5M2, true
	}
	b, ok := t.(*types.Basic)
	if !ok {
		return 0, false
	}
	f, ok = map[types.BasicKind]mma.Format{types.Float32: mma.TF32, types.Float64: mma.Float64, types.Int8: mma.Int8, types.Uint8: mma.Uint8}[b.Kind()]
	return f, ok
}

// matrix lowers the functions of package kernel for fragments.
func (fn *function) matrix(e *ast.CallExpr, name string, typeArgs []types.Type) ([]ir.Expr, bool) {
	_, load := matrixLoads[name]
	switch {
	case load && len(typeArgs) == 2 && len(e.Args) == 2:
		return fn.loadMatrix(e, name, typeArgs), true
	case name == "MMA" && len(typeArgs) == 3 && len(e.Args) == 4:
		return []ir.Expr{fn.mma(e, typeArgs)}, true
	case name == "GroupMMA" && len(typeArgs) == 3 && len(e.Args) == 4:
		fn.groupMMA(e, typeArgs)
		return nil, true
	case name == "matrixWord" && len(typeArgs) == 1:
		f, _ := matrixFormat(typeArgs[0])
		return []ir.Expr{ir.IntConst(ir.TInt, int64(4/f.Size()))}, true
	case name == "matrixBits" && len(typeArgs) == 1:
		return []ir.Expr{fn.matrixBits(fn.exprAs(e.Args[0], fn.typ(typeArgs[0], e.Pos())), e.Pos())}, true
	}
	return nil, load || name == "MMA" || name == "GroupMMA"
}

// wholeWarps reports an error unless the kernel declares a block of whole warps.
func (fn *function) wholeWarps(e *ast.CallExpr, name string) {
	if !fn.l.kernel.Options.FullWarps() {
		fn.errorf(e.Pos(), "kernel.%s needs warps of 32 threads; declare a block that is a multiple of 32 on the directive: //quern:kernel block=128", name)
	}
}

// loadMatrix lowers the reading of one or two fragments.
func (fn *function) loadMatrix(e *ast.CallExpr, name string, typeArgs []types.Type) []ir.Expr {
	fn.threadValue(e.Args[0])
	fn.wholeWarps(e, name)
	load := matrixLoads[name]
	signature, _ := fn.subst(fn.typeOf(e.Fun)).(*types.Signature)
	line, ok := typeArgs[1].Underlying().(*types.Array)
	if signature == nil {
		return nil
	}
	p := fn.exprAs(e.Args[1], nil)
	if !ok || !types.Identical(line.Elem(), typeArgs[0]) {
		fn.errorf(e.Args[1].Pos(), "kernel.%s of %s takes a pointer to 16 bytes of them, not to %s", name, typeString(typeArgs[0]), typeString(typeArgs[1]))
		return fn.zeros(signature.Results(), e)
	}
	s := &ir.Warp{Op: load.op, Args: []ir.Expr{p}, Pos: fn.l.pos(e.Pos())}
	for range 4 {
		s.Dst = append(s.Dst, fn.hidden("word", ir.TUint32, e.Pos()))
	}
	fn.f.UsesThread = true
	fn.emit(s)
	var fragments []ir.Expr
	for i, words := range load.words {
		c := &ir.Composite{T: fn.typ(signature.Results().At(i).Type(), e.Pos())}
		for _, w := range words {
			c.Elems = append(c.Elems, ir.Get(s.Dst[w]))
		}
		fragments = append(fragments, c)
	}
	return fragments
}

// mma lowers the multiplication.
func (fn *function) mma(e *ast.CallExpr, typeArgs []types.Type) ir.Expr {
	fn.threadValue(e.Args[0])
	fn.wholeWarps(e, "MMA")
	t := fn.valueType(e)
	a, _ := matrixFormat(typeArgs[0])
	b, _ := matrixFormat(typeArgs[1])
	op, ok := ir.MMA(a, b)
	if !ok {
		fn.errorf(e.Pos(), "kernel.MMA multiplies matrices of the same type, or of int8 and uint8, or of 8-bit floats, not of %s and %s", typeString(typeArgs[0]), typeString(typeArgs[1]))
		return zeroOf(t)
	}
	if sum := op.MMASum(); t.Elem.Kind != sum.Kind {
		fn.errorf(e.Pos(), "kernel.MMA of %s adds up in a kernel.Accumulator[%s], not [%s]", typeString(typeArgs[0]), sum, t.Elem)
		return zeroOf(t)
	}
	s := &ir.Warp{Op: op, Pos: fn.l.pos(e.Pos())}
	for _, arg := range e.Args[1:] {
		v := fn.temp(fn.expr(arg), arg.Pos()) // a later argument may emit statements
		for i := range v.Type.Len {
			s.Args = append(s.Args, &ir.Load{Place: &ir.IndexPlace{X: &ir.VarPlace{Var: v}, Index: ir.IntConst(ir.TInt, i)}})
		}
	}
	sum := &ir.Composite{T: t}
	for range t.Len {
		d := fn.hidden("sum", t.Elem, e.Pos())
		s.Dst = append(s.Dst, d)
		sum.Elems = append(sum.Elems, ir.Get(d))
	}
	fn.f.UsesThread = true
	fn.emit(s)
	return sum
}

// matrixBits returns the bits of a matrix element as uint64.
func (fn *function) matrixBits(x ir.Expr, pos token.Pos) ir.Expr {
	switch t := x.Type(); {
	case t.IsFloat8():
		x = &ir.Load{Place: &ir.FieldPlace{X: &ir.VarPlace{Var: fn.temp(x, pos)}}}
	case t.Kind == ir.Float64:
		return &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint64, Args: []ir.Expr{x}}
	case t.Kind == ir.Float32:
		x = &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint32, Args: []ir.Expr{x}}
	case t.IsHalf():
		x = &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint16, Args: []ir.Expr{x}}
	case t.Kind == ir.Int8:
		x = &ir.Convert{T: ir.TUint8, X: x}
	}
	return &ir.Convert{T: ir.TUint64, X: x}
}

// zeros returns placeholder results of a call with a reported error.
func (fn *function) zeros(results *types.Tuple, e *ast.CallExpr) []ir.Expr {
	var out []ir.Expr
	for v := range results.Variables() {
		out = append(out, zeroOf(fn.typ(v.Type(), e.Pos())))
	}
	return out
}

// typeString formats a type for diagnostics.
func typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
