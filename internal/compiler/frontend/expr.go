package frontend

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// typeOf returns the Go type of an expression, nil if it did not type-check.
func (fn *function) typeOf(e ast.Expr) types.Type {
	if tv, ok := fn.src.Info.Types[e]; ok {
		return tv.Type
	}
	if id, ok := e.(*ast.Ident); ok {
		if obj := fn.src.Info.Uses[id]; obj != nil {
			return obj.Type()
		}
		if obj := fn.src.Info.Defs[id]; obj != nil {
			return obj.Type()
		}
	}
	return nil
}

// zeroOf returns a placeholder for an expression with a reported error.
func zeroOf(t *ir.Type) ir.Expr { return &ir.Zero{T: t} }

// exprAs lowers an expression that is assigned to type t.
func (fn *function) exprAs(e ast.Expr, t *ir.Type) ir.Expr {
	if tv, ok := fn.src.Info.Types[e]; ok && tv.Value != nil && t != nil && (t.IsScalar() || t.IsComplex()) {
		if c := constantAs(tv.Value, t); c != nil {
			return c
		}
	}
	return fn.expr(e)
}

// expr lowers an expression to one value. It emits statements if needed.
func (fn *function) expr(e ast.Expr) ir.Expr {
	e = ast.Unparen(e)
	tv := fn.src.Info.Types[e]
	if tv.Value != nil {
		t := fn.subst(tv.Type)
		if tv.Value.Kind() == constant.String {
			fn.errorf(e.Pos(), "%s", unsupported(types.Typ[types.String]))
			return zeroOf(ir.TInt)
		}
		irType := fn.typ(t, e.Pos())
		if c := constantAs(tv.Value, irType); c != nil {
			return c
		}
		fn.errorf(e.Pos(), "this constant is not supported in kernels")
		return zeroOf(ir.TInt)
	}
	switch e := e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return fn.value(e)
	case *ast.UnaryExpr:
		return fn.unaryExpr(e)
	case *ast.BinaryExpr:
		return fn.binaryExpr(e)
	case *ast.CallExpr:
		values := fn.call(e, false)
		if len(values) == 0 {
			return zeroOf(fn.valueType(e))
		}
		return values[0]
	case *ast.CompositeLit:
		return fn.composite(e)
	case *ast.SliceExpr:
		return fn.sliceExpr(e)
	case *ast.FuncLit:
		fn.errorf(e.Pos(), keptFunction)
	case *ast.TypeAssertExpr:
		fn.errorf(e.Pos(), "%s", "interfaces are not supported in kernels; use a concrete type or a generic function")
	case *ast.IndexListExpr:
		fn.errorf(e.Pos(), keptFunction)
	default:
		fn.errorf(e.Pos(), "this expression is not supported in kernels")
	}
	return zeroOf(ir.TInt)
}

// valueType returns the IR type of an expression, int if there is none.
func (fn *function) valueType(e ast.Expr) *ir.Type {
	t := fn.typeOf(e)
	if t == nil {
		return ir.TInt
	}
	if _, ok := t.(*types.Tuple); ok {
		return ir.TInt
	}
	return fn.typ(t, e.Pos())
}

// multi lowers an expression with several values: a call.
func (fn *function) multi(e ast.Expr) []ir.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		fn.errorf(e.Pos(), "the comma-ok form is not supported in kernels")
		return nil
	}
	return fn.call(call, false)
}

// constantOf converts a constant to a value of type t; nil if it cannot.
func constantOf(v constant.Value, t *ir.Type) ir.Expr {
	switch {
	case t.Kind == ir.Bool && v.Kind() == constant.Bool:
		c := ir.BoolConst(constant.BoolVal(v))
		c.T = t
		return c
	case t.IsInteger():
		i := constant.ToInt(v)
		if i.Kind() != constant.Int {
			return nil
		}
		if n, ok := constant.Int64Val(i); ok {
			return ir.IntConst(t, n)
		}
		n, _ := constant.Uint64Val(i)
		return ir.IntConst(t, int64(n))
	case t.IsFloat():
		f := constant.ToFloat(v)
		if f.Kind() != constant.Float && f.Kind() != constant.Int {
			return nil
		}
		if t.Kind == ir.Float32 {
			n, _ := constant.Float32Val(f)
			return ir.FloatConst(t, float64(n))
		}
		n, _ := constant.Float64Val(f)
		return ir.FloatConst(t, n)
	}
	return nil
}

