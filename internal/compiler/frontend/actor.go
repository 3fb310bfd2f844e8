package frontend

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Packages that handlers, and the loop that calls them, are written with.
const (
	actorPath = "quern.dev/ring/actor"
	loopPath  = "quern.dev/ring/internal/loop"
	mailPath  = "quern.dev/ring/internal/mail" // used by actorPath
)

// actorVerb begins the directive of a handler.
const actorVerb = "actor"

// defaultActorBlock is the block of an actor that does not declare one: one warp.
var defaultActorBlock = [3]int{ir.WarpSize, 1, 1}

// Registers per thread of an actor, and per multiprocessor of any architecture. Without
// a limit, ptxas spills registers so that a multiprocessor can hold the maximum number
// of one-warp blocks, which actors are too large for anyway.
const (
	actorRegisters = 128
	registerFile   = 65536
)

// actorForm is the form of a handler's declaration.
const actorForm = "func %s(t kernel.Thread, state *State, in *In, out *Out) kernel.Action; " +
	"after the thread it may take c *actor.Context, and after that data []P"

// dataForm is the form of a handler's declaration with payload memory.
const dataForm = "func %s(t kernel.Thread, c *actor.Context, data []%s, state *State, in *In, out *Out) kernel.Action"

// Actor is a handler and the two functions generated for it: the GPU kernel, which is
// the loop of package ring/internal/loop around the handler, and the function that, in
// Go, the threads of a block run for one message.
type Actor struct {
	Handler string
	Kernel  string
	Block   string

	// Positions of the handler's parameters after its thread, 0 for missing ones.
	Context, Data, State, In, Out int

	loop  string            // its name in that package
	names map[string]string // variables of the kernel that have another name
	pos   token.Pos         // of the handler's name
}

// ActorOf returns the actor with the named kernel, nil for other kernels.
func (p *Package) ActorOf(kernel string) *Actor {
	for i := range p.actors {
		if p.actors[i].Kernel == kernel {
			return &p.actors[i]
		}
	}
	return nil
}

// subject returns the name that errors use for a kernel, and whether it is the handler
// that the kernel was generated for.
func (p *Package) subject(kernel string) (name string, handler bool) {
	for i := range p.actors {
		if a := &p.actors[i]; a.Kernel == kernel || a.Handler == kernel {
			return a.Handler, true
		}
	}
	if o := p.OperatorOf(kernel); o != nil {
		return o.Func, false
	}
	return kernel, false
}

// wrong reports whether an error was reported for a handler.
func (l *lowering) wrong(handler string) bool {
	return slices.ContainsFunc(l.diags, func(d Diagnostic) bool { return d.Handler && d.Kernel == handler })
}

// Owns reports whether the code at a position is written in the package, and not in a
// function of another package or in the loop around an actor's handler.
func (p *Package) Owns(at ir.Pos) bool {
	return at.File != GeneratedFile && slices.ContainsFunc(p.Files, func(f *ast.File) bool {
		return filepath.Base(p.world.Fset.Position(f.Package).Filename) == at.File
	})
}

// variants returns the number of variants of the kernel: only indices of payload memory
// gain from a narrow variant.
func (a *Actor) variants() int {
	if a.Data > 0 {
		return 2
	}
	return 1
}

// SpawnerName returns the name of the function that spawns actors with a handler.
func SpawnerName(handler string) string { return "Spawn" + capitalised(handler) }

var mentionsActor = regexp.MustCompile(`(?m)^//quern:actor\b`)

// mentionsActors reports whether a file of the package has a handler.
func (l *listed) mentionsActors() (bool, error) {
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return false, err
		}
		if mentionsActor.Match(text) {
			return true, nil
		}
	}
	return false, nil
}

// actorDirective returns the directive of a handler, or false.
func actorDirective(fd *ast.FuncDecl) (directive, bool) {
	for _, dir := range directives(fd.Doc) {
		if dir.verb == actorVerb {
			return dir, true
		}
	}
	return directive{}, false
}

