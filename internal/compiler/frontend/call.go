package frontend

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"quern.dev/internal/compiler/devicemath"
	"quern.dev/internal/compiler/ir"
)

// call lowers a call and returns its results. The results of a call statement are not
// used.
func (fn *function) call(e *ast.CallExpr, statement bool) []ir.Expr {
	saved := fn.calling
	fn.calling = e.Pos()
	defer func() { fn.calling = saved }()

	fun := ast.Unparen(e.Fun)
	if tv, ok := fn.src.Info.Types[fun]; ok && tv.IsType() {
		return []ir.Expr{fn.conversion(e)}
	}
	if id := calleeIdent(fun); id != nil {
		switch obj := fn.src.Info.Uses[id].(type) {
		case *types.Builtin:
			return fn.builtin(e, obj.Name())
		case *types.Func:
			return fn.callFunc(e, fun, id, obj, statement)
		}
	}
	if c := fn.closure(fun); c != nil {
		return fn.callClosure(e, c, statement)
	}
	return nil
}

// calleeIdent returns the identifier that names the called function.
func calleeIdent(fun ast.Expr) *ast.Ident {
	switch f := fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	case *ast.IndexExpr:
		return calleeIdent(ast.Unparen(f.X))
	case *ast.IndexListExpr:
		return calleeIdent(ast.Unparen(f.X))
	}
	return nil
}

// callFunc lowers the call of a declared function or method.
func (fn *function) callFunc(e *ast.CallExpr, fun ast.Expr, id *ast.Ident, obj *types.Func, statement bool) []ir.Expr {
	sel, _ := fun.(*ast.SelectorExpr)
	var selection *types.Selection
	if sel != nil {
		selection = fn.src.Info.Selections[sel]
	}
	if selection != nil && selection.Kind() == types.MethodExpr {
		return fn.callMethodExpr(e, fn.selected(selection, obj))
	}
	if recv := obj.Signature().Recv(); recv != nil && isThread(recv.Type()) {
		fn.threadValue(sel.X)
		return fn.threadMethod(e, obj.Name())
	}
	if selection == nil {
		return fn.callNamed(e, obj, fn.typeArgsAt(id), statement)
	}
	if m := fn.method(sel.X, fn.selected(selection, obj)); m != nil {
		return fn.callMethod(e, m)
	}
	return nil
}

// callMethod lowers the call of a method.
func (fn *function) callMethod(e *ast.CallExpr, m *method) []ir.Expr {
	_, name, _ := strings.Cut(m.name, ".")
	if v, ok := fn.halfMethod(e, name, m.recv); ok {
		return []ir.Expr{v}
	}
	return fn.callBody(e, m.path, m.name, m.typeArgs, m.recv)
}

// typeArgsAt returns the type arguments with which an identifier uses a generic
// function.
func (fn *function) typeArgsAt(id *ast.Ident) []types.Type {
	var typeArgs []types.Type
	if inst, ok := fn.src.Info.Instances[id]; ok {
		for i := range inst.TypeArgs.Len() {
			typeArgs = append(typeArgs, fn.subst(inst.TypeArgs.At(i)))
		}
	}
	return typeArgs
}

// callNamed lowers the call of a package-level function.
func (fn *function) callNamed(e *ast.CallExpr, obj *types.Func, typeArgs []types.Type, statement bool) []ir.Expr {
	path := ""
	if obj.Pkg() != nil {
		path = obj.Pkg().Path()
	}
	if values, ok := fn.intrinsic(e, path, obj.Name(), typeArgs, statement); ok {
		return values
	}
	return fn.callBody(e, path, obj.Name(), typeArgs, nil)
}

// method is a method with its receiver value.
type method struct {
	path, name string // of the function, in the form that callBody takes
	typeArgs   []types.Type
	recv       ir.Expr
}