// value lowers an operand that names a place, or a coordinate of the thread.
func (fn *function) value(e ast.Expr) ir.Expr {
	if v := fn.threadField(e); v != nil {
		return v
	}
	if tv, ok := fn.src.Info.Types[e]; ok && tv.IsNil() {
		fn.errorf(e.Pos(), "%s", unsupported(types.Typ[types.UntypedNil]))
		return zeroOf(ir.TInt)
	}
	if t := fn.typeOf(e); t != nil {
		t = fn.subst(t)
		if isThread(t) {
			fn.errorf(e.Pos(), "a kernel.Thread can only be passed to functions and asked for its coordinates")
			return zeroOf(ir.TInt)
		}
		if _, ok := t.Underlying().(*types.Signature); ok {
			fn.errorf(e.Pos(), keptFunction)
			return zeroOf(ir.TInt)
		}
		if _, ok := t.(*types.Tuple); ok { // comma-ok form
			fn.errorf(e.Pos(), "the comma-ok form is not supported in kernels")
			return zeroOf(ir.TInt)
		}
		fn.copied(t, e.Pos())
	}
	return &ir.Load{Place: fn.place(e)}
}

// threadDims maps the fields of kernel.Thread to their first ThreadOp.
var threadDims = map[string]ir.ThreadOp{
	"ThreadIdx": ir.ThreadIdxX, "BlockIdx": ir.BlockIdxX, "BlockDim": ir.BlockDimX, "GridDim": ir.GridDimX,
}

// threadField lowers t.ThreadIdx and t.ThreadIdx.X; nil for anything else.
func (fn *function) threadField(e ast.Expr) ir.Expr {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if isThread(fn.typeOf(sel.X)) {
		op, ok := threadDims[sel.Sel.Name]
		if !ok {
			return nil
		}
		dim := &ir.Composite{T: fn.valueType(e)}
		for i := range ir.ThreadOp(3) {
			dim.Elems = append(dim.Elems, &ir.ThreadValue{Op: op + i})
		}
		return dim
	}
	inner, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
	if !ok || !isThread(fn.typeOf(inner.X)) {
		return nil
	}
	op, ok := threadDims[inner.Sel.Name]
	if !ok {
		return nil
	}
	switch sel.Sel.Name {
	case "X":
		return &ir.ThreadValue{Op: op}
	case "Y":
		return &ir.ThreadValue{Op: op + 1}
	case "Z":
		return &ir.ThreadValue{Op: op + 2}
	}
	return nil
}

// threadValue checks that an expression of type kernel.Thread is the current thread.
func (fn *function) threadValue(e ast.Expr) {
	if fn.ofVariable(e) { // the thread, or a part of a variable whose declaration was reported
		return
	}
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		fn.errorf(e.Pos(), "%s", threadByPointer)
		return
	}
	fn.errorf(e.Pos(), "a kernel.Thread cannot be created or stored in a kernel; pass the kernel's own")
}

// ofVariable reports whether e names a variable of the function or a part of one.
func (fn *function) ofVariable(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, ok := fn.src.Info.Uses[x].(*types.Var)
			return ok && (v.Pkg() == nil || v.Parent() != v.Pkg().Scope())
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return false
		}
	}
}