// withActors adds to the files of a package one file per handler, with its kernel.
// Errors in a handler are reported when the package is lowered.
func (w *World) withActors(path string, files []*ast.File) ([]*ast.File, []Actor, error) {
	var actors []Actor
	all := files
	var known *Package // without the kernels; for constants in directives
	scope := func(fd *ast.FuncDecl, dir directive) constants {
		if !slices.ContainsFunc(dir.args, isSymbolic) {
			return constants{}
		}
		if known == nil {
			known = w.check(&Package{Path: path, Files: files}, w.api)
		}
		return constants{known, fd.Pos()}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			dir, ok := actorDirective(fd)
			if !ok || wrongHandler(fd) != "" {
				continue
			}
			o, _ := scope(fd, dir).options(dir.args, dir.verb)
			a := newActor(fd, o)
			added, err := parser.ParseFile(w.Fset, GeneratedFile, actorSource(f, fd, o, &a), parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, nil, fmt.Errorf("kernel of actor %s: %w", a.Handler, err)
			}
			w.handlers[w.Fset.File(added.Package)] = a.pos
			all, actors = append(all, added), append(actors, a)
		}
	}
	return all, actors, nil
}

// isSymbolic reports whether a word of a directive has a value that is not a number.
func isSymbolic(w word) bool {
	_, value, _ := strings.Cut(w.text, "=")
	return strings.Trim(value, "0123456789x") != ""
}

// newActor returns the actor of a handler with the given options.
func newActor(fd *ast.FuncDecl, o options) Actor {
	n := len(handlerParams(fd))
	a := Actor{Handler: fd.Name.Name, Kernel: fd.Name.Name + "Actor", Block: "quernBlock" + capitalised(fd.Name.Name), State: n - 3, In: n - 2, Out: n - 1, loop: "Serve", names: map[string]string{}, pos: fd.Name.Pos()}
	if o.Block[0] <= ir.WarpSize { // the default is a warp
		a.loop = "ServeWarp"
	}
	if n > 4 {
		a.Context = 1
	}
	if n > 5 {
		a.Data = 2
	}
	// A variable must not hide the names of the handler or of its types.
	taken := map[string]bool{fd.Name.Name: true}
	for _, t := range handlerParams(fd) {
		ast.Inspect(t, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				taken[id.Name] = true
			}
			return true
		})
	}
	for _, name := range actorVariables {
		a.names[name] = name
		for taken[a.names[name]] {
			a.names[name] += "_"
		}
	}
	return a
}

// actorVariables are the variables of the functions generated for an actor.
var actorVariables = []string{"t", "shape", "control", "cursors", "states", "inbox", "outbox", "post", "host", "data", "c", "contexts", "state", "in", "out", "action", "result"}

// Names returns the names of the variables of these functions.
func (a *Actor) Names() []string { return slices.Collect(maps.Values(a.names)) }

// kernelSource returns the declaration of the kernel, in a file where packages kernel,
// ring/actor and ring/internal/loop have the given names. typ returns the type that a
// parameter of the handler points to, or the element type of the data.
func (a *Actor) kernelSource(kernel, actor, loop string, typ func(i int) string) string {
	data, context, fence := "", "_", ""
	if a.Context > 0 {
		context = "$c$"
	}
	if a.Data > 0 {
		data = ", $data$ []" + typ(a.Data)
		// The host may read what the handler has written once it has received the
		// reply.
		fence = "\n\t\t$kernel$.Fence($kernel$.SystemScope)"
	}
	return a.source(kernel, actor, fmt.Sprintf(`func %s($t$ $kernel$.Thread, $shape$ %s.Shape, $control$ []uint64, $cursors$ []uint32, $states$ []%s, $inbox$, $outbox$, $post$, $host$ []uint64%s) {
	%s.%s($t$, $shape$, $control$, $cursors$, $states$, $inbox$, $outbox$, $post$, $host$, func($t$ $kernel$.Thread, %s *$actor$.Context, $state$ *%s, $in$ *%s, $out$ *%s) $kernel$.Action {
		$action$ := %s
		%s%s
		return $action$
	})
}
`, a.Kernel, loop, typ(a.State), data, loop, a.loop, context, typ(a.State), typ(a.In), typ(a.Out), a.call("$c$"), unknownAction("$action$"), fence))
}

