package frontend

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// lowering is the state of lowering one package.
type lowering struct {
	pkg    *Package
	world  *World
	diags  Diagnostics
	wanted []string          // instances of generic kernels besides those in directives
	taken  map[string]string // names declared in the generated file, and what to report if one is declared again
	types  map[types.Type]*ir.Type
	tables map[string]*ir.Table

	kernel    *ir.Kernel
	funcs     map[string]*ir.Func // lowered functions of the kernel, by instance
	stack     []*function         // functions being lowered, outermost first
	inlinings int                 // number of the kernel's calls lowered into their callers
	sharing   map[*ir.Func]bool   // functions with shared variables, directly or in callees
	// handlerVars counts the shared variables of handlers. The loop calls a handler in one
	// place, so they belong to the kernel, not to the functions around that call.
	handlerVars int
}

// Lower compiles the package's kernels to IR. A generic kernel becomes one kernel per
// instance listed in its directive or in names, such as scale[float32]; with names, a
// directive need not list any. The error is Diagnostics or a *Fault.
func (p *Package) Lower(names ...string) (_ *ir.Program, err error) {
	if !p.isText() {
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
	}
	l := &lowering{pkg: p, world: p.world, wanted: names, types: map[types.Type]*ir.Type{}, tables: map[string]*ir.Table{}}
	defer l.catch(&err)
	prog := &ir.Program{Package: p.Path, Name: p.Name}
	p.instances = map[string][]types.Type{}
	generated := map[string]bool{} // names
	var decls []*ast.FuncDecl
	attached := map[token.Pos]bool{} // directives above declarations
	for _, f := range p.Files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				if gd, ok := d.(*ast.GenDecl); ok {
					for _, dir := range directives(gd.Doc) {
						attached[dir.pos] = true
						l.errorAt(dir.pos, "", "//quern:%s is above something that is not a function", dir.verb)
					}
				}
				continue
			}
			isKernel := false
			for _, dir := range directives(fd.Doc) {
				attached[dir.pos] = true
				if dir.verb == assemblyVerb || dir.verb == actorVerb || dir.verb == operatorVerb || dir.verb == templateVerb {
					continue
				}
				if dir.verb == uncheckedVerb {
					if len(dir.args) > 0 {
						l.errorAt(dir.args[0].pos, "", "//quern:unchecked has no options")
					}
					continue
				}
				if isHint(dir.verb) {
					l.errorAt(dir.pos, "", "%s", strayHint(directivePrefix+dir.verb))
					continue
				}
				if dir.verb != "kernel" {
					l.errorAt(dir.pos, "", "unknown directive //quern:%s; did you mean //quern:%s?", dir.verb, cmp.Or(similarVerb(dir.verb), "kernel"))
					continue
				}
				if isKernel {
					l.errorAt(dir.pos, "", "%s has two //quern:kernel directives; put all options on one", fd.Name.Name)
				}
				isKernel = true
			}
			if isKernel {
				decls = append(decls, fd)
				for _, kernel := range kernelNames(fd) {
					for _, name := range generatedNames(kernel) {
						generated[name] = true
					}
				}
			}
		}
	}
	l.strayDirectives(attached)
	l.handlers(generated)
	l.checkOperators(generated)
	l.checkNames(decls)
	if l.typeErrors(generated) {
		return nil, l.diags.sorted()
	}
	for _, fd := range decls {
		l.kernel = nil
		if a := l.pkg.ActorOf(fd.Name.Name); a != nil && l.wrong(a.Handler) {
			continue // errors in the loop around the handler would be consequences
		}
		prog.Kernels = append(prog.Kernels, l.lowerKernels(fd)...)
	}
	if err := l.diags.sorted(); err != nil {
		return nil, err
	}
	return prog, nil
}

// typeErrors reports the errors of the type checker, except for missing names that the
// generator will declare. It returns whether there were errors: expressions may then
// lack types, and nothing is lowered.
func (l *lowering) typeErrors(generated map[string]bool) bool {
	found := l.pkg.unchecked
	lacking := map[ast.Node]bool{} // files and functions that lack names of generated code
	for _, e := range l.pkg.errors {
		if l.generatedLater(e, generated) {
			for _, n := range l.around(e.Pos) {
				lacking[n] = true
			}
		}
	}
	for _, e := range l.pkg.errors {
		if l.generatedLater(e, generated) || strings.Contains(e.Msg, "unknown type") {
			continue
		}
		if at := l.around(e.Pos); unused(e) && (l.isGenerated(e.Pos) || len(at) > 0 && lacking[at[len(at)-1]]) {
			continue // its use may be the missing name
		}
		found = found || !unused(e)
		declared, again := strings.CutPrefix(e.Msg, "\tother declaration of ")
		if len(l.diags) > 0 && (l.isGenerated(e.Pos) || again && l.pkg.ActorOf(declared) != nil) {
			continue // a consequence of a handler's error
		}
		l.errorAt(e.Pos, "", "%s", e.Msg)
	}
	return found
}