func (fn *function) unaryExpr(e *ast.UnaryExpr) ir.Expr {
	switch e.Op {
	case token.ADD:
		return fn.expr(e.X)
	case token.SUB:
		x := fn.expr(e.X)
		if x.Type().IsComplex() {
			return fn.complexNegation(x, e.Pos())
		}
		return &ir.Unary{Op: ir.Neg, X: x}
	case token.XOR:
		return &ir.Unary{Op: ir.Not, X: fn.expr(e.X)}
	case token.NOT:
		return &ir.Unary{Op: ir.LNot, X: fn.expr(e.X)}
	case token.AND:
		return fn.addr(e.X)
	case token.ARROW:
		fn.errorf(e.Pos(), "channels are not supported in kernels; use slices for data and atomics to coordinate threads")
	default:
		fn.errorf(e.Pos(), "operator %s is not supported in kernels", e.Op)
	}
	return zeroOf(fn.valueType(e))
}

var binaryOps = map[token.Token]ir.BinaryOp{
	token.ADD: ir.Add, token.SUB: ir.Sub, token.MUL: ir.Mul, token.QUO: ir.Div, token.REM: ir.Rem,
	token.AND: ir.And, token.OR: ir.Or, token.XOR: ir.Xor, token.AND_NOT: ir.AndNot, token.SHL: ir.Shl, token.SHR: ir.Shr,
	token.EQL: ir.Eq, token.NEQ: ir.Ne, token.LSS: ir.Lt, token.LEQ: ir.Le, token.GTR: ir.Gt, token.GEQ: ir.Ge,
	token.LAND: ir.LAnd, token.LOR: ir.LOr,
}

func (fn *function) binaryExpr(e *ast.BinaryExpr) ir.Expr {
	op, ok := binaryOps[e.Op]
	if !ok {
		fn.errorf(e.OpPos, "operator %s is not supported in kernels", e.Op)
		return zeroOf(fn.valueType(e))
	}
	if op.IsLogical() {
		return fn.logical(op, e)
	}
	if t := fn.typeOf(e.X); t != nil {
		if b, ok := fn.subst(t).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			fn.errorf(e.Pos(), "%s", unsupported(types.Typ[types.String]))
			return zeroOf(fn.valueType(e))
		}
	}
	switch {
	case op.IsShift():
		x := fn.exprAs(e.X, fn.valueType(e))
		y := fn.index(e.Y)
		return fn.binary(op, x, y, e.OpPos)
	case op.IsComparison():
		if fn.comparesNil(e) {
			return zeroOf(ir.TBool)
		}
		var x, y ir.Expr
		if tv := fn.src.Info.Types[e.X]; tv.Value != nil {
			y = fn.expr(e.Y)
			x = fn.exprAs(e.X, y.Type())
		} else {
			x = fn.expr(e.X)
			y = fn.exprAs(e.Y, x.Type())
		}
		return fn.compare(op, x, y, e.OpPos)
	}
	t := fn.valueType(e)
	x := fn.exprAs(e.X, t)
	y := fn.exprAs(e.Y, t)
	return fn.binary(op, x, y, e.OpPos)
}

// binary builds an arithmetic operation with Go's checks.
func (fn *function) binary(op ir.BinaryOp, x, y ir.Expr, pos token.Pos) ir.Expr {
	if x.Type().IsComplex() {
		return fn.complexBinary(op, x, y, pos)
	}
	b := &ir.Binary{Op: op, X: x, Y: y, Strict: fn.f.Strict, Pos: fn.l.pos(pos)}
	_, constant := y.(*ir.Const)
	switch {
	case (op == ir.Div || op == ir.Rem) && x.Type().IsInteger():
		b.Check = !constant
	case op.IsShift():
		b.Check = !constant && y.Type().IsSigned()
	}
	return b
}

// logical lowers && and ||.
func (fn *function) logical(op ir.BinaryOp, e *ast.BinaryExpr) ir.Expr {
	return fn.shortCircuit(op, fn.expr(e.X), func() ir.Expr { return fn.expr(e.Y) }, e.OpPos)
}

