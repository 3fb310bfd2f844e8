package frontend

import (
	"go/ast"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// bitcasts lists the functions that return a value's bits as another type.
var bitcasts = map[string]*ir.Type{
	"math.Float32bits": ir.TUint32, "math.Float32frombits": ir.TFloat32,
	"math.Float64bits": ir.TUint64, "math.Float64frombits": ir.TFloat64,
}

// intrinsic lowers the call of a function known to the compiler; ok is false for all
// others.
func (fn *function) intrinsic(e *ast.CallExpr, path, name string, typeArgs []types.Type, statement bool) (values []ir.Expr, ok bool) {
	if op := ir.IntrinsicFunction(path, name); op != nil {
		return []ir.Expr{fn.operation(e, op)}, true
	}
	if t, known := bitcasts[path+"."+name]; known {
		x := fn.exprAs(e.Args[0], fn.valueType(e.Args[0]))
		return []ir.Expr{&ir.Intrinsic{Op: ir.Bitcast, T: t, Args: []ir.Expr{x}, Strict: fn.f.Strict}}, true
	}
	switch path {
	case "math/bits":
		return fn.bitsFunction(e, name)
	case kernelPath:
		return fn.kernelFunction(e, name, typeArgs, statement)
	}
	return nil, false
}

// operation lowers the call of a function that is an intrinsic.
func (fn *function) operation(e *ast.CallExpr, op *ir.IntrinsicOp) ir.Expr {
	t := fn.valueType(e)
	out := &ir.Intrinsic{Op: op, T: t, Strict: fn.f.Strict}
	for i, arg := range e.Args {
		want := t
		if op.Result == ir.BitCount || op.Count && i > 0 {
			want = fn.valueType(arg)
		}
		out.Args = append(out.Args, fn.exprAs(arg, want))
	}
	if op.Result == ir.BitCount {
		out.T = ir.TInt
	}
	return out
}

// bitsFunction lowers functions of package math/bits that are defined in terms of
// others.
func (fn *function) bitsFunction(e *ast.CallExpr, name string) ([]ir.Expr, bool) {
	switch name {
	case "Len", "Len8", "Len16", "Len32", "Len64":
		x := fn.exprAs(e.Args[0], fn.valueType(e.Args[0]))
		width := x.Type().Size() * 8
		return []ir.Expr{&ir.Binary{Op: ir.Sub, X: ir.IntConst(ir.TInt, width),
			Y: &ir.Intrinsic{Op: ir.LeadingZeros, T: ir.TInt, Args: []ir.Expr{x}}}}, true
	case "Mul32", "Mul64", "Mul":
		t := ir.TUint64
		if name == "Mul32" {
			t = ir.TUint32
		} else if name == "Mul" {
			t = ir.TUint
		}
		x := fn.stable(fn.exprAs(e.Args[0], t), e.Pos())
		y := fn.stable(fn.exprAs(e.Args[1], t), e.Pos())
		return []ir.Expr{
			&ir.Intrinsic{Op: ir.MulHi, T: t, Args: []ir.Expr{x, y}},
			&ir.Binary{Op: ir.Mul, X: ir.CloneExpr(x), Y: ir.CloneExpr(y), Pos: fn.l.pos(e.Pos())},
		}, true
	}
	return nil, false
}

// kernelFunction lowers the functions of package kernel whose Go bodies are not used.
func (fn *function) kernelFunction(e *ast.CallExpr, name string, typeArgs []types.Type, statement bool) ([]ir.Expr, bool) {
	if op, ok := ir.AtomicFunction(name); ok {
		return fn.atomic(e, op, name, statement), true
	}
	if name == "ClusterShared" {
		return []ir.Expr{fn.clusterShared(e)}, true
	}
	if op, ok := ir.WarpFunction(name); ok {
		return fn.warp(e, op, name, typeArgs), true
	}
	if values, ok := fn.halfFunction(e, name, typeArgs); ok {
		return values, true
	}
	if values, ok := fn.matrix(e, name, typeArgs); ok {
		return values, true
	}
	if values, ok := fn.memoryFunction(e, name); ok {
		return values, true
	}
	switch name {
	case "Shared":
		if len(typeArgs) != 1 {
			return nil, true
		}
		return []ir.Expr{fn.sharedVar(e, typeArgs[0])}, true
	case "Assert":
		fn.assert(e)
		return nil, true
	case "Printf":
		fn.printf(e)
		return nil, true
	case "Dynamic":
		return []ir.Expr{fn.dynamicShared(e, typeArgs[0])}, true
	case "Each", "EachDynamic":
		fn.errorf(e.Pos(), "kernel.%s runs kernels from the host; a kernel cannot start another", name)
		return nil, true
	}
	if len(typeArgs) == 1 {
		if b, ok := typeArgs[0].Underlying().(*types.Basic); ok && b.Kind() == types.Float32 {
			return fn.float32Call(e, name)
		}
	}
	return nil, false
}

// float32Call lowers a mathematical function of package kernel for float32.
func (fn *function) float32Call(e *ast.CallExpr, name string) ([]ir.Expr, bool) {
	device := fn.float32Function(name)
	if device == "" {
		return nil, false
	}
	src, err := fn.l.world.source(devicemathPath)
	if err != nil {
		fn.errorf(e.Pos(), "%v", err)
		return nil, true
	}
	callee := fn.instance(e, src, device, nil)
	if callee == nil {
		return nil, true
	}
	callee.Go = ir.GoRef{Package: kernelPath, Name: name, TypeArgs: []*ir.Type{ir.TFloat32}}
	return fn.emitCall(e, callee, nil), true
}

// atomic lowers a call of kernel.AtomicXxx.
func (fn *function) atomic(e *ast.CallExpr, op ir.AtomicOp, name string, statement bool) []ir.Expr {
	place, ok := fn.visible(e.Args[0], name)
	t := place.Type()
	if !ok {
		return []ir.Expr{zeroOf(t)}
	}
	if !isAtomic(t) && !(t.IsHalf() && op == ir.AtomicAdd) || op.IsBitwise() && !t.IsInteger() {
		fn.errorf(e.Pos(), "kernel.%s is not supported on %s", name, t)
		return []ir.Expr{zeroOf(t)}
	}
	a := &ir.Atomic{Op: op, Place: place, Pos: fn.l.pos(e.Pos())}
	operands := 1 + op.Operands()
	for _, arg := range e.Args[1:operands] {
		a.Args = append(a.Args, fn.exprAs(arg, t))
	}
	a.Scope = fn.scope(e, operands, name)
	if statement {
		fn.emit(a)
		return nil
	}
	a.Dst = fn.hidden("old", t, e.Pos())
	fn.emit(a)
	return []ir.Expr{ir.Get(a.Dst)}
}
