package frontend

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// closure is a function value. The function and its captured variables are known at
// compile time: a variable of a function type is assigned once, and a function that
// takes or returns functions is lowered into its caller, so that captured variables
// belong to the caller.
type closure struct {
	lit   *ast.FuncLit
	frame *function // that contains the literal

	named      *types.Func // a package-level function
	typeArgs   []types.Type
	method     *method   // with its receiver
	expression *selected // for a method expression
	thread     string    // method of the kernel's thread
}

// selected is the method of a selection, for any type arguments.
type selected struct {
	recv    types.Type
	generic bool // recv was a type parameter
	index   []int
	obj     *types.Func
}

func (fn *function) selected(s *types.Selection, obj *types.Func) *selected {
	_, generic := s.Recv().(*types.TypeParam)
	return &selected{fn.subst(s.Recv()), generic, s.Index(), obj}
}

const (
	// keptFunction is the error for a function used as an ordinary value.
	keptFunction = "a function cannot be kept or compared in kernels; call it by its name, give it to a local variable once, or pass it to a function"

	// functionPointer is the error for a pointer to a variable of function type.
	functionPointer = "a pointer to a function variable is not supported in kernels; pass the function itself"

	// dynamicFunction is the error for a variable that holds different functions.
	dynamicFunction = "%s is assigned more than one function, so the function that it calls is unknown at compile time; call the functions by their names in an if or switch"
)

func isFunction(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// isFunctionExpr reports whether e is a function value.
func (fn *function) isFunctionExpr(e ast.Expr) bool {
	if tv, ok := fn.src.Info.Types[e]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return false
	}
	return isFunction(fn.subst(fn.typeOf(e)))
}

// closure resolves a function value; nil if it cannot be resolved, which is reported.
func (fn *function) closure(e ast.Expr) *closure {
	e = ast.Unparen(e)
	switch e := e.(type) {
	case *ast.FuncLit:
		return &closure{lit: e, frame: fn}
	case *ast.CallExpr:
		if fn.src.Info.Types[ast.Unparen(e.Fun)].IsType() {
			return fn.closure(e.Args[0])
		}
		fn.returned = nil
		before := len(fn.l.diags)
		fn.call(e, false)
		if len(fn.returned) == 1 && fn.returned[0] != nil {
			return fn.returned[0]
		}
		if len(fn.l.diags) == before {
			fn.errorf(e.Pos(), "the function that this call returns is unknown at compile time; call the function by its name")
		}
		return nil
	}
	id := calleeIdent(e)
	if id == nil {
		fn.errorf(e.Pos(), "this function is unknown at compile time; call the function by its name")
		return nil
	}
	switch obj := fn.src.Info.Uses[id].(type) {
	case *types.Nil:
		fn.errorf(e.Pos(), "a nil function cannot be called; assign a function")
	case *types.Func:
		return fn.declaredClosure(e, id, obj)
	case *types.Var:
		if c, ok := fn.closures[obj]; ok {
			return c
		}
		what := obj.Name() + " is a variable"
		if obj.IsField() {
			what = obj.Name() + " is a field"
		} else if _, ok := e.(*ast.IndexExpr); ok {
			what = types.ExprString(e) + " is an element of an array or slice"
		} else if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			what = obj.Name() + " is a package-level variable"
		}
		fn.errorf(e.Pos(), "%s, so the function that it holds is unknown at compile time; call the functions by their names in an if or switch, or pass the function as an argument", what)
	default:
		if obj == nil {
			return nil // did not type-check
		}
		fn.errorf(e.Pos(), keptFunction)
	}
	return nil
}

// declaredClosure returns the function or method that an expression names.
func (fn *function) declaredClosure(e ast.Expr, id *ast.Ident, obj *types.Func) *closure {
	sel, _ := e.(*ast.SelectorExpr)
	var selection *types.Selection
	if sel != nil {
		selection = fn.src.Info.Selections[sel]
	}
	switch recv := obj.Signature().Recv(); {
	case selection == nil:
		return &closure{named: obj, typeArgs: fn.typeArgsAt(id)}
	case selection.Kind() == types.MethodExpr:
		return &closure{expression: fn.selected(selection, obj)}
	case isThread(recv.Type()):
		fn.threadValue(sel.X)
		return &closure{thread: obj.Name()}
	}
	m := fn.method(sel.X, fn.selected(selection, obj))
	if m == nil {
		return nil
	}
	if _, address := m.recv.(*ir.Addr); !address { // the receiver is evaluated now
		m.recv = fn.stable(m.recv, e.Pos())
	}
	return &closure{method: m}
}