// method resolves the method selected by x: the receiver becomes the first argument. It
// returns nil if an error was reported.
func (fn *function) method(x ast.Expr, s *selected) *method {
	recvType, index, obj := s.recv, s.index, s.obj
	if s.generic || types.IsInterface(recvType) {
		found, path, _ := types.LookupFieldOrMethod(recvType, true, obj.Pkg(), obj.Name())
		m, ok := found.(*types.Func)
		if !ok || types.IsInterface(recvType) {
			fn.errorf(x.Pos(), "%s", "interfaces are not supported in kernels; use a concrete type or a generic function")
			return nil
		}
		obj, index = m, path
	}
	recv := obj.Signature().Recv()
	named, pointerRecv := receiverType(recv.Type())
	if named == nil {
		fn.errorf(x.Pos(), "interfaces are not supported in kernels; use a concrete type or a generic function")
		return nil
	}
	if types.IsInterface(named) {
		fn.errorf(x.Pos(), "interfaces are not supported in kernels; use a concrete type or a generic function")
		return nil
	}

	// Before the operand, which may be a package-level variable.
	name := named.Obj().Name() + "." + obj.Name()
	if pkg := obj.Pkg(); fn.hostOnly(x, pkg.Path(), pkg.Name(), name) {
		return nil
	}

	// The operand as a place or a pointer, through embedded fields.
	var recvValue ir.Expr
	embedded := index[:len(index)-1]
	_, isPointer := recvType.Underlying().(*types.Pointer)
	switch {
	case pointerRecv && isPointer && len(embedded) == 0:
		recvValue = fn.expr(x)
	case pointerRecv:
		p := fn.fieldPath(x, embedded)
		if p.Type().Kind == ir.Pointer { // an embedded pointer
			recvValue = &ir.Load{Place: p}
		} else if d, ok := p.(*ir.DerefPlace); ok {
			recvValue = d.Ptr
		} else {
			p = fn.stablePlace(p, x.Pos())
			recvValue = &ir.Addr{T: ir.PointerTo(p.Type()), Place: p}
		}
	case len(embedded) == 0 && !isPointer:
		recvValue = fn.expr(x)
	default:
		p := fn.fieldPath(x, embedded)
		if p.Type().Kind == ir.Pointer {
			p = fn.deref(&ir.Load{Place: p}, x.Pos())
		}
		fn.copied(fn.subst(recv.Type()), x.Pos())
		recvValue = &ir.Load{Place: p}
	}

	var typeArgs []types.Type
	// The instance's type arguments come from the operand's type.
	operand := recvType
	if len(embedded) > 0 {
		operand = embeddedType(recvType, embedded)
	}
	if n, _ := receiverType(operand); n != nil {
		for i := range n.TypeArgs().Len() {
			typeArgs = append(typeArgs, fn.subst(n.TypeArgs().At(i)))
		}
	}
	return &method{obj.Pkg().Path(), name, typeArgs, recvValue}
}

func receiverType(t types.Type) (named *types.Named, pointer bool) {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = types.Unalias(p.Elem()), true
	}
	named, _ = t.(*types.Named)
	return named, pointer
}

func embeddedType(t types.Type, path []int) types.Type {
	for _, i := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return t
		}
		t = s.Field(i).Type()
	}
	return t
}

// hostOnly reports an error for a call of a function that only the host can run.
func (fn *function) hostOnly(call ast.Node, path, pkg, name string) bool {
	reason := hostOnly[path]
	if reason == "" || inKernels[path+"."+name] {
		return false
	}
	fn.errorf(call.Pos(), "%s.%s cannot be called in kernels: %s", pkg, name, reason)
	return true
}

// callBody lowers the function's source and a call of it.
func (fn *function) callBody(e *ast.CallExpr, path, name string, typeArgs []types.Type, recv ir.Expr) []ir.Expr {
	l := fn.l
	src := l.pkg
	if path != l.pkg.Path {
		var err error
		if src, err = l.world.source(path); err != nil {
			fn.errorf(e.Pos(), "call of %s: %v", name, err)
			return nil
		}
	}
	if fd, sig := src.higherOrder(name, typeArgs); fd != nil {
		return fn.callHigherOrder(e, src, fd, sig, typeArgs, recv)
	}
	callee := fn.instance(e, src, name, typeArgs)
	if callee == nil {
		return nil
	}
	return fn.emitCall(e, callee, recv)
}

// maxFunctions is the maximum number of functions that a kernel calls, counting each
// instance of a generic function.
const maxFunctions = 4096