// generatedLater reports whether an error is about a missing name that the generator
// will declare.
func (l *lowering) generatedLater(e types.Error, generated map[string]bool) bool {
	name, qualified := missing(e)
	return generated[name] || qualified && (isLauncher(name) || isSpawner(name) || isOperator(name))
}

// around returns the file that contains a position, and the function if there is one.
func (l *lowering) around(pos token.Pos) []ast.Node {
	for _, f := range l.pkg.Files {
		if pos < f.FileStart || f.FileEnd < pos {
			continue
		}
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Pos() <= pos && pos < fd.End() {
				return []ast.Node{f, fd}
			}
		}
		return []ast.Node{f}
	}
	return nil
}

// unused reports whether an error is about an unused declaration, which does not
// prevent lowering.
func unused(e types.Error) bool {
	return strings.Contains(e.Msg, " imported ") && strings.HasSuffix(e.Msg, "and not used") || strings.HasPrefix(e.Msg, "declared and not used")
}

// harmless reports whether the code that e is about can still be lowered.
func harmless(e types.Error) bool {
	return unused(e) || strings.Contains(e.Msg, "unknown type") // of an argument: the call itself has an error
}

// missing returns the undefined name in an error, without its package.
func missing(e types.Error) (name string, qualified bool) {
	name, ok := strings.CutPrefix(e.Msg, "undefined: ")
	if !ok {
		return "", false
	}
	if _, after, ok := strings.Cut(name, "."); ok {
		return after, true
	}
	return name, false
}

func isLauncher(name string) bool { return strings.HasPrefix(name, "Launch") && name != "Launch" }

func (l *lowering) errorAt(pos token.Pos, kernel, format string, args ...any) {
	l.add(l.diagnostic(pos, kernel, fmt.Sprintf(format, args...)))
}

// add adds an error. It gives a text with too many errors up.
func (l *lowering) add(d Diagnostic) {
	l.pkg.poll()
	l.diags.add(d)
	if len(l.diags) >= maxErrors && l.pkg.isText() {
		panic(ir.Ended{Cause: l.diags.sorted()})
	}
}

// diagnostic returns an error at a position in a kernel or handler, "" for neither.
func (l *lowering) diagnostic(pos token.Pos, kernel, msg string) Diagnostic {
	d := Diagnostic{Pos: l.world.position(pos), Msg: msg}
	d.Kernel, d.Handler = l.pkg.subject(kernel)
	return d
}

// lowerKernels lowers the kernel that a declaration with a directive declares, or the
// instances of a generic kernel; nothing if the directive is not for a kernel.
func (l *lowering) lowerKernels(fd *ast.FuncDecl) []*ir.Kernel {
	name := fd.Name.Name
	bad := func(pos token.Pos, format string, args ...any) []*ir.Kernel {
		l.errorAt(pos, name, format, args...)
		return nil
	}
	var o options
	for _, dir := range directives(fd.Doc) {
		if dir.verb != "kernel" {
			continue
		}
		var wrong []wrongOption
		o, wrong = l.constantsOf(fd).options(dir.args, dir.verb)
		for _, w := range wrong {
			bad(w.pos, "%s", w.msg)
		}
		if len(wrong) > 0 {
			return nil
		}
	}
	obj, _ := l.pkg.Info.Defs[fd.Name].(*types.Func)
	if obj == nil {
		return bad(fd.Pos(), "the function did not type-check")
	}
	sig := obj.Signature()
	switch {
	case sig.Recv() != nil:
		return bad(fd.Recv.Pos(), "a kernel cannot be a method; write a function")
	case sig.Results().Len() > 0:
		return bad(fd.Type.Results.Pos(), "a kernel has no results; write them to a slice")
	case sig.Params().Len() == 0 || !isThread(sig.Params().At(0).Type()):
		return bad(fd.Type.Params.Pos(), "the first parameter of a kernel is its thread: %s(t kernel.Thread, ...)", name)
	case sig.Variadic():
		return bad(fd.Type.Params.Pos(), "a kernel cannot be variadic; take a slice")
	case fd.Body == nil:
		return bad(fd.Pos(), "a kernel needs a body")
	}
	var kernels []*ir.Kernel
	before := len(l.diags)
	for _, kernel := range kernelNames(fd) {
		if len(l.diags) > before {
			break // further instances would repeat the errors
		}
		for _, instance := range l.instances(fd, kernel, obj, o.instances) {
			if k := l.lowerKernel(fd, obj, instance, o); k != nil {
				kernels = append(kernels, k)
				l.pkg.instances[k.Name] = instance.typeArgs
			}
		}
		o.Unchecked = true // the second kernel
	}
	return kernels
}