// BlockParams returns the parameters of the block function after the thread.
func (a *Actor) BlockParams(kernel, actor string, typ func(i int) string) string {
	var b strings.Builder
	if a.Context > 0 {
		b.WriteString("$contexts$ []$actor$.Context, ")
	}
	if a.Data > 0 {
		b.WriteString("$data$ []" + typ(a.Data) + ", ")
	}
	fmt.Fprintf(&b, "$state$ *%s, $in$ *%s, $out$ *%s, $action$ *$kernel$.Action", typ(a.State), typ(a.In), typ(a.Out))
	return a.source(kernel, actor, b.String())
}

// BlockArgs returns the names of these parameters.
func (a *Actor) BlockArgs() []string {
	names := []string{"contexts", "data", "state", "in", "out", "action"}
	switch {
	case a.Context == 0:
		names = names[2:]
	case a.Data == 0:
		names = slices.Delete(names, 1, 2)
	}
	for i, name := range names {
		names[i] = a.names[name]
	}
	return names
}

// BlockSource returns the declaration of the block function: each thread calls the
// handler with its own context, and the first thread determines the action.
func (a *Actor) BlockSource(kernel, actor string, typ func(i int) string) string {
	return a.source(kernel, actor, fmt.Sprintf(`func %s($t$ $kernel$.Thread, %s) {
	$result$ := %s
	%s
	if $t$.ThreadIdx.X == 0 {
		*$action$ = $result$
	}
}
`, a.Block, a.BlockParams(kernel, actor, typ), a.call("&$contexts$[$t$.ThreadIdx.X]"), unknownAction("$result$")))
}

// unknownAction returns code that ends a thread whose handler returned an action that
// package kernel does not define: other values are outcomes that the loop itself sends.
func unknownAction(action string) string {
	return "if " + action + " > $kernel$.Again {\n\tpanic(\"the handler returned an action that package kernel does not have\")\n}"
}

// call returns the call of the handler with a context.
func (a *Actor) call(context string) string {
	args := ""
	if a.Context > 0 {
		args = context + ", "
	}
	if a.Data > 0 {
		args += "$data$, "
	}
	return a.Handler + "($t$, " + args + "$state$, $in$, $out$)"
}

// source substitutes the names of variables and packages.
func (a *Actor) source(kernel, actor, text string) string {
	names := make([]string, 0, 2*len(a.names)+4)
	for name, as := range a.names {
		names = append(names, "$"+name+"$", as)
	}
	names = append(names, "$kernel$", kernel, "$actor$", actor)
	return strings.NewReplacer(names...).Replace(text)
}

// actorSource returns the file with the two functions of a handler. It has the imports
// of the handler's file, for the types of the handler's parameters.
func actorSource(f *ast.File, fd *ast.FuncDecl, o options, a *Actor) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\tquernactor %q\n\tquernkernel %q\n\tquernloop %q\n", f.Name.Name, actorPath, kernelPath, loopPath)
	for _, spec := range f.Imports {
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name + " "
		}
		if name != "_ " {
			fmt.Fprintf(&b, "\t%s%s\n", name, spec.Path.Value)
		}
	}
	if o.Block[0] == 0 {
		o.Block = defaultActorBlock
	}
	if o.MaxRegs == 0 && o.MinBlocks == 0 {
		o.MaxRegs = min(actorRegisters, max(registerFile/(o.Block[0]*o.Block[1]*o.Block[2]), minRegisters))
	}
	params := handlerParams(fd)
	typ := func(i int) string {
		if t, ok := params[i].(*ast.ArrayType); ok {
			return types.ExprString(t.Elt)
		}
		return types.ExprString(params[i].(*ast.StarExpr).X)
	}
	const kernel, actor, loop = "quernkernel", "quernactor", "quernloop"
	fmt.Fprintf(&b, ")\n\n//quern:kernel %s\n%s\n%s", o.words(), a.kernelSource(kernel, actor, loop, typ), a.BlockSource(kernel, actor, typ))
	return b.String()
}

