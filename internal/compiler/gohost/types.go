package gohost

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// qualified matches full type names inside type arguments, and basic types.
var qualified = regexp.MustCompile(`[\pL\pN_\-./~]+`)

// typ prints a type.
func (e *emitter) typ(t *ir.Type) string {
	if t.Name != "" {
		return qualified.ReplaceAllStringFunc(t.Name, e.object)
	}
	if t.IsComplex() {
		return t.String()
	}
	switch t.Kind {
	case ir.Array:
		return fmt.Sprintf("[%d]%s", t.Len, e.typ(t.Elem))
	case ir.Slice:
		return "[]" + e.typ(t.Elem)
	case ir.Pointer:
		return "*" + e.typ(t.Elem)
	case ir.Struct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = f.Name + " " + e.typ(f.Type)
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	}
	return t.Kind.String()
}

// object prints the full name "import/path.Name" of a type, function or variable as
// this file refers to it. A name without a path stays as it is.
func (e *emitter) object(full string) string {
	dot := strings.LastIndexByte(full, '.')
	if dot < 0 {
		return full
	}
	return e.member(full[:dot], full[dot+1:])
}

// member prints a package-level name of a package.
func (e *emitter) member(pkg, name string) string {
	if pkg == e.imports.pkg {
		e.reserve(name)
		return name
	}
	if !token.IsExported(name) {
		e.failf("%s.%s is not exported, so the generated code of package %s cannot name it", pkg, name, e.imports.pkg)
	}
	q := e.imports.Name(pkg)
	e.reserve(q)
	return q + "." + name
}

// identical reports whether two types are identical in Go.
func identical(a, b *ir.Type) bool {
	if a == b {
		return true
	}
	if a.Name != b.Name || a.Kind != b.Kind || a.Len != b.Len || len(a.Fields) != len(b.Fields) {
		return false
	}
	if a.Name != "" {
		return true
	}
	if a.Elem != nil && !identical(a.Elem, b.Elem) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i].Name != b.Fields[i].Name || !identical(a.Fields[i].Type, b.Fields[i].Type) {
			return false
		}
	}
	return true
}

// assignable reports whether Go allows assigning a value of type from to a variable of
// type to without a conversion.
func assignable(from, to *ir.Type) bool {
	if identical(from, to) {
		return true
	}
	if from.Name != "" && to.Name != "" || from.Kind != to.Kind || !from.IsAggregate() && from.Kind != ir.Slice && from.Kind != ir.Pointer {
		return false
	}
	a, b := *from, *to
	a.Name, b.Name = "", ""
	return identical(&a, &b)
}

// conversion prints T(x).
func (e *emitter) conversion(t *ir.Type, x string) string {
	s := e.typ(t)
	if strings.HasPrefix(s, "*") {
		s = "(" + s + ")"
	}
	return s + "(" + x + ")"
}
