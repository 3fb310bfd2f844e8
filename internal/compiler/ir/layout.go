package ir

import (
	"fmt"
	"strings"
)

// Layout describes the structure of a type's values: the type with every defined type
// replaced by its definition, which with Go's rules determines the offset of every
// number. Types with the same layout hold the same values at the same offsets. The
// 16-bit floats of package kernel keep their names.
func (t *Type) Layout() string {
	switch {
	case t.Kind == Float16:
		return TFloat16.Name
	case t.Kind == BFloat16:
		return TBFloat16.Name
	case t.IsComplex():
		return t.complexName()
	case t.Kind == Array:
		return fmt.Sprintf("[%d]%s", t.Len, t.Elem.Layout())
	case t.Kind == Struct:
		var b strings.Builder
		b.WriteString("struct{")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(f.Name + " " + f.Type.Layout())
		}
		return b.String() + "}"
	}
	return t.Kind.String()
}