// countFields returns the number of fields of a type, including those of the types of
// its fields and of its type arguments, up to a limit. A type within itself, as in
// type ball struct{ next actor.Ref[ball] }, is not counted again.
func countFields(t types.Type, limit int, within ...*types.Named) int {
	if limit <= 0 {
		return 0
	}
	n := 0
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if slices.Contains(within, t) {
			return 0
		}
		within = append(within, t)
		n = 1
		for i := 0; i < t.TypeArgs().Len() && n < limit; i++ {
			n += countFields(t.TypeArgs().At(i), limit-n, within...)
		}
		if s, ok := t.Underlying().(*types.Struct); ok {
			n += countFields(s, limit-n, within...)
		}
	case *types.Struct:
		for i := 0; i < t.NumFields() && n < limit; i++ {
			n += 1 + countFields(t.Field(i).Type(), limit-n-1, within...)
		}
	case *types.Array:
		n = 1 + countFields(t.Elem(), limit-1, within...)
	case *types.Slice:
		n = 1 + countFields(t.Elem(), limit-1, within...)
	}
	return n
}

// instance lowers a function once per list of type arguments.
func (fn *function) instance(e *ast.CallExpr, src *Package, name string, typeArgs []types.Type) *ir.Func {
	l := fn.l
	fields := 0
	for _, t := range typeArgs {
		if fields += countFields(t, maxFields+1-fields); fields > maxFields {
			fn.errorf(e.Pos(), "the type arguments of %s have more than %d fields, including those of their fields' types; use smaller types", name, maxFields)
			return nil
		}
	}
	if len(l.funcs) >= maxFunctions {
		fn.errorf(e.Pos(), "the kernel calls more than %d functions and instances of generic functions; use fewer, or split the kernel", maxFunctions)
		return nil
	}
	key := instanceKey(src.Path, name, typeArgs)
	depth := 0
	for i, outer := range l.stack {
		if outer.key != key {
			continue
		}
		depth++
		if !src.standard {
			var cycle []string
			for _, f := range l.stack[i:] {
				cycle = append(cycle, f.name)
			}
			fn.errorf(e.Pos(), "recursion is not supported in kernels (%s -> %s); use a loop", strings.Join(cycle, " -> "), outer.name)
			return nil
		}
	}
	cacheKey := key + strings.Repeat("'", depth)
	if f := l.funcs[cacheKey]; f != nil {
		return f
	}
	src.index()
	fd := src.funcs[name]
	if fd == nil {
		fn.errorf(e.Pos(), "the source of %s.%s was not found", src.Name, name)
		return nil
	}
	obj, _ := src.Info.Defs[fd.Name].(*types.Func)
	if obj == nil {
		return nil
	}
	if fn.hostOnly(e, src.Path, src.Name, name) {
		return nil
	}
	if obj.Signature().Variadic() {
		fn.errorf(e.Pos(), "variadic functions are not supported in kernels; pass an array or call it for each value")
		return nil
	}
	var f *ir.Func
	switch {
	case src.Path == kernelPath && name == sampleMethod:
		f = l.sampleFunc(src, fd, obj, typeArgs)
	case depth < maxStandardDepth:
		f = l.lowerFunc(src, fd, obj, typeArgs)
		f.Assembly = l.assembly(fd, f)
	default:
		f = l.tooDeep(src, fd, obj)
	}
	if !l.sharing[f] { // each call has separate shared variables
		l.funcs[cacheKey] = f
	}
	return f
}

// maxStandardDepth is the maximum number of times a function of the standard library
// may occur on its own call path. math.Pow calls itself once, for an argument of -Inf,
// with a different argument: deeper calls never happen.
const maxStandardDepth = 2

// tooDeep returns a function for a call that is never reached.
func (l *lowering) tooDeep(src *Package, fd *ast.FuncDecl, obj *types.Func) *ir.Func {
	fn := &function{l: l, src: src, vars: map[types.Object]*ir.Local{}, f: &ir.Func{
		Name: src.Name + "." + declName(fd), Pos: l.pos(fd.Pos()), Strict: true,
		Go: ir.GoRef{Package: src.Path, Name: fd.Name.Name},
	}}
	for i := range obj.Signature().Params().Len() {
		fn.f.Params = append(fn.f.Params, fn.param(obj.Signature().Params().At(i), "arg"))
	}
	fn.emit(&ir.Panic{Reason: "recursion in " + fn.f.Name, Pos: fn.f.Pos})
	ret := &ir.Return{Pos: fn.f.Pos}
	for i := range obj.Signature().Results().Len() {
		r := fn.param(obj.Signature().Results().At(i), "result")
		fn.f.Results = append(fn.f.Results, r)
		ret.Results = append(ret.Results, &ir.Zero{T: r.Type})
	}
	fn.emit(ret)
	fn.f.Body = fn.out
	return fn.f
}