// shortCircuit joins x and the result of y by && or ||. If y emits statements, they run
// under an If, only where y decides the result.
func (fn *function) shortCircuit(op ir.BinaryOp, x ir.Expr, y func() ir.Expr, pos token.Pos) ir.Expr {
	var right ir.Expr
	pre := fn.guarded(func() { right = y() })
	if len(pre) == 0 {
		return &ir.Binary{Op: op, X: x, Y: right, Pos: fn.l.pos(pos)}
	}
	v := fn.temp(x, pos)
	set := append(pre, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: right, Pos: fn.l.pos(pos)})
	cond := ir.Get(v)
	if op == ir.LOr {
		cond = &ir.Unary{Op: ir.LNot, X: cond}
	}
	fn.emit(&ir.If{Cond: cond, Then: set, Pos: fn.l.pos(pos)})
	return ir.Get(v)
}

// comparesNil reports an error for a comparison with nil.
func (fn *function) comparesNil(e *ast.BinaryExpr) bool {
	other := e.X
	switch {
	case fn.src.Info.Types[e.Y].IsNil():
	case fn.src.Info.Types[e.X].IsNil():
		other = e.Y
	default:
		return false
	}
	if t := fn.typeOf(other); t != nil {
		if _, ok := fn.subst(t).Underlying().(*types.Slice); ok {
			fn.errorf(e.OpPos, "nil is not supported in kernels; use len(%s) %s 0", types.ExprString(other), e.Op)
			return true
		}
	}
	fn.errorf(e.OpPos, "%s", unsupported(types.Typ[types.UntypedNil]))
	return true
}

// maxCompared is the maximum number of scalars that == on arrays and structs expands
// to.
const maxCompared = 64

// compare builds a comparison; comparisons of structs and arrays become comparisons of
// their parts.
func (fn *function) compare(op ir.BinaryOp, x, y ir.Expr, pos token.Pos) ir.Expr {
	t := x.Type()
	if !t.IsAggregate() {
		if t.Kind == ir.Pointer || t.Kind == ir.Slice {
			fn.errorf(pos, "comparing pointers or slices is not supported in kernels; compare indices")
			return zeroOf(ir.TBool)
		}
		return fn.equal(op, x, y, pos)
	}
	if !t.Equal(y.Type()) { // one of them has an error
		return zeroOf(ir.TBool)
	}
	a := &ir.VarPlace{Var: fn.temp(x, pos)}
	b := &ir.VarPlace{Var: fn.temp(y, pos)}
	var all ir.Expr
	n := 0
	var walk func(a, b ir.Place)
	walk = func(a, b ir.Place) {
		switch t := a.Type(); t.Kind {
		case ir.Struct:
			for i, f := range t.Fields {
				if f.Name != "_" {
					walk(&ir.FieldPlace{X: ir.ClonePlace(a), Field: i}, &ir.FieldPlace{X: ir.ClonePlace(b), Field: i})
				}
			}
		case ir.Array:
			for i := range min(t.Len, maxCompared+1) {
				walk(&ir.IndexPlace{X: ir.ClonePlace(a), Index: ir.IntConst(ir.TInt, i)}, &ir.IndexPlace{X: ir.ClonePlace(b), Index: ir.IntConst(ir.TInt, i)})
			}
		default:
			n++
			if n > maxCompared {
				return
			}
			one := fn.equal(ir.Eq, &ir.Load{Place: a}, &ir.Load{Place: b}, pos)
			if all == nil {
				all = one
			} else {
				all = &ir.Binary{Op: ir.LAnd, X: all, Y: one, Pos: fn.l.pos(pos)}
			}
		}
	}
	walk(a, b)
	if n > maxCompared {
		fn.errorf(pos, "comparing values of more than %d numbers is not supported in kernels; compare in a loop", maxCompared)
	}
	if all == nil {
		all = ir.BoolConst(true)
	}
	if op == ir.Ne {
		all = &ir.Unary{Op: ir.LNot, X: all}
	}
	return all
}

