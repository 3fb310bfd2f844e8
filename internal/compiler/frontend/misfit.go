package frontend

import (
	"go/token"
	"go/types"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// typOf converts the type of a variable, which diagnostics call name.
func (fn *function) typOf(name string, t types.Type, pos token.Pos) *ir.Type {
	t = fn.subst(t)
	out, bad := fn.l.convertType(t, 0)
	if bad == "" {
		return out
	}
	path, part := misfit(name, t, func(t types.Type) bool {
		_, bad := fn.l.convertType(t, 0)
		return bad == ""
	})
	if part != t {
		if _, inner := fn.l.convertType(part, 0); inner != "" {
			bad = path + " is of type " + types.TypeString(part, fn.l.pkg.qualifier) + ": " + inner
		}
	}
	fn.errorf(pos, "%s", bad)
	return ir.TInt
}

// misfit finds the innermost part of a type that is not allowed, and its path from a
// variable: in[i].shape.name. It does not follow pointers.
func misfit(path string, t types.Type, fits func(types.Type) bool) (string, types.Type) {
	for !isThread(t) {
		var parts []types.Type
		var paths []string
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for i := range u.NumFields() {
				parts = append(parts, u.Field(i).Type())
				paths = append(paths, path+"."+u.Field(i).Name())
			}
		case *types.Array:
			parts, paths = []types.Type{u.Elem()}, []string{path + "[i]"}
		case *types.Slice:
			parts, paths = []types.Type{u.Elem()}, []string{path + "[i]"}
		}
		found := false
		for i, part := range parts {
			if _, generic := part.(*types.TypeParam); !generic && !fits(part) {
				path, t, found = paths[i], part, true
				break
			}
		}
		if !found {
			break
		}
	}
	return path, t
}

// notInMemory says which part of a parameter cannot be in device memory, and what to do
// about it.
func (l *lowering) notInMemory(v *types.Var, name string) string {
	t, path := v.Type(), name
	if s, ok := t.Underlying().(*types.Slice); ok {
		t, path = s.Elem(), path+"[i]"
	}
	path, part := misfit(path, t, func(t types.Type) bool {
		out, bad := l.convertType(t, 0)
		return bad == "" && plain(out)
	})
	if _, ok := part.Underlying().(*types.Pointer); ok {
		return path + " is of type " + types.TypeString(part, l.pkg.qualifier) + ", and device memory cannot hold pointers; store an index into a slice instead"
	}
	_, outer, _ := strings.Cut(path, ".")
	if outer == "" {
		return path + " is of type " + types.TypeString(part, l.pkg.qualifier) + ", and device memory cannot hold slices; use one slice and compute the index"
	}
	return path + " is of type " + types.TypeString(part, l.pkg.qualifier) + ", and device memory cannot hold slices; pass it as a parameter of its own"
}
