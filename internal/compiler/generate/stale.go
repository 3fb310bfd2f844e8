package generate

import (
	"bytes"
	"fmt"
	"go/types"
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
	"quern.dev/internal/compiler/ir"
)

// staleName is the prefix of the types that check whether a generated file is current.
// The Go compiler shows the name when the file is out of date, before any other error:
// package-level variables are checked first.
const staleName = "quern_gen_is_stale__run_go_generate__"

// assertions checks the assumptions of a generated file: the types of kernels and
// handlers, and the layouts of their parameter types, which GPU code reads as bytes.
// The file does not compile if one of these declarations changes after the kernels were
// compiled. Parameter names are not part of a type in Go, so swapping two parameters of
// the same type is not detected.
type assertions struct {
	pkg     *frontend.Package
	imports *gohost.Imports
	taken   map[string]bool
	known   []types.Type
	// asserted holds the kernels, without type arguments, whose types are asserted.
	asserted map[string]bool

	types, values bytes.Buffer
}

func newAssertions(p *frontend.Package, imports *gohost.Imports) *assertions {
	return &assertions{pkg: p, imports: imports, taken: map[string]bool{}, asserted: map[string]bool{}}
}

// functionVariable returns the name of the variable that holds the function of a
// kernel.
func functionVariable(kernel string) string { return "quern_" + ir.Identifier(kernel) }

// function asserts the type of a kernel, and of its parameters. Of a generic kernel with a Go
// form, it asserts the type of one instance: the calls of the others would not compile either.
func (a *assertions) function(k *compiler.Kernel) {
	sig := signatureOf(a.pkg, k)
	a.parameters(sig)
	base := declaredName(k)
	if k.IR.Options.Only != "gpu" && a.asserted[base] {
		return
	}
	a.asserted[base] = true
	name := k.IR.Func.Go.Name + typeArguments(a.pkg, k, a.qualify)
	typ := a.declare(ir.Identifier(k.IR.Name), a.spell(sig))
	fmt.Fprintf(&a.values, "var %s %s = %s\n", functionVariable(k.IR.Name), typ, name)
}

// handler asserts the type of an actor's handler, and of its parameters.
func (a *assertions) handler(actor *frontend.Actor) {
	sig := a.pkg.Types.Scope().Lookup(actor.Handler).(*types.Func).Signature()
	typ := a.declare(actor.Handler, a.spell(sig))
	fmt.Fprintf(&a.values, "var _ %s = %s\n", typ, actor.Handler)
	a.parameters(sig)
}

// parameters asserts the layouts of a function's parameters except the thread.
func (a *assertions) parameters(sig *types.Signature) {
	for i := 1; i < sig.Params().Len(); i++ {
		switch t := sig.Params().At(i).Type().Underlying().(type) {
		case *types.Slice:
			a.layout(t.Elem())
		case *types.Pointer:
			a.layout(t.Elem())
		default:
			a.layout(sig.Params().At(i).Type())
		}
	}
}