// lowerKernel lowers one instance of a kernel; nil if there were errors.
func (l *lowering) lowerKernel(fd *ast.FuncDecl, obj *types.Func, instance instance, o options) *ir.Kernel {
	sig := obj.Signature()
	bad := func(pos token.Pos, format string, args ...any) { l.errorAt(pos, instance.name, format, args...) }
	k := &ir.Kernel{Name: instance.name, Options: o.Options}
	if a := l.pkg.ActorOf(instance.name); a != nil {
		k.Options.Variants = a.variants()
	}
	l.begin(k)
	before := len(l.diags)
	k.Func = l.lowerFunc(l.pkg, fd, obj, instance.typeArgs)
	end, tooLong := int64(0), token.NoPos // end of the parameters so far; the first parameter beyond the limit
	for i, v := range k.Func.Params {
		pos := fd.Type.Params.Pos()
		if o := sig.Params().At(i + 1); o.Pos().IsValid() {
			pos = o.Pos()
		}
		t := v.Type
		end = parameterEnd(end, t)
		if allParameters(end) > maxParameters && !tooLong.IsValid() {
			tooLong = pos
		}
		switch {
		case holdsTexture(sig.Params().At(i + 1).Type()):
			bad(pos, "parameter %s: a texture must be a separate parameter, not part of another", v.Name)
		case t.Size() == 0:
			bad(pos, "parameter %s: a value of type %s has no bytes to pass; leave it out", v.Name, t)
		case t.Kind == ir.Slice && !plain(t.Elem), t.Kind != ir.Slice && !plain(t):
			if t.Kind == ir.Pointer {
				bad(pos, "parameter %s: a kernel takes slices, not pointers; use []%s", v.Name, t.Elem)
			} else {
				bad(pos, "parameter %s: %s", v.Name, l.notInMemory(sig.Params().At(i+1), v.Name))
			}
		}
	}
	if tooLong.IsValid() {
		bad(tooLong, "the parameters have %d bytes together; a kernel has at most %d; pass large arrays as slices", allParameters(end), maxParameters)
	}
	l.specialise(fd, k, o.specialised)
	if len(l.diags) > before {
		return nil
	}
	l.markUnreachable(k)
	if a := l.pkg.ActorOf(instance.name); a != nil {
		k.Handler = l.lowerBlock(a, k.Options)
	}
	return k
}

// begin makes k the kernel being lowered.
func (l *lowering) begin(k *ir.Kernel) {
	l.kernel, l.funcs, l.stack, l.sharing, l.inlinings = k, map[string]*ir.Func{}, nil, map[*ir.Func]bool{}, 0
}

// maxParameters is the maximum size in bytes of a kernel's parameters on every device:
// the limit of PTX before version 8.1 (PTX ISA, kernel function parameters).
const maxParameters = 4352

// allParameters adds the compiler's parameters, an address and 32 bits, after those of
// the kernel.
func allParameters(end int64) int64 {
	return parameterEnd(parameterEnd(end, ir.TUint64), ir.TUint32)
}

// parameterEnd returns the end of a parameter that follows end bytes of others. A slice
// is passed as its address and length.
func parameterEnd(end int64, t *ir.Type) int64 {
	size, align := t.Size(), max(t.Align(), 1)
	if t.Kind == ir.Slice {
		size = 16
	}
	return (end+align-1)/align*align + size
}

// pos converts a position. A file of the package is named by its base name, a file of
// another package by import path and base name.
func (l *lowering) pos(p token.Pos) ir.Pos {
	q := l.world.position(p)
	name := filepath.Base(q.Filename)
	if pkg, ok := l.world.paths.Load(filepath.Dir(q.Filename)); ok && pkg != l.pkg.Path {
		name = pkg.(string) + "/" + name
	}
	return ir.Pos{File: name, Line: q.Line, Col: q.Column}
}