// callMethodExpr lowers T.Method(x, ...).
func (fn *function) callMethodExpr(e *ast.CallExpr, s *selected) []ir.Expr {
	if len(e.Args) == 0 {
		return nil // did not type-check
	}
	if _, several := fn.typeOf(e.Args[0]).(*types.Tuple); several {
		fn.errorf(e.Args[0].Pos(), "the results of a call cannot be the arguments of a method expression in kernels; keep them in variables")
		return nil
	}
	rest := *e
	rest.Args = e.Args[1:]
	fn.src.Info.Types[&rest] = fn.src.Info.Types[e]
	if isThread(s.recv) {
		fn.threadValue(e.Args[0])
		return fn.threadMethod(&rest, s.obj.Name())
	}
	if p, ok := s.recv.(*types.Pointer); ok && isThread(p.Elem()) {
		fn.errorf(e.Args[0].Pos(), "%s", threadByPointer)
		return nil
	}
	m := fn.method(e.Args[0], s)
	if m == nil {
		return nil
	}
	m.recv = fn.stable(m.recv, e.Args[0].Pos())
	return fn.callMethod(&rest, m)
}

// callClosure lowers the call of a function value.
func (fn *function) callClosure(e *ast.CallExpr, c *closure, statement bool) []ir.Expr {
	switch {
	case c.lit != nil:
		return fn.callLiteral(e, c)
	case c.thread != "":
		return fn.threadMethod(e, c.thread)
	case c.expression != nil:
		return fn.callMethodExpr(e, c.expression)
	case c.method != nil:
		m := *c.method
		m.recv = ir.CloneExpr(m.recv)
		return fn.callMethod(e, &m)
	}
	return fn.callNamed(e, c.named, c.typeArgs, statement)
}

// bind assigns a function to the variable that an identifier declares.
func (fn *function) bind(e ast.Expr, c *closure) {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return
	}
	obj := fn.src.Info.Defs[id]
	if obj == nil {
		fn.reassigned(e)
		return
	}
	fn.bindVar(obj, c, fn.body)
}

// bindVar assigns a function to a variable that body can use.
func (fn *function) bindVar(obj types.Object, c *closure, body ast.Node) {
	fn.closures[obj] = c
	if c == nil { // already reported
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if fn.variableOf(e) == obj {
					fn.reassigned(e)
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && fn.variableOf(n.X) == obj {
				fn.errorf(n.Pos(), functionPointer)
			}
		}
		return true
	})
}

// reassigned reports an assignment to a variable of function type, unless an error was
// already reported for the variable.
func (fn *function) reassigned(e ast.Expr) {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		if c, known := fn.closures[fn.src.Info.Uses[id]]; known && c == nil {
			return
		}
	}
	fn.errorf(e.Pos(), dynamicFunction, types.ExprString(e))
}

// declareUnbound declares a variable of function type without a function.
func (fn *function) declareUnbound(id *ast.Ident, obj types.Object) {
	fn.closures[obj] = nil
	fn.errorf(id.Pos(), "%s is declared without a function; write %s := func...; a function that calls itself is recursion, which kernels do not support", id.Name, id.Name)
}

// higherOrder returns the declaration of a function that, with these type arguments,
// takes or returns functions; nil otherwise.
func (p *Package) higherOrder(name string, typeArgs []types.Type) (*ast.FuncDecl, *types.Signature) {
	p.index()
	fd := p.funcs[name]
	if fd == nil || fd.Body == nil {
		return nil, nil
	}
	obj, _ := p.Info.Defs[fd.Name].(*types.Func)
	if obj == nil || obj.Signature().Variadic() {
		return nil, nil
	}
	sig := obj.Signature()
	if slices.ContainsFunc(typeArgs, isFunction) {
		return fd, sig
	}
	for _, list := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range list.Variables() {
			if isFunction(v.Type()) {
				return fd, sig
			}
		}
	}
	return nil, nil
}

// inlined is a function whose body is lowered into its caller.
type inlined struct {
	sig      *types.Signature
	label    *ir.Label   // of the block around the body
	results  []*ir.Local // nil for functions
	closures []*closure  // results that are functions
	returns  int         // number of return statements lowered
}

// Limits of lowering functions into callers. Functions passed to functions nest a few
// levels deep; more is recursion.
const (
	maxNesting  = 16   // of a function within itself
	maxInlining = 4096 // calls per kernel
)

