package generate

import (
	"bytes"
	"fmt"
	"go/types"

	"quern.dev/internal/compiler/gohost"
)

// layouts is the types of messages and states, which the GPU reads as bytes. The
// generated file does not compile once they are declared otherwise than they were
// when the kernels were compiled.
type layouts struct {
	types []types.Type
}

// add notes a type, and those that it is made of.
func (l *layouts) add(t types.Type) {
	t = types.Unalias(t)
	for _, known := range l.types {
		if types.Identical(known, t) {
			return
		}
	}
	if _, named := t.(*types.Named); named {
		l.types = append(l.types, t)
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		l.add(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			l.add(f.Type())
		}
	}
}

// write writes the checks into the generated file of package in.
func (l *layouts) write(b *bytes.Buffer, in *types.Package, qualify types.Qualifier, imports *gohost.Imports) {
	var lines bytes.Buffer
	for _, t := range l.types {
		switch {
		case !nameable(t, in):
		case spellable(t.Underlying(), in):
			fmt.Fprintf(&lines, "_ = (*%s)((*%s)(nil))\n", types.TypeString(t, qualify), types.TypeString(t.Underlying(), qualify))
		default:
			fmt.Fprintf(&lines, "_ [%d]uint8 = [%s.Sizeof(*(*%s)(nil))]uint8{}\n", sizes.Sizeof(t), imports.Name("unsafe"), types.TypeString(t, qualify))
		}
	}
	if lines.Len() > 0 {
		fmt.Fprintf(b, "\n// Types of actors as they are compiled for the GPU. If these lines do not compile, run quern gen.\nvar (\n%s)\n", &lines)
	}
}

// sizes are those of the GPU, and of the hosts that there are.
var sizes = types.SizesFor("gc", "amd64")

// nameable reports whether a package can write a type's name.
func nameable(t types.Type, in *types.Package) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		obj := t.Obj()
		ok := obj.Pkg() == nil || obj.Pkg() == in || obj.Exported()
		for arg := range t.TypeArgs().Types() {
			ok = ok && nameable(arg, in)
		}
		return ok
	case *types.Array:
		return nameable(t.Elem(), in)
	case *types.Struct:
		return spellable(t, in)
	}
	return true
}

// spellable reports whether a package can write a type literal.
func spellable(t types.Type, in *types.Package) bool {
	s, ok := t.(*types.Struct)
	if !ok {
		return nameable(t, in)
	}
	for f := range s.Fields() {
		if !f.Exported() && f.Pkg() != in || !nameable(f.Type(), in) {
			return false
		}
	}
	return true
}