// composite lowers a literal of a struct or array.
func (fn *function) composite(e *ast.CompositeLit) ir.Expr {
	t := fn.subst(fn.typeOf(e))
	fn.copied(t, e.Pos())
	switch u := t.Underlying().(type) {
	case *types.Struct:
		out := &ir.Composite{T: fn.typ(t, e.Pos()), Elems: make([]ir.Expr, u.NumFields())}
		if out.T.IsHalf() {
			return zeroOf(out.T)
		}
		if out.T.Kind != ir.Struct {
			return zeroOf(ir.TInt)
		}
		for i, el := range e.Elts {
			field := i
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				field = fieldIndex(u, kv.Key.(*ast.Ident).Name)
				el = kv.Value
			}
			if field >= 0 && field < len(out.Elems) {
				out.Elems[field] = fn.element(el, out.T.Fields[field].Type)
			}
		}
		return out
	case *types.Array:
		irType := fn.typ(t, e.Pos())
		if irType.Kind != ir.Array {
			return zeroOf(ir.TInt)
		}
		if len(e.Elts) == 0 {
			return &ir.Zero{T: irType}
		}
		if irType.Len > maxLiteral {
			fn.errorf(e.Pos(), "an array literal of more than %d elements is not supported in kernels; declare it as a package-level variable", maxLiteral)
			return &ir.Zero{T: irType}
		}
		out := &ir.Composite{T: irType, Elems: make([]ir.Expr, u.Len())}
		next := int64(0)
		for _, el := range e.Elts {
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				if tv := fn.src.Info.Types[kv.Key]; tv.Value != nil {
					next, _ = constant.Int64Val(constant.ToInt(tv.Value))
				}
				el = kv.Value
			}
			if next >= 0 && next < u.Len() {
				out.Elems[next] = fn.element(el, irType.Elem)
			}
			next++
		}
		return out
	case *types.Slice:
		fn.errorf(e.Pos(), "a slice literal allocates, which is not supported in kernels; use an array")
	default:
		fn.errorf(e.Pos(), "%s", unsupported(t))
	}
	return zeroOf(ir.TInt)
}

const maxLiteral = 1024

// element lowers an element of a literal, whose type may be omitted.
func (fn *function) element(e ast.Expr, t *ir.Type) ir.Expr {
	if lit, ok := e.(*ast.CompositeLit); ok {
		if _, ok := fn.typeOf(lit).Underlying().(*types.Pointer); ok {
			return fn.addr(lit)
		}
		return fn.composite(lit)
	}
	return fn.exprAs(e, t)
}

func fieldIndex(s *types.Struct, name string) int {
	for i := range s.NumFields() {
		if s.Field(i).Name() == name {
			return i
		}
	}
	return -1
}

func (fn *function) sliceExpr(e *ast.SliceExpr) ir.Expr {
	xt := fn.subst(fn.typeOf(e.X))
	out := &ir.SliceExpr{T: fn.valueType(e), Check: !fn.unchecked, Pos: fn.l.pos(e.Pos())}
	switch u := xt.Underlying().(type) {
	case *types.Slice:
		out.X = fn.expr(e.X)
	case *types.Array:
		out.Array = fn.stablePlace(fn.place(e.X), e.X.Pos())
	case *types.Pointer:
		if _, ok := u.Elem().Underlying().(*types.Array); !ok {
			fn.errorf(e.X.Pos(), "%s", unsupported(xt))
			return zeroOf(out.T)
		}
		out.Array = fn.deref(fn.stable(fn.expr(e.X), e.X.Pos()), e.Pos())
	default:
		fn.errorf(e.X.Pos(), "%s", unsupported(xt))
		return zeroOf(ir.SliceOf(ir.TUint8))
	}
	bound := func(b ast.Expr) ir.Expr {
		if b == nil {
			return nil
		}
		return fn.stable(fn.index(b), b.Pos())
	}
	out.Lo, out.Hi, out.Max = bound(e.Low), bound(e.High), bound(e.Max)
	if out.Lo == nil && out.Hi == nil && out.Max == nil {
		out.Check = false
	}
	return out
}