// function is the state of lowering one function.
type function struct {
	l        *lowering
	src      *Package
	f        *ir.Func // receives statements and variables
	name     string   // of the Go function
	key      string
	typeArgs map[*types.TypeParam]types.Type
	vars     map[types.Object]*ir.Local
	closures map[types.Object]*closure // variables of function types
	handler  bool                      // a literal that calls an actor's handler
	// The source is marked //quern:unchecked, or is a literal in such source.
	unchecked bool
	inlined   *inlined              // set if the body is lowered into the caller
	returned  []*closure            // function results of the last lowered call
	body      *ast.BlockStmt        // of the declared function
	addressed map[types.Object]bool // variables whose address body takes; nil until requested
	out       []ir.Stmt             // statements of the list being built
	gotos     []target              // labels further down
	targets   []target              // enclosing statements that break and continue can refer to
	loops     int                   // enclosing loops
	guards    int                   // enclosing conditions
	temps     int
	calling   token.Pos // of the call being lowered
}

// target is an enclosing loop or switch.
type target struct {
	name string // Go label, "" for none
	brk  *ir.Label
	cont *ir.Label // nil for a switch
}

func (fn *function) errorf(pos token.Pos, format string, args ...any) {
	l := fn.l
	// An error in a function of another package is reported at the call in this
	// package, without the advice, which is for the author of that function.
	if fn.src != l.pkg {
		for i := len(l.stack) - 1; i >= 0; i-- {
			if l.stack[i].src != l.pkg {
				continue
			}
			msg, _, _ := strings.Cut(fmt.Sprintf(format, args...), "; ")
			for _, called := range l.stack[i+1:] {
				if called.src.standard {
					l.errorAt(l.stack[i].calling, l.kernel.Name, "%s is not available in kernels: its source in the standard library cannot be compiled (%s); call it on the host and pass the values", called.name, msg)
					return
				}
			}
			d := l.diagnostic(l.stack[i].calling, l.kernel.Name, msg)
			if !l.isGenerated(l.stack[i].calling) {
				d.Called, d.At = fn.name, l.world.position(pos)
			}
			l.add(d)
			return
		}
	}
	l.errorAt(pos, l.kernel.Name, format, args...)
}

// checked reports whether a function's source type-checked, and reports its errors.
func (fn *function) checked(fd *ast.FuncDecl) bool {
	ok := !fn.usesC(fd)
	for _, e := range fn.src.errors {
		if e.Pos < fd.Pos() || fd.End() <= e.Pos || harmless(e) {
			continue
		}
		ok = false
		if name, _ := missing(e); isLauncher(name) {
			fn.errorf(e.Pos, "%s starts a kernel from the host; a kernel cannot start another, but it can call one as a function", name)
		} else {
			fn.errorf(e.Pos, "%s", e.Msg)
		}
	}
	return ok
}

// usesC reports a function's uses of cgo's C, which the type checker does not know.
func (fn *function) usesC(fd *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fd, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		if pkg, ok := fn.src.Info.Uses[id].(*types.PkgName); ok && pkg.Imported().Path() == "C" {
			fn.errorf(s.Pos(), "C.%s cannot be used in kernels; write it in Go", s.Sel.Name)
			found = true
		}
		return true
	})
	return found
}

// lowerFunc lowers a function with the given type arguments.
func (l *lowering) lowerFunc(src *Package, fd *ast.FuncDecl, obj *types.Func, typeArgs []types.Type) *ir.Func {
	sig := obj.Signature()
	fn := &function{
		l: l, src: src, key: instanceKey(src.Path, declName(fd), typeArgs),
		vars: map[types.Object]*ir.Local{}, closures: map[types.Object]*closure{},
		f: &ir.Func{Name: src.Name + "." + declName(fd), Pos: l.pos(fd.Pos()), Strict: src.standard || src.Path == devicemathPath},
	}
	if src.Types != nil && fn.f.Name == "." {
		fn.f.Name = src.Types.Name() + "." + declName(fd)
	}
	fn.name, fn.unchecked = fn.f.Name, isUnchecked(fd)
	fn.bindTypes(sig, typeArgs)
	l.stack = append(l.stack, fn)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()

	f := fn.f
	f.Go = ir.GoRef{Package: src.Path, Name: fd.Name.Name, Method: sig.Recv() != nil}
	if sig.Recv() == nil {
		for _, a := range typeArgs {
			f.Go.TypeArgs = append(f.Go.TypeArgs, fn.typ(a, fd.Pos()))
		}
	}
	if r := sig.Recv(); r != nil {
		f.Params = append(f.Params, fn.param(r, "recv"))
	}
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		if isThread(p.Type()) {
			f.Go.Thread = append(f.Go.Thread, i)
			f.UsesThread = true
			continue
		}
		f.Params = append(f.Params, fn.param(p, fmt.Sprintf("arg%d", i)))
	}
	for i := range sig.Results().Len() {
		r := sig.Results().At(i)
		v := fn.param(r, fmt.Sprintf("result%d", i))
		f.Results = append(f.Results, v)
		if r.Name() != "" && r.Name() != "_" {
			fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: &ir.Zero{T: v.Type}, Pos: v.Pos})
		}
	}
	if fd.Body == nil {
		if _, ok := declarations[obj.Pkg().Path()]; ok && !l.world.hasStandard() {
			fn.errorf(fd.Pos(), "%s: %s", f.Name, noStandard)
			return f
		}
		fn.errorf(fd.Pos(), "%s has no Go body (it is written in assembly), so it cannot be compiled", f.Name)
		return f
	}
	if !fn.checked(fd) {
		return f
	}
	fn.body = fd.Body
	fn.stmts(fd.Body.List)
	f.Body = fn.out
	if src.Path == actorPath || src.Path == mailPath {
		f.UsesThread = false // Go can call functions that send messages: they do not need the thread
	}
	return f
}

