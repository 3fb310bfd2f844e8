package frontend

import (
	"go/ast"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// operation is a function that is one IR node.
type operation struct {
	op     ir.IntrinsicOp
	result *ir.Type // nil: the type of the first argument
}

// operations are functions that every back end has, by import path and name.
var operations = map[string]operation{
	"math.Sqrt":            {ir.Sqrt, nil},
	"math.sqrt":            {ir.Sqrt, nil},
	"math.Abs":             {ir.Abs, nil},
	"math.Floor":           {ir.Floor, nil},
	"math.Ceil":            {ir.Ceil, nil},
	"math.Trunc":           {ir.Trunc, nil},
	"math.RoundToEven":     {ir.RoundToEven, nil},
	"math.Copysign":        {ir.Copysign, nil},
	"math.FMA":             {ir.FMA, nil},
	"math.Float32bits":     {ir.Bitcast, ir.TUint32},
	"math.Float32frombits": {ir.Bitcast, ir.TFloat32},
	"math.Float64bits":     {ir.Bitcast, ir.TUint64},
	"math.Float64frombits": {ir.Bitcast, ir.TFloat64},

	"math/bits.LeadingZeros":    {ir.LeadingZeros, ir.TInt},
	"math/bits.LeadingZeros8":   {ir.LeadingZeros, ir.TInt},
	"math/bits.LeadingZeros16":  {ir.LeadingZeros, ir.TInt},
	"math/bits.LeadingZeros32":  {ir.LeadingZeros, ir.TInt},
	"math/bits.LeadingZeros64":  {ir.LeadingZeros, ir.TInt},
	"math/bits.TrailingZeros":   {ir.TrailingZeros, ir.TInt},
	"math/bits.TrailingZeros8":  {ir.TrailingZeros, ir.TInt},
	"math/bits.TrailingZeros16": {ir.TrailingZeros, ir.TInt},
	"math/bits.TrailingZeros32": {ir.TrailingZeros, ir.TInt},
	"math/bits.TrailingZeros64": {ir.TrailingZeros, ir.TInt},
	"math/bits.OnesCount":       {ir.OnesCount, ir.TInt},
	"math/bits.OnesCount8":      {ir.OnesCount, ir.TInt},
	"math/bits.OnesCount16":     {ir.OnesCount, ir.TInt},
	"math/bits.OnesCount32":     {ir.OnesCount, ir.TInt},
	"math/bits.OnesCount64":     {ir.OnesCount, ir.TInt},
	"math/bits.Reverse":         {ir.ReverseBits, nil},
	"math/bits.Reverse8":        {ir.ReverseBits, nil},
	"math/bits.Reverse16":       {ir.ReverseBits, nil},
	"math/bits.Reverse32":       {ir.ReverseBits, nil},
	"math/bits.Reverse64":       {ir.ReverseBits, nil},
	"math/bits.ReverseBytes":    {ir.ReverseBytes, nil},
	"math/bits.ReverseBytes16":  {ir.ReverseBytes, nil},
	"math/bits.ReverseBytes32":  {ir.ReverseBytes, nil},
	"math/bits.ReverseBytes64":  {ir.ReverseBytes, nil},
	"math/bits.RotateLeft":      {ir.RotateLeft, nil},
	"math/bits.RotateLeft8":     {ir.RotateLeft, nil},
	"math/bits.RotateLeft16":    {ir.RotateLeft, nil},
	"math/bits.RotateLeft32":    {ir.RotateLeft, nil},
	"math/bits.RotateLeft64":    {ir.RotateLeft, nil},

	kernelPath + ".Sqrt":        {ir.Sqrt, nil},
	kernelPath + ".Abs":         {ir.Abs, nil},
	kernelPath + ".Floor":       {ir.Floor, nil},
	kernelPath + ".Ceil":        {ir.Ceil, nil},
	kernelPath + ".Trunc":       {ir.Trunc, nil},
	kernelPath + ".RoundToEven": {ir.RoundToEven, nil},
	kernelPath + ".Copysign":    {ir.Copysign, nil},
	kernelPath + ".FMA":         {ir.FMA, nil},
	kernelPath + ".Min":         {ir.Min, nil},
	kernelPath + ".Max":         {ir.Max, nil},

	devicemathPath + ".FMA":         {ir.FMA, nil},
	devicemathPath + ".Sqrt":        {ir.Sqrt, nil},
	devicemathPath + ".Floor":       {ir.Floor, nil},
	devicemathPath + ".Ceil":        {ir.Ceil, nil},
	devicemathPath + ".Trunc":       {ir.Trunc, nil},
	devicemathPath + ".RoundToEven": {ir.RoundToEven, nil},
	devicemathPath + ".Abs":         {ir.Abs, nil},
	devicemathPath + ".Copysign":    {ir.Copysign, nil},
	devicemathPath + ".ApproxExp2":  {ir.ApproxExp2, nil},
	devicemathPath + ".ApproxLog2":  {ir.ApproxLog2, nil},
	devicemathPath + ".ApproxSin":   {ir.ApproxSin, nil},
	devicemathPath + ".ApproxCos":   {ir.ApproxCos, nil},
	devicemathPath + ".ApproxRsqrt": {ir.ApproxRsqrt, nil},
	devicemathPath + ".ApproxRcp":   {ir.ApproxRcp, nil},
}

// atomics are the atomic functions of package kernel.
var atomics = map[string]ir.AtomicOp{
	"AtomicAdd": ir.AtomicAdd, "AtomicSub": ir.AtomicSub, "AtomicMin": ir.AtomicMin, "AtomicMax": ir.AtomicMax,
	"AtomicAnd": ir.AtomicAnd, "AtomicOr": ir.AtomicOr, "AtomicXor": ir.AtomicXor,
	"AtomicExchange": ir.AtomicExchange, "AtomicCompareAndSwap": ir.AtomicCompareAndSwap,
}

// intrinsic lowers the call of a function that the compiler knows; ok is false
// for all others.
func (fn *function) intrinsic(e *ast.CallExpr, path, name string, typeArgs []types.Type, statement bool) (values []ir.Expr, ok bool) {
	if op, known := operations[path+"."+name]; known {
		return []ir.Expr{fn.operation(e, op)}, true
	}
	switch path {
	case "math/bits":
		return fn.bitsFunction(e, name)
	case kernelPath:
		return fn.kernelFunction(e, name, typeArgs, statement)
	}
	return nil, false
}

func (fn *function) operation(e *ast.CallExpr, op operation) ir.Expr {
	out := &ir.Intrinsic{Op: op.op, T: op.result, Strict: fn.f.Strict}
	t := fn.valueType(e)
	for i, arg := range e.Args {
		want := t
		if op.result != nil || op.op == ir.RotateLeft && i > 0 {
			want = fn.valueType(arg)
		}
		out.Args = append(out.Args, fn.exprAs(arg, want))
	}
	if out.T == nil {
		out.T = t
	}
	return out
}

// bitsFunction lowers what package math/bits defines through others.
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

// kernelFunction lowers the functions of package kernel that are more, or other,
// than their Go bodies.
func (fn *function) kernelFunction(e *ast.CallExpr, name string, typeArgs []types.Type, statement bool) ([]ir.Expr, bool) {
	if op, ok := atomics[name]; ok {
		return fn.atomic(e, op, name, statement), true
	}
	if name == "ClusterShared" {
		return []ir.Expr{fn.clusterShared(e)}, true
	}
	if op, ok := warpFunctions[name]; ok {
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

// float32Call lowers a mathematical function of package kernel at float32.
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
	bitwise := op == ir.AtomicAnd || op == ir.AtomicOr || op == ir.AtomicXor
	if !isAtomic(t) && !(t.IsHalf() && op == ir.AtomicAdd) || bitwise && !t.IsInteger() {
		fn.errorf(e.Pos(), "kernel.%s is not supported on %s", name, t)
		return []ir.Expr{zeroOf(t)}
	}
	a := &ir.Atomic{Op: op, Place: place, Pos: fn.l.pos(e.Pos())}
	operands := 2
	if op == ir.AtomicCompareAndSwap {
		operands = 3
	}
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