// convertTo converts a value to another numeric type if the types differ.
func convertTo(e ir.Expr, t *ir.Type) ir.Expr {
	if e.Type().Kind == t.Kind {
		return e
	}
	if c, ok := e.(*ir.Const); ok && c.T.IsInteger() && t.IsInteger() {
		return ir.IntConst(t, c.Int64())
	}
	return &ir.Convert{T: t, X: e}
}

// conversion lowers T(x).
func (fn *function) conversion(e *ast.CallExpr) ir.Expr {
	to := fn.subst(fn.typeOf(e))
	from := fn.typeOf(e.Args[0])
	if from == nil {
		return zeroOf(ir.TInt)
	}
	from = fn.subst(from)
	if b, ok := to.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		fn.errorf(e.Pos(), "%s", unsupported(to))
		return zeroOf(ir.TInt)
	}
	if size := fn.sizeof(e.Args[0]); size != nil {
		if t := fn.typ(to, e.Pos()); t.IsInteger() {
			if c := constantAs(size, t); c != nil {
				return c
			}
		}
	}
	for _, other := range []types.Type{from, to} {
		if b, ok := other.Underlying().(*types.Basic); ok && (b.Kind() == types.UnsafePointer || b.Kind() == types.Uintptr) {
			fn.errorf(e.Pos(), "%s", unsupported(other))
			return zeroOf(ir.TInt)
		}
	}
	t := fn.typ(to, e.Pos())
	if tv := fn.src.Info.Types[e.Args[0]]; tv.Value != nil && (t.IsScalar() || t.IsComplex()) {
		// A constant converted to the type of a type parameter.
		v := tv.Value
		if t.IsInteger() {
			v = constant.ToInt(v)
		}
		if c := constantAs(v, t); c != nil {
			return c
		}
	}
	if place := fn.arrayOfSlice(e, t); place != nil {
		if t.Kind == ir.Pointer {
			return &ir.Addr{T: t, Place: place}
		}
		return &ir.Load{Place: place}
	}
	if _, ok := from.Underlying().(*types.Slice); ok && t.Kind != ir.Slice {
		fn.errorf(e.Pos(), "the conversion from %s to %s is not supported in kernels; copy the elements in a loop, or index the slice", from, to)
		return zeroOf(t)
	}
	x := fn.expr(e.Args[0])
	xt := x.Type()
	switch {
	case t.IsComplex() && xt.IsComplex():
		return fn.complexConversion(x, t, e.Pos())
	case t.IsScalar() && xt.IsScalar() && t.Kind != ir.Pointer && t.Kind != ir.Bool && xt.Kind != ir.Bool:
		if t.Kind == xt.Kind && t.IsInteger() && t.Name == xt.Name {
			return x
		}
		return &ir.Convert{T: t, X: x, InRange: t.IsInteger() && xt.IsFloat() && fn.convertsInRange()}
	case t.Equal(xt):
		if t.Name == xt.Name {
			return x
		}
		return &ir.Convert{T: t, X: x}
	}
	fn.errorf(e.Pos(), "the conversion from %s to %s is not supported in kernels", from, to)
	return zeroOf(t)
}

// sizeof returns the value of a call of unsafe.Sizeof, or nil for other expressions. Go's type
// checker does not know it if the type depends on a type parameter.
func (fn *function) sizeof(e ast.Expr) constant.Value {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	id := calleeIdent(ast.Unparen(call.Fun))
	if id == nil {
		return nil
	}
	if b, ok := fn.src.Info.Uses[id].(*types.Builtin); !ok || b.Name() != "Sizeof" {
		return nil
	}
	return constant.MakeInt64(sizes.Sizeof(fn.subst(fn.typeOf(call.Args[0]))))
}

// convertsInRange reports whether the current code never converts a float to an integer
// type that it is out of range of: the standard library and package kernel check first
// where processors differ.
func (fn *function) convertsInRange() bool {
	return fn.src.standard || fn.src.Path == kernelPath || fn.src.Path == devicemathPath
}