// callsHandler reports whether a literal is the one in an actor's kernel that calls the
// handler. The call is in a loop, but occurs once: the handler's shared variables
// belong to the kernel, and each message finds in them what an earlier message has
// left.
func (l *lowering) callsHandler(lit *ast.FuncLit) bool { return l.isGenerated(lit.Pos()) }

// isGenerated reports whether a position is in a file of withActors.
func (l *lowering) isGenerated(pos token.Pos) bool {
	_, ok := l.world.handlers[l.world.Fset.File(pos)]
	return ok
}

// inHandler reports whether the code being lowered is an actor's handler or called by
// one.
func (l *lowering) inHandler() bool {
	return slices.ContainsFunc(l.stack, func(fn *function) bool { return fn.handler })
}

// handlerParams returns the types of a function's parameters.
func handlerParams(fd *ast.FuncDecl) []ast.Expr {
	var list []ast.Expr
	for _, field := range fd.Type.Params.List {
		for range max(1, len(field.Names)) {
			list = append(list, field.Type)
		}
	}
	return list
}

// wrongHandler returns why a declaration cannot be a handler, judging by its syntax.
func wrongHandler(fd *ast.FuncDecl) string {
	switch {
	case fd.Recv != nil:
		return "a handler cannot be a method; write a function"
	case fd.Type.TypeParams != nil:
		return "a handler cannot be generic; write one that calls a generic function"
	}
	params := handlerParams(fd)
	form := fd.Type.Results.NumFields() == 1 && 4 <= len(params) && len(params) <= 6
	for i, t := range params {
		_, pointer := t.(*ast.StarExpr)
		array, _ := t.(*ast.ArrayType)
		slice := array != nil && array.Len == nil
		switch {
		case i == 0:
		case i == 1 && slice && len(params) >= 5:
			return "a handler takes the payload memory after the context: " + fmt.Sprintf(dataForm, fd.Name.Name, types.ExprString(array.Elt))
		case i == 2 && len(params) == 6:
			form = form && slice
		default:
			form = form && pointer
		}
	}
	if !form {
		return "a handler is declared as " + fmt.Sprintf(actorForm, fd.Name.Name)
	}
	return ""
}

