package frontend

import (
	"go/ast"
	"go/token"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// halfType returns the 16-bit floating-point type for a struct of package kernel, nil
// for other structs.
func halfType(s *types.Struct) *ir.Type {
	if s.NumFields() != 1 || s.Field(0).Pkg() == nil || s.Field(0).Pkg().Path() != kernelPath {
		return nil
	}
	switch s.Field(0).Name() {
	case "float16":
		return ir.TFloat16
	case "bfloat16":
		return ir.TBFloat16
	}
	return nil
}

// halfFunction lowers the conversion functions of package kernel, such as those that
// create or read 16-bit floats, which its other functions are built on.
func (fn *function) halfFunction(e *ast.CallExpr, name string, typeArgs []types.Type) ([]ir.Expr, bool) {
	one := func(x ir.Expr) ([]ir.Expr, bool) { return []ir.Expr{x}, true }
	switch name {
	case "ToFloat16", "ToBFloat16", "roundFloat16", "roundBFloat16":
		from := ir.TFloat64
		if len(typeArgs) == 1 {
			from = fn.typ(typeArgs[0], e.Pos())
		}
		if !from.IsFloat() {
			return nil, false
		}
		return one(&ir.Convert{T: fn.valueType(e), X: fn.exprAs(e.Args[0], from)})
	case "Float16FromBits", "BFloat16FromBits":
		return one(&ir.Intrinsic{Op: ir.Bitcast, T: fn.valueType(e), Args: []ir.Expr{fn.exprAs(e.Args[0], ir.TUint16)}})
	case "ToFloat32":
		x := fn.expr(e.Args[0])
		if x.Type() == ir.TFloat32 {
			return one(x)
		}
		return one(&ir.Convert{T: ir.TFloat32, X: x})
	case "ToInteger":
		return one(&ir.Convert{T: fn.valueType(e), X: fn.expr(e.Args[0])})
	case "FromFloat32":
		t, x := fn.valueType(e), fn.exprAs(e.Args[0], ir.TFloat32)
		if t == ir.TFloat32 {
			return one(x)
		}
		return one(&ir.Convert{T: t, X: x})
	}
	return nil, false
}

// halfMethod lowers the methods of 16-bit floats that the other methods are built on.
func (fn *function) halfMethod(e *ast.CallExpr, name string, x ir.Expr) (ir.Expr, bool) {
	if !x.Type().IsHalf() {
		return nil, false
	}
	switch name {
	case "Float32", "Float64":
		return &ir.Convert{T: fn.valueType(e), X: x}, true
	case "Bits":
		return &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint16, Args: []ir.Expr{x}}, true
	case "FMA":
		x = fn.stable(x, e.Pos())
		y := fn.stable(fn.expr(e.Args[0]), e.Pos())
		return &ir.Intrinsic{Op: ir.FMA, T: x.Type(), Args: []ir.Expr{x, y, fn.expr(e.Args[1])}}, true
	}
	return nil, false
}

// equal compares two scalars like Go's ==, which compares the bits of 16-bit floats.
func (fn *function) equal(op ir.BinaryOp, x, y ir.Expr, pos token.Pos) ir.Expr {
	if x.Type().IsHalf() && y.Type().IsHalf() {
		bits := func(x ir.Expr) ir.Expr {
			return &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint16, Args: []ir.Expr{x}}
		}
		x, y = bits(x), bits(y)
	}
	return &ir.Binary{Op: op, X: x, Y: y, Pos: fn.l.pos(pos)}
}