// hostOnly lists packages whose functions are not useful in a kernel.
var hostOnly = map[string]string{
	"fmt":          "print with kernel.Printf",
	"log":          "print with kernel.Printf",
	"log/slog":     "print with kernel.Printf",
	"os":           "kernels have no operating system",
	"time":         "kernels read clocks with kernel.Clock and kernel.GlobalTimer",
	"sync":         "kernels have no locks; use t.Sync and the atomics of package kernel",
	"sync/atomic":  "use the atomics of package kernel",
	"math/rand":    "make random numbers with kernel.NewRandom",
	"math/rand/v2": "make random numbers with kernel.NewRandom",
	"crypto/rand":  "make random numbers with kernel.NewRandom",
	"strings":      "strings are not supported",
	"strconv":      "strings are not supported",
	"errors":       "errors are not supported; call panic with a constant, or write a code to a slice",
	"runtime":      "kernels have no Go runtime",
	"reflect":      "interfaces are not supported",
	"sort":         "interfaces are not supported",
}

// inKernels lists functions of hostOnly packages that are useful in kernels.
var inKernels = map[string]bool{"sort.Search": true}

// emitCall evaluates the arguments and emits the call.
func (fn *function) emitCall(e *ast.CallExpr, callee *ir.Func, recv ir.Expr) []ir.Expr {
	call := &ir.Call{Func: callee, Pos: fn.l.pos(e.Pos())}
	if recv != nil {
		call.Args = append(call.Args, recv)
	}
	params := callee.Params[len(call.Args):]
	args := e.Args
	if len(args) == 1 && len(params) > 1 { // f(g()) with g of several results
		call.Args = append(call.Args, fn.multi(args[0])...)
	} else {
		for _, arg := range args {
			if isThread(fn.typeOf(arg)) {
				fn.threadValue(arg)
				continue
			}
			if len(params) == 0 {
				break
			}
			// A later argument may emit statements, so earlier values must be stable.
			call.Args = append(call.Args, fn.stable(fn.exprAs(arg, params[0].Type), arg.Pos()))
			params = params[1:]
		}
	}
	if len(call.Args) != len(callee.Params) {
		return nil // did not type-check
	}
	if callee.UsesThread {
		fn.f.UsesThread = true
	}
	if fn.l.sharing[callee] {
		fn.l.sharing[fn.f] = true
		fn.sharedByCall(e, callee.Name)
	}
	var results []ir.Expr
	for _, r := range callee.Results {
		v := fn.hidden(r.Name, r.Type, e.Pos())
		call.Dst = append(call.Dst, v)
		results = append(results, ir.Get(v))
	}
	fn.emit(call)
	return results
}

// threadMethod lowers a method of kernel.Thread.
func (fn *function) threadMethod(e *ast.CallExpr, name string) []ir.Expr {
	global := func(axis ir.ThreadOp) ir.Expr {
		return &ir.Binary{Op: ir.Add,
			X: &ir.Binary{Op: ir.Mul, X: &ir.ThreadValue{Op: ir.BlockIdxX + axis}, Y: &ir.ThreadValue{Op: ir.BlockDimX + axis}},
			Y: &ir.ThreadValue{Op: ir.ThreadIdxX + axis}}
	}
	switch name {
	case "Global":
		return []ir.Expr{global(0)}
	case "Global2":
		return []ir.Expr{global(0), global(1)}
	case "Global3":
		return []ir.Expr{global(0), global(1), global(2)}
	case "Stride":
		return []ir.Expr{&ir.Binary{Op: ir.Mul, X: &ir.ThreadValue{Op: ir.GridDimX}, Y: &ir.ThreadValue{Op: ir.BlockDimX}}}
	case "Lane":
		return []ir.Expr{&ir.ThreadValue{Op: ir.LaneID}}
	case "Warp":
		return []ir.Expr{&ir.ThreadValue{Op: ir.WarpID}}
	case "SyncGrid", "SyncCluster", "ClusterRank", "ClusterSize":
		return fn.clusterMethod(e, name)
	case "SyncWarp":
		fn.syncWarp(e)
		return nil
	case "Sync":
		fn.emit(&ir.Barrier{Pos: fn.l.pos(e.Pos())})
		return nil
	}
	fn.errorf(e.Pos(), "method %s of kernel.Thread is not supported by this compiler", name)
	return nil
}