// checkHandler reports the errors of a handler. kernels are the kernels of the
// package's actors.
func (l *lowering) checkHandler(fd *ast.FuncDecl, dir directive) {
	name := fd.Name.Name
	report := func(pos token.Pos, format string, args ...any) {
		d := l.diagnostic(pos, name, fmt.Sprintf(format, args...))
		d.Handler = true
		l.add(d)
	}
	if wrong := wrongHandler(fd); wrong != "" {
		report(fd.Name.Pos(), "%s", wrong)
		return
	}
	if l.pkg.ActorOf(name+"Actor") == nil {
		report(dir.pos, "an actor is compiled ahead of time; run quern gen on its package")
		return
	}
	for _, other := range directives(fd.Doc) {
		switch {
		case other.verb == "kernel":
			report(other.pos, "%s is the handler of an actor and a kernel; leave one of the directives out", name)
		case other.verb == actorVerb && other.pos != dir.pos:
			report(other.pos, "%s has two //quern:actor directives; put all options on one", name)
		}
	}
	if o := l.pkg.Types.Scope().Lookup(name + "Actor"); o != nil && !l.isGenerated(o.Pos()) {
		report(fd.Name.Pos(), "quern_gen.go would declare %s again, after %s; rename one of them", o.Name(), l.pos(o.Pos()))
	}
	o, wrong := l.constantsOf(fd).options(dir.args, dir.verb)
	for _, w := range wrong {
		report(w.pos, "%s", w.msg)
	}
	if len(wrong) > 0 {
		return
	}
	if o.Block[1] > 1 || o.Block[2] > 1 || o.Block[0] > 32 && o.Block[0]%32 != 0 {
		report(dir.pos, "an actor's block has one dimension, of up to 32 threads or a multiple of 32")
	}
	if len(o.instances)+len(o.specialised) > 0 || o.Cluster != [3]int{} {
		report(dir.pos, "instantiate, specialise and cluster are not for actors")
	}
	obj, _ := l.pkg.Info.Defs[fd.Name].(*types.Func)
	if obj == nil {
		return
	}
	sig := obj.Signature()
	if !isThread(sig.Params().At(0).Type()) || !isAction(sig.Results().At(0).Type()) {
		report(fd.Name.Pos(), "a handler is declared as "+actorForm, name)
		return
	}
	if a := newActor(fd, o); a.Context > 0 && !isContext(sig.Params().At(a.Context).Type()) {
		v := sig.Params().At(a.Context)
		report(v.Pos(), "a handler with %d parameters takes its context as the second, %s *actor.Context of package %s, not %s", sig.Params().Len(), nameOr(v, "c"), actorPath, types.TypeString(v.Type(), l.pkg.qualifier))
		return
	}
	what := []string{"reply", "message", "state", "payload memory"}
	size := int64(0) // of the message and the reply
	for i := range what {
		at := sig.Params().Len() - 1 - i
		if at < 1 || i == 3 && at == 1 { // the thread, the context
			break
		}
		v := sig.Params().At(at)
		elem := v.Type().(interface{ Elem() types.Type }).Elem()
		t, bad := l.convertType(elem, 0)
		switch ok := bad == "" && plain(t); {
		case i == 3 && (!ok || t.Size() == 0):
			report(v.Pos(), "the payload memory %s has elements of type %s, which cannot be passed as bytes; use numbers, bool, and structs and arrays of these", v.Name(), types.TypeString(elem, l.pkg.qualifier))
		case !ok:
			report(v.Pos(), "the %s %s is of type %s; it is passed as its bytes: use numbers, bool, and structs and arrays of these", what[i], v.Name(), types.TypeString(elem, l.pkg.qualifier))
		case i == 2 && t.Size() == 0:
			report(v.Pos(), "the state %s is of type %s, which has no bytes; a handler without a state takes one that it does not use, as in %s *uint8", v.Name(), types.TypeString(elem, l.pkg.qualifier), nameOr(v, "_"))
		case i < 2:
			size += t.Size()
		}
	}
	if size > maxMessage {
		report(fd.Name.Pos(), "the message and the reply have %d bytes together; they are in the shared memory of the actor's block, which has room for %d; keep large data in payload memory, and put references to it into messages", size, maxMessage)
	}
}

// maxMessage is the maximum size in bytes of a message and its reply, on devices with
// the most shared memory: the loop needs some of it.
const maxMessage = ir.MaxShared - 1024

// isContext reports whether t is a pointer to actor.Context.
func isContext(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "Context" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == actorPath
}

// isAction reports whether t is kernel.Action.
func isAction(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Action" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == kernelPath
}

// handlerNames returns the names that the generated file declares for a handler in
// addition to those of its kernel.
func handlerNames(handler string) []string {
	c := capitalised(handler)
	return []string{SpawnerName(handler), "quern" + c + "Program", "quernHost" + c, "quernPlain" + c}
}

// isSpawner reports whether name may be the constructor of an actor.
func isSpawner(name string) bool { return strings.HasPrefix(name, "Spawn") && name != "Spawn" }

// handlers checks the handlers among decls and records the names declared for them.
func (l *lowering) handlers(generated map[string]bool) {
	for _, f := range l.pkg.Files {
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				if dir, ok := actorDirective(fd); ok {
					l.checkHandler(fd, dir)
					for _, name := range handlerNames(fd.Name.Name) {
						generated[name] = true
					}
				}
			}
		}
	}
}

// lowerBlock lowers the block function of an actor whose kernel was lowered without
// errors.
func (l *lowering) lowerBlock(a *Actor, options ir.Options) *ir.Kernel {
	obj := l.pkg.Types.Scope().Lookup(a.Block).(*types.Func)
	k := &ir.Kernel{Name: a.Handler, Options: options}
	l.begin(k)
	k.Func = l.lowerFunc(l.pkg, l.pkg.funcs[a.Block], obj, nil)
	l.markUnreachable(k)
	return k
}