// bindTypes sets the type arguments of a function or of a method's receiver.
func (fn *function) bindTypes(sig *types.Signature, typeArgs []types.Type) {
	params := sig.TypeParams()
	if sig.Recv() != nil {
		params = sig.RecvTypeParams()
	}
	fn.typeArgs = map[*types.TypeParam]types.Type{}
	for i := range params.Len() {
		if i < len(typeArgs) {
			fn.typeArgs[params.At(i)] = typeArgs[i]
		}
	}
}

func (fn *function) param(v *types.Var, fallback string) *ir.Local {
	name := v.Name()
	if name == "" || name == "_" {
		name = fallback
	}
	if isFunction(fn.subst(v.Type())) && fn.closures != nil { // functions with such parameters are inlined
		fn.closures[v] = nil
		fn.errorf(v.Pos(), "parameter %s: a kernel takes data, not functions; call functions by their names in a switch on a number, or write a kernel for each", name)
		return &ir.Local{Name: name, Type: ir.TInt, Pos: fn.l.pos(v.Pos())}
	}
	local := &ir.Local{Name: name, Type: fn.typOf(name, v.Type(), v.Pos()), Pos: fn.l.pos(v.Pos())}
	fn.vars[v] = local
	return local
}

func instanceKey(path, name string, typeArgs []types.Type) string {
	var b strings.Builder
	b.WriteString(path + "." + name)
	for _, t := range typeArgs {
		b.WriteString("," + types.TypeString(t, (*types.Package).Path))
	}
	return b.String()
}

func (fn *function) emit(s ir.Stmt) { fn.out = append(fn.out, s) }

// list runs f and returns the statements it emits.
func (fn *function) list(f func()) []ir.Stmt {
	saved := fn.out
	fn.out = nil
	f()
	body := fn.out
	fn.out = saved
	return body
}

// guarded lowers a list that runs under a condition.
func (fn *function) guarded(f func()) []ir.Stmt {
	fn.guards++
	defer func() { fn.guards-- }()
	return fn.list(f)
}

// maxLocal is the maximum local memory per thread in bytes, on every device (CUDA C
// Programming Guide, compute capabilities).
const maxLocal = 512 << 10

// newLocal declares a variable of the function.
func (fn *function) newLocal(name string, t *ir.Type, pos token.Pos) *ir.Local {
	if size := t.Size(); size > maxLocal && pos.IsValid() {
		fn.errorf(pos, "a variable of type %s has %d bytes; a thread has at most %d of local memory; use a slice parameter", t, size, maxLocal)
	}
	v := &ir.Local{Name: name, Type: t, Pos: fn.l.pos(pos)}
	fn.f.Locals = append(fn.f.Locals, v)
	return v
}

// hidden declares a variable that is not in the source.
func (fn *function) hidden(name string, t *ir.Type, pos token.Pos) *ir.Local {
	fn.temps++
	v := fn.newLocal(name, t, pos)
	v.Hidden = true
	return v
}

// temp stores a value in a new variable.
func (fn *function) temp(e ir.Expr, pos token.Pos) *ir.Local {
	v := fn.hidden(fmt.Sprintf("t%d", fn.temps+1), e.Type(), pos)
	fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: e, Pos: fn.l.pos(pos)})
	return v
}

// stable returns an expression that can be evaluated later and repeatedly: e itself if
// it is a constant, otherwise a temporary that holds its current value.
func (fn *function) stable(e ir.Expr, pos token.Pos) ir.Expr {
	switch e.(type) {
	case *ir.Const, *ir.ThreadValue:
		return e
	}
	return ir.Get(fn.temp(e, pos))
}