// builtin lowers a call of one of Go's built-in functions.
func (fn *function) builtin(e *ast.CallExpr, name string) []ir.Expr {
	one := func(v ir.Expr) []ir.Expr { return []ir.Expr{v} }
	switch name {
	case "len", "cap":
		t := fn.subst(fn.typeOf(e.Args[0]))
		switch u := t.Underlying().(type) {
		case *types.Slice:
			x := fn.expr(e.Args[0])
			if name == "len" {
				return one(&ir.Len{X: x})
			}
			return one(&ir.Cap{X: x})
		case *types.Array:
			return one(ir.IntConst(ir.TInt, u.Len()))
		case *types.Pointer:
			if a, ok := u.Elem().Underlying().(*types.Array); ok {
				return one(ir.IntConst(ir.TInt, a.Len()))
			}
		}
		fn.errorf(e.Pos(), "%s", unsupported(t))
		return one(zeroOf(ir.TInt))
	case "min", "max":
		op := ir.Min
		if name == "max" {
			op = ir.Max
		}
		t := fn.valueType(e)
		if !t.IsInteger() && !t.IsFloat() {
			return one(zeroOf(t))
		}
		value := fn.exprAs(e.Args[0], t)
		for _, arg := range e.Args[1:] {
			value = &ir.Intrinsic{Op: op, T: t, Args: []ir.Expr{value, fn.exprAs(arg, t)}}
		}
		return one(value)
	case "panic":
		reason := "panic"
		if tv := fn.src.Info.Types[e.Args[0]]; tv.Value != nil && tv.Value.Kind() == constant.String {
			reason = constant.StringVal(tv.Value)
		} else if !fn.src.standard { // the standard library panics with errors
			fn.errorf(e.Args[0].Pos(), "panic takes a constant string in kernels; print values with kernel.Printf")
		}
		fn.emit(&ir.Panic{Reason: reason, Pos: fn.l.pos(e.Pos())})
		return nil
	case "append":
		fn.errorf(e.Pos(), "append allocates, which is not supported in kernels; write to an index of a slice of the full length")
	case "make", "new":
		fn.errorf(e.Pos(), "%s allocates, which is not supported in kernels; use an array, or a buffer passed as a parameter", name)
	case "copy":
		return one(fn.copyCall(e))
	case "clear":
		fn.clearCall(e)
		return nil
	case "delete":
		fn.errorf(e.Pos(), "maps are not supported in kernels; use a slice or array indexed by the key")
	case "close":
		fn.errorf(e.Pos(), "channels are not supported in kernels; use slices for data and atomics to coordinate threads")
	case "print", "println":
		fn.errorf(e.Pos(), "%s is not supported in kernels; print with kernel.Printf", name)
	case "recover":
		fn.errorf(e.Pos(), "recover is not supported in kernels; a failing thread stops and its launch returns the error")
		return nil
	case "complex", "real", "imag":
		return one(fn.complexBuiltin(e, name))
	default:
		fn.errorf(e.Pos(), "%s is not supported in kernels", name)
	}
	return one(zeroOf(fn.valueType(e)))
}

// float32Functions maps the functions of package kernel that have a separate float32
// version to that version's name in package devicemath.
func (fn *function) float32Function(name string) string {
	if fn.l.kernel.Options.FastMath {
		if fast, ok := devicemath.Fast[name]; ok {
			return fast
		}
	}
	return devicemath.Functions[name]
}

// pointee returns the place that a pointer argument refers to.
func (fn *function) pointee(e ast.Expr) ir.Place {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		if _, lit := ast.Unparen(u.X).(*ast.CompositeLit); !lit {
			return fn.place(u.X)
		}
	}
	return fn.deref(fn.expr(e), e.Pos())
}

// markUnreachable marks functions that generated code cannot call by name because they
// are not exported by another package: they are inlined, like functions that use the
// thread.
func (l *lowering) markUnreachable(k *ir.Kernel) {
	seen := map[*ir.Func]bool{}
	var walk func(f *ir.Func)
	walk = func(f *ir.Func) {
		if seen[f] {
			return
		}
		seen[f] = true
		v := &ir.Visitor{Stmt: func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok {
				inlined := f == k.Func || f.UsesThread
				if inlined && c.Func.Go.Package != l.pkg.Path && !ast.IsExported(c.Func.Go.Name) {
					c.Func.UsesThread = true
				}
				walk(c.Func)
			}
			return true
		}}
		v.Body(f.Body)
	}
	walk(k.Func)
}
