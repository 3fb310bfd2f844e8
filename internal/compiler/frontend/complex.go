package frontend

import (
	"go/ast"
	"go/constant"
	"go/token"

	"quern.dev/internal/compiler/ir"
)

// hostPath is the package that generated Go code imports.
const hostPath = "quern.dev/kernel/host"

// constantAs converts a constant to a value of any type that has constants; nil if it
// cannot.
func constantAs(v constant.Value, t *ir.Type) ir.Expr {
	if !t.IsComplex() {
		return constantOf(v, t)
	}
	z := constant.ToComplex(v)
	if z.Kind() == constant.Unknown {
		return nil
	}
	re, im := constantOf(constant.Real(z), t.Fields[0].Type), constantOf(constant.Imag(z), t.Fields[1].Type)
	if re == nil || im == nil {
		return nil
	}
	return &ir.Composite{T: t, Elems: []ir.Expr{re, im}}
}

// parts returns the real and the imaginary part of a complex number. Each can be used
// more than once.
func (fn *function) parts(x ir.Expr, pos token.Pos) (re, im ir.Expr) {
	if c, ok := x.(*ir.Composite); ok {
		return fn.stable(c.Elems[0], pos), fn.stable(c.Elems[1], pos)
	}
	v := fn.temp(x, pos)
	return &ir.Load{Place: &ir.FieldPlace{X: &ir.VarPlace{Var: v}}}, &ir.Load{Place: &ir.FieldPlace{X: &ir.VarPlace{Var: v}, Field: 1}}
}

// complexBuiltin lowers a call of complex, real or imag.
func (fn *function) complexBuiltin(e *ast.CallExpr, name string) ir.Expr {
	t := fn.valueType(e)
	if name == "complex" {
		if !t.IsComplex() { // did not type-check
			return zeroOf(t)
		}
		part := t.Fields[0].Type
		re := fn.stable(fn.exprAs(e.Args[0], part), e.Pos())
		return &ir.Composite{T: t, Elems: []ir.Expr{re, fn.exprAs(e.Args[1], part)}}
	}
	x := fn.expr(e.Args[0])
	if !x.Type().IsComplex() {
		return zeroOf(t)
	}
	if l, ok := x.(*ir.Load); ok {
		field := 0
		if name == "imag" {
			field = 1
		}
		return &ir.Load{Place: &ir.FieldPlace{X: l.Place, Field: field}}
	}
	re, im := fn.parts(x, e.Pos())
	if name == "imag" {
		return im
	}
	return re
}

// complexNegation negates a complex number.
func (fn *function) complexNegation(x ir.Expr, pos token.Pos) ir.Expr {
	re, im := fn.parts(x, pos)
	return &ir.Composite{T: x.Type(), Elems: []ir.Expr{&ir.Unary{Op: ir.Neg, X: re}, &ir.Unary{Op: ir.Neg, X: im}}}
}

// complexConversion converts between complex types.
func (fn *function) complexConversion(x ir.Expr, t *ir.Type, pos token.Pos) ir.Expr {
	part := t.Fields[0].Type
	if x.Type().Equal(t) {
		if x.Type().Name == t.Name {
			return x
		}
		return &ir.Convert{T: t, X: x}
	}
	re, im := fn.parts(x, pos)
	return &ir.Composite{T: t, Elems: []ir.Expr{&ir.Convert{T: part, X: re}, &ir.Convert{T: part, X: im}}}
}

// complexBinary lowers an arithmetic operation on complex numbers like gc: complex64
// multiplies and divides in float64 and rounds once. The products of two complex128 are
// rounded before they are added, so that all devices agree.
func (fn *function) complexBinary(op ir.BinaryOp, x, y ir.Expr, pos token.Pos) ir.Expr {
	t := x.Type()
	if !t.Equal(y.Type()) { // one of them has an error
		return zeroOf(t)
	}
	if op == ir.Div {
		return fn.complexQuotient(x, y, pos)
	}
	a, b := fn.parts(x, pos)
	c, d := fn.parts(y, pos)
	part := t.Fields[0].Type
	float := func(op ir.BinaryOp, x, y ir.Expr, strict bool) ir.Expr {
		return &ir.Binary{Op: op, X: ir.CloneExpr(x), Y: ir.CloneExpr(y), Strict: strict, Pos: fn.l.pos(pos)}
	}
	if op != ir.Mul {
		return &ir.Composite{T: t, Elems: []ir.Expr{float(op, a, c, fn.f.Strict), float(op, b, d, fn.f.Strict)}}
	}
	wide := ir.TFloat64
	if fn.l.kernel.Options.FastMath {
		wide = part
	}
	widened := func(x ir.Expr) ir.Expr {
		if part.Kind == wide.Kind {
			return x
		}
		return &ir.Convert{T: wide, X: x}
	}
	rounded := func(x ir.Expr) ir.Expr {
		if part.Kind == wide.Kind {
			return x
		}
		return &ir.Convert{T: part, X: x}
	}
	a, b, c, d = widened(a), widened(b), widened(c), widened(d)
	strict := part.Kind == ir.Float64 && !fn.l.kernel.Options.FastMath
	return &ir.Composite{T: t, Elems: []ir.Expr{
		rounded(float(ir.Sub, float(ir.Mul, a, c, strict), float(ir.Mul, b, d, strict), strict)),
		rounded(float(ir.Add, float(ir.Mul, a, d, strict), float(ir.Mul, b, c, strict), strict)),
	}}
}

// complexQuotient calls the complex128 division.
func (fn *function) complexQuotient(x, y ir.Expr, pos token.Pos) ir.Expr {
	t := x.Type()
	src, err := fn.l.world.source(kernelPath)
	if err != nil {
		fn.errorf(pos, "%v", err)
		return zeroOf(t)
	}
	callee := fn.instance(&ast.CallExpr{Fun: &ast.Ident{NamePos: pos}}, src, "divideComplex", nil)
	if callee == nil {
		return zeroOf(t)
	}
	callee.Go = ir.GoRef{Package: hostPath, Name: "DivideComplex"}
	call := &ir.Call{Func: callee, Pos: fn.l.pos(pos)}
	for _, v := range []ir.Expr{x, y} {
		call.Args = append(call.Args, fn.stable(fn.complexConversion(v, ir.TComplex128, pos), pos))
	}
	v := fn.hidden("quotient", ir.TComplex128, pos)
	call.Dst = []*ir.Local{v}
	fn.emit(call)
	return fn.complexConversion(ir.Get(v), t, pos)
}