// callHigherOrder lowers the body of a function that takes or returns functions.
func (fn *function) callHigherOrder(e *ast.CallExpr, src *Package, fd *ast.FuncDecl, sig *types.Signature, typeArgs []types.Type, recv ir.Expr) []ir.Expr {
	name := declName(fd)
	if fn.hostOnly(e, src.Path, src.Name, name) {
		return nil
	}
	child := &function{
		l: fn.l, src: src, f: fn.f, name: src.Name + "." + name, key: instanceKey(src.Path, name, typeArgs),
		vars: map[types.Object]*ir.Local{}, closures: map[types.Object]*closure{}, body: fd.Body, unchecked: isUnchecked(fd),
	}
	child.bindTypes(sig, typeArgs)
	return fn.inline(e, child, sig, recv, fd.Body, func() bool { return child.checked(fd) })
}

// callLiteral lowers the body of a function literal.
func (fn *function) callLiteral(e *ast.CallExpr, c *closure) []ir.Expr {
	sig, ok := c.frame.typeOf(c.lit).(*types.Signature)
	if !ok {
		return nil
	}
	if sig.Variadic() {
		fn.errorf(e.Pos(), "variadic functions are not supported in kernels; pass an array or call it for each value")
		return nil
	}
	child := &function{
		l: fn.l, src: c.frame.src, f: fn.f, name: "a function literal", key: fmt.Sprint(c.frame.src.Path, ":", c.lit.Pos()),
		typeArgs: c.frame.typeArgs, vars: maps.Clone(c.frame.vars), closures: maps.Clone(c.frame.closures), body: c.frame.body,
		handler: fn.l.callsHandler(c.lit), unchecked: c.frame.unchecked,
	}
	return fn.inline(e, child, sig, nil, c.lit.Body, func() bool { return true })
}

// inline lowers a call of child into fn: its parameters become variables, its body a
// block, and a return leaves the block.
func (fn *function) inline(e *ast.CallExpr, child *function, sig *types.Signature, recv ir.Expr, body *ast.BlockStmt, checked func() bool) []ir.Expr {
	l := fn.l
	if !fn.mayInline(e, child) {
		return nil
	}
	in := &inlined{sig: sig, label: &ir.Label{Name: child.name}, closures: make([]*closure, sig.Results().Len())}
	child.inlined = in
	if !fn.passArguments(e, child, recv, body) {
		return nil
	}
	l.stack = append(l.stack, child)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()
	for r := range sig.Results().Variables() {
		if isFunction(child.subst(r.Type())) {
			in.results = append(in.results, nil)
			continue
		}
		v := child.newLocal(nameOr(r, "result"), child.typ(r.Type(), r.Pos()), r.Pos())
		child.vars[r] = v
		in.results = append(in.results, v)
		if r.Name() != "" && r.Name() != "_" {
			child.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: &ir.Zero{T: v.Type}, Pos: v.Pos})
		}
	}
	if !checked() {
		return nil
	}
	before, handlers := l.sharedVars(), l.handlerVars
	child.stmts(body.List)
	declared := l.sharedVars() - before
	if child.handler {
		l.handlerVars += declared
	} else if declared > l.handlerVars-handlers {
		fn.sharedByCall(e, child.name)
	}
	fn.emitBlock(in.label, child.out)

	fn.returned = in.closures
	var results []ir.Expr
	for _, v := range in.results {
		if v == nil {
			results = append(results, zeroOf(ir.TInt)) // a placeholder for the closure
			continue
		}
		results = append(results, ir.Get(v))
	}
	return results
}

func nameOr(v *types.Var, fallback string) string {
	if v.Name() == "" || v.Name() == "_" {
		return fallback
	}
	return v.Name()
}

// mayInline reports recursion and unbounded growth of a kernel.
func (fn *function) mayInline(e *ast.CallExpr, child *function) bool {
	l := fn.l
	if l.inlinings > maxInlining { // already reported
		return false
	}
	depth, first := 0, 0
	for i, outer := range l.stack {
		if outer.key == child.key {
			depth++
			first = i
		}
	}
	if depth >= maxNesting {
		var cycle []string
		for _, f := range l.stack[first:] {
			cycle = append(cycle, f.name)
		}
		fn.errorf(e.Pos(), "recursion is not supported in kernels (%s -> %s); use a loop", strings.Join(cycle, " -> "), child.name)
		l.inlinings = maxInlining + 1
		return false
	}
	if l.inlinings++; l.inlinings > maxInlining {
		fn.errorf(e.Pos(), "the kernel makes more than %d calls of function values, each of which is compiled inline; call declared functions by name", maxInlining)
		return false
	}
	return true
}

