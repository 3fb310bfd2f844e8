package frontend

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// actorPath is the package with the loop that calls an actor's handler.
const actorPath = "quern.dev/ring/actor"

// actorVerb begins the directive of a handler.
const actorVerb = "actor"

// defaultActorBlock is the threads of an actor that does not say how many: a warp.
const defaultActorBlock = "block=32"

// actorForm is how a handler is declared.
const actorForm = "func %s(t kernel.Thread, state *State, in *In, out *Out) kernel.Action"

// Actor is a handler and the kernel that was written for it: the loop of package
// ring/actor around it.
type Actor struct {
	Handler string
	Kernel  string
}

// ActorOf returns the actor whose kernel has a name, nil for other kernels.
func (p *Package) ActorOf(kernel string) *Actor {
	for i := range p.actors {
		if p.actors[i].Kernel == kernel {
			return &p.actors[i]
		}
	}
	return nil
}

// SpawnerName is the name of the function that makes actors with a handler.
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

// withActors adds to files one for each handler, with its kernel. What is wrong
// with a handler is reported when the package is lowered.
func (w *World) withActors(files []*ast.File) ([]*ast.File, []Actor, error) {
	var actors []Actor
	all := files
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
			a := Actor{fd.Name.Name, fd.Name.Name + "Actor"}
			added, err := parser.ParseFile(w.Fset, GeneratedFile, actorSource(f, fd, dir, a), parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, nil, fmt.Errorf("kernel of actor %s: %w", a.Handler, err)
			}
			all, actors = append(all, added), append(actors, a)
		}
	}
	return all, actors, nil
}

// actorSource is the file with the kernel of a handler. It imports what the
// handler's file does, for the types of its parameters.
func actorSource(f *ast.File, fd *ast.FuncDecl, dir directive, a Actor) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\tquernactor %q\n\tquernkernel %q\n", f.Name.Name, actorPath, kernelPath)
	for _, spec := range f.Imports {
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name + " "
		}
		if name != "_ " {
			fmt.Fprintf(&b, "\t%s%s\n", name, spec.Path.Value)
		}
	}
	options := defaultActorBlock
	for _, w := range dir.args {
		if strings.HasPrefix(w.text, "block=") {
			options = ""
		}
	}
	for _, w := range dir.args {
		options += " " + w.text
	}
	state := types.ExprString(handlerParams(fd)[1].(*ast.StarExpr).X)
	fmt.Fprintf(&b, ")\n\n//quern:kernel %s\nfunc %s(t quernkernel.Thread, shape quernactor.Shape, control []uint64, cursors []uint32, states []%s, inbox, outbox []uint64) {\n"+
		"\tquernactor.Serve(t, shape, control, cursors, states, inbox, outbox, %s)\n}\n", strings.TrimSpace(options), a.Kernel, state, a.Handler)
	return b.String()
}

// handlerParams are the types of a function's parameters.
func handlerParams(fd *ast.FuncDecl) []ast.Expr {
	var list []ast.Expr
	for _, field := range fd.Type.Params.List {
		for range max(1, len(field.Names)) {
			list = append(list, field.Type)
		}
	}
	return list
}

// wrongHandler says why a declaration cannot be a handler, as far as its syntax
// tells.
func wrongHandler(fd *ast.FuncDecl) string {
	params := handlerParams(fd)
	pointers := len(params) == 4
	for _, t := range params[min(1, len(params)):] {
		_, ok := t.(*ast.StarExpr)
		pointers = pointers && ok
	}
	switch {
	case fd.Recv != nil:
		return "a handler cannot be a method; write a function"
	case fd.Type.TypeParams != nil:
		return "a handler cannot be generic; write one that calls a generic function"
	case !pointers || fd.Type.Results.NumFields() != 1:
		return "a handler is declared as " + fmt.Sprintf(actorForm, fd.Name.Name)
	}
	return ""
}

// checkHandler reports what is wrong with a handler. kernels are those of the
// package's actors.
func (l *lowering) checkHandler(fd *ast.FuncDecl, dir directive) {
	name := fd.Name.Name
	if wrong := wrongHandler(fd); wrong != "" {
		l.errorAt(fd.Name.Pos(), name, "%s", wrong)
		return
	}
	if l.pkg.ActorOf(name+"Actor") == nil {
		l.errorAt(dir.pos, name, "an actor is compiled ahead of time; run quern gen on its package")
		return
	}
	o, wrong := kernelOptions(dir.args)
	for _, w := range wrong {
		l.errorAt(w.pos, name, "%s", strings.ReplaceAll(w.msg, "kernel option", "actor option"))
	}
	if len(wrong) > 0 {
		return
	}
	if o.Block[1] > 1 || o.Block[2] > 1 || o.Block[0] > 32 && o.Block[0]%32 != 0 {
		l.errorAt(dir.pos, name, "an actor's block has one dimension, of up to 32 threads or a multiple of 32")
	}
	if len(o.instances)+len(o.specialised) > 0 || o.Cluster != [3]int{} {
		l.errorAt(dir.pos, name, "instantiate, specialise and cluster are not for actors")
	}
	obj, _ := l.pkg.Info.Defs[fd.Name].(*types.Func)
	if obj == nil {
		return
	}
	sig := obj.Signature()
	if !isThread(sig.Params().At(0).Type()) || !isAction(sig.Results().At(0).Type()) {
		l.errorAt(fd.Name.Pos(), name, "a handler is declared as "+actorForm, name)
		return
	}
	for i, what := range []string{"state", "message", "reply"} {
		v := sig.Params().At(i + 1)
		elem := v.Type().(*types.Pointer).Elem()
		if t, bad := l.convertType(elem, 0); bad != "" || !plain(t) {
			l.errorAt(v.Pos(), name, "the %s %s is of type %s; it is passed as its bytes: use numbers, bool, and structs and arrays of these", what, v.Name(), types.TypeString(elem, l.pkg.qualifier))
		}
	}
}

// isAction reports whether t is kernel.Action.
func isAction(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Action" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == kernelPath
}

// handlerNames are the names that the generated file declares for a handler,
// beside those of its kernel.
func handlerNames(handler string) []string {
	return []string{SpawnerName(handler), "quern" + capitalised(handler) + "Program"}
}

// isSpawner reports whether name may be the constructor of an actor.
func isSpawner(name string) bool { return strings.HasPrefix(name, "Spawn") && name != "Spawn" }

// handlers checks the handlers among decls, and notes the names that are declared
// for them.
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