// layout asserts the layout of a type and of the types that it consists of.
func (a *assertions) layout(t types.Type) {
	t = types.Unalias(t)
	for _, known := range a.known {
		if types.Identical(known, t) {
			return
		}
	}
	a.known = append(a.known, t)
	if n, ok := t.(*types.Named); ok {
		if pkg := n.Obj().Pkg(); pkg != nil && (pkg.Path() == kernelPath || pkg.Path() == actorPath && n.Obj().Name() == "Context") {
			return // a language type, or a type read only by the loop around a handler
		}
		if a.nameable(t) {
			a.named(n)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		a.layout(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			a.layout(f.Type())
		}
	}
}

// named asserts that the definition of a type has not changed.
func (a *assertions) named(t *types.Named) {
	name := a.spell(t)
	s, isStruct := t.Underlying().(*types.Struct)
	if !isStruct || a.spellable(s) {
		typ := a.declare(name, a.spell(t.Underlying()))
		fmt.Fprintf(&a.values, "var _ = (*%s)((*%s)(nil))\n", typ, name)
		return
	}
	// For a struct with unexported fields of another package: its size and the other
	// fields.
	zero := fmt.Sprintf("*(*%s)(nil)", name)
	a.size(name, sizes.Sizeof(t), "Sizeof", zero)
	var fields []*types.Var
	for f := range s.Fields() {
		fields = append(fields, f)
	}
	for i, offset := range sizes.Offsetsof(fields) {
		f := fields[i]
		if !f.Exported() {
			continue
		}
		a.size(name+"."+f.Name(), offset, "Offsetof", "("+zero+")."+f.Name())
		if a.nameable(f.Type()) {
			typ := a.declare(name+"."+f.Name(), "*"+a.spell(f.Type()))
			fmt.Fprintf(&a.values, "var _ = func(v *%s) %s { return &v.%s }\n", name, typ, f.Name())
		} else {
			a.size(name+"."+f.Name(), sizes.Sizeof(f.Type()), "Sizeof", "("+zero+")."+f.Name())
		}
	}
}

// size asserts that a function of package unsafe returns n for a value.
func (a *assertions) size(what string, n int64, function, value string) {
	typ := a.declare(strings.ToLower(function)+"_"+what, fmt.Sprintf("[%d]byte", n))
	fmt.Fprintf(&a.values, "var _ %s = [%s.%s(%s)]byte{}\n", typ, a.imports.Name("unsafe"), function, value)
}

// declare declares a type whose name states its purpose.
func (a *assertions) declare(what, underlying string) string {
	name := fresh(staleName+identifier(what), a.taken)
	fmt.Fprintf(&a.types, "type %s %s\n", name, underlying)
	return name
}

// identifier converts the name of a type to a part of an identifier.
func identifier(s string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if strings.ContainsRune("[]{}()*,./ ;", c) {
			return '_'
		}
		return c
	}, s), "_")
}

func (a *assertions) write(b *bytes.Buffer) {
	b.WriteString("\n// Kernels and the types that they take, as they were when this file was written.\n// Where one of these does not compile, the file is stale: run go generate.\n\n")
	fmt.Fprintf(b, "%s\n%s", &a.types, &a.values)
}

func (a *assertions) qualify(p *types.Package) string { return qualifier(a.pkg, a.imports)(p) }

// spell prints a type without the names of aliases, whose meaning may change.
func (a *assertions) spell(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		name := t.Obj().Name()
		if pkg := t.Obj().Pkg(); pkg != nil {
			if q := a.qualify(pkg); q != "" {
				name = q + "." + name
			}
		}
		var args []string
		for arg := range t.TypeArgs().Types() {
			args = append(args, a.spell(arg))
		}
		if len(args) > 0 {
			name += "[" + strings.Join(args, ", ") + "]"
		}
		return name
	case *types.Pointer:
		return "*" + a.spell(t.Elem())
	case *types.Slice:
		return "[]" + a.spell(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), a.spell(t.Elem()))
	case *types.Struct:
		var fields []string
		for f := range t.Fields() {
			field := f.Name() + " " + a.spell(f.Type())
			if f.Embedded() { // under the alias's name, if it is an alias
				field = types.TypeString(f.Type(), a.qualify)
			}
			fields = append(fields, field)
		}
		return "struct{ " + strings.Join(fields, "; ") + " }"
	case *types.Signature:
		var params []string
		for v := range t.Params().Variables() {
			params = append(params, a.spell(v.Type()))
		}
		text := "func(" + strings.Join(params, ", ") + ")"
		if t.Results().Len() == 1 {
			text += " " + a.spell(t.Results().At(0).Type())
		}
		return text
	default:
		return types.TypeString(t, a.qualify)
	}
}

// sizes are the sizes on the GPU and on all supported hosts.
var sizes = types.SizesFor("gc", "amd64")

// nameable reports whether the package can refer to a type by name.
func (a *assertions) nameable(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		obj := t.Obj()
		ok := obj.Pkg() == nil || obj.Pkg() == a.pkg.Types || obj.Exported()
		for arg := range t.TypeArgs().Types() {
			ok = ok && a.nameable(arg)
		}
		return ok
	case *types.Array:
		return a.nameable(t.Elem())
	case *types.Struct:
		return a.spellable(t)
	}
	return true
}

// spellable reports whether the package can write a struct type literally.
func (a *assertions) spellable(s *types.Struct) bool {
	for f := range s.Fields() {
		if !f.Exported() && f.Pkg() != a.pkg.Types || !a.nameable(f.Type()) {
			return false
		}
	}
	return true
}