// passArguments declares the parameters of child and assigns the arguments of e.
func (fn *function) passArguments(e *ast.CallExpr, child *function, recv ir.Expr, body *ast.BlockStmt) bool {
	sig := child.inlined.sig
	if r := sig.Recv(); r != nil && recv != nil {
		fn.passValue(child, r, recv, e.Pos())
	}
	params := sig.Params()
	if len(e.Args) == 1 && params.Len() > 1 { // f(g()) with g of several results
		values := fn.multi(e.Args[0])
		returned := fn.returned
		if len(values) != params.Len() {
			return false
		}
		for i, v := range values {
			if p := params.At(i); isFunction(child.subst(p.Type())) && i < len(returned) {
				child.bindVar(p, returned[i], body)
			} else {
				fn.passValue(child, p, v, e.Args[0].Pos())
			}
		}
		return true
	}
	if len(e.Args) != params.Len() {
		return false // did not type-check
	}
	for i, arg := range e.Args {
		p := params.At(i)
		t := child.subst(p.Type())
		switch {
		case isThread(t):
			fn.threadValue(arg)
			fn.f.UsesThread = true
		case isFunction(t):
			c := fn.closure(arg)
			if c == nil {
				return false
			}
			child.bindVar(p, c, body)
		case fn.passVariable(child, p, arg, body):
		default:
			fn.passValue(child, p, fn.exprAs(arg, child.typ(p.Type(), p.Pos())), arg.Pos())
		}
	}
	return true
}

// passValue creates a variable of child with the value of an argument.
func (fn *function) passValue(child *function, p *types.Var, value ir.Expr, pos token.Pos) {
	v := fn.newLocal(nameOr(p, "arg"), child.typ(p.Type(), p.Pos()), pos)
	child.vars[p] = v
	fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: value, Pos: fn.l.pos(pos)})
}

// passVariable makes a parameter an alias of its argument if the argument is a variable
// and nothing changes either of them.
func (fn *function) passVariable(child *function, p *types.Var, arg ast.Expr, body *ast.BlockStmt) bool {
	if !fn.unchanged(arg, fn.body) || child.assigned(p, body) {
		return false
	}
	v, ok := fn.vars[fn.src.Info.Uses[ast.Unparen(arg).(*ast.Ident)]]
	if t := child.typ(p.Type(), p.Pos()); !ok || v.Type.Name != t.Name || !v.Type.Equal(t) {
		return false
	}
	child.vars[p] = v
	return true
}

// returnInlined lowers a return statement of a function whose body is lowered
// into its caller.
func (fn *function) returnInlined(s *ast.ReturnStmt) {
	in := fn.inlined
	in.returns++
	var values []ir.Expr
	switch {
	case len(s.Results) == len(in.results):
		for i, e := range s.Results {
			if in.results[i] == nil {
				values = append(values, nil)
				fn.returnFunction(i, s, fn.closure(e))
				continue
			}
			v := fn.exprAs(e, in.results[i].Type)
			if v == nil {
				return
			}
			if len(in.results) > 1 { // assigned together
				v = fn.stable(v, e.Pos())
			}
			values = append(values, v)
		}
	case len(s.Results) == 1:
		values = fn.multi(s.Results[0])
		returned := fn.returned
		for i := range in.results {
			if in.results[i] == nil && i < len(returned) {
				fn.returnFunction(i, s, returned[i])
			}
		}
	default: // named results are already set
		for i, v := range in.results {
			if v == nil {
				fn.errorf(s.Pos(), "a function is returned by name; return it in the return statement, as in return %s", nameOr(in.sig.Results().At(i), "f"))
			}
		}
	}
	for i, v := range values {
		if i < len(in.results) && in.results[i] != nil {
			fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: in.results[i]}, Src: v, Pos: fn.l.pos(s.Pos())})
		}
	}
	fn.emit(&ir.Break{Label: in.label})
}

// returnFunction records the function that a call returns.
func (fn *function) returnFunction(i int, s *ast.ReturnStmt, c *closure) {
	if fn.inlined.returns > 1 {
		fn.errorf(s.Pos(), "%s returns functions in several places, so the function that a call returns is unknown at compile time; use one return statement", fn.name)
	}
	fn.inlined.closures[i] = c
}

// emitBlock adds the body of a function. If only the end of the body leaves the block,
// the block is omitted.
func (fn *function) emitBlock(label *ir.Label, body []ir.Stmt) {
	if n := len(body); n > 0 {
		if b, ok := body[n-1].(*ir.Break); ok && b.Label == label {
			body = body[:n-1]
		}
	}
	left := false
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if b, ok := s.(*ir.Break); ok && b.Label == label {
			left = true
		}
		return !left
	}}
	v.Body(body)
	if left {
		fn.emit(&ir.Block{Label: label, Body: body})
		return
	}
	fn.out = append(fn.out, body...)
}
