package gpu

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"quern.dev/kernel"
)

// typeLayout is what the values of a type are made of; see Param.Layout.
type typeLayout struct {
	name   string        // of a number, bool or 16-bit float
	elem   *typeLayout   // of an array
	length int           // of an array
	fields []layoutField // of a struct, if the others are zero
}

type layoutField struct {
	name string
	typeLayout
}

// Names of the 16-bit floats in layouts.
const (
	float16Name  = "quern.dev/kernel.Float16"
	bfloat16Name = "quern.dev/kernel.BFloat16"
)

// parseLayout reads the text of a layout, or reports that it is none.
func parseLayout(text string) (*typeLayout, bool) {
	l, rest, ok := cutLayout(text)
	return &l, ok && rest == ""
}

// cutLayout reads the layout that a text begins with.
func cutLayout(text string) (l typeLayout, rest string, ok bool) {
	if rest, ok := strings.CutPrefix(text, "["); ok {
		number, rest, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		elem, rest, ok := cutLayout(rest)
		return typeLayout{elem: &elem, length: n}, rest, ok && err == nil && n >= 0
	}
	if rest, ok := strings.CutPrefix(text, "struct{"); ok {
		for !strings.HasPrefix(rest, "}") {
			if len(l.fields) > 0 {
				if rest, ok = strings.CutPrefix(rest, "; "); !ok {
					return l, rest, false
				}
			}
			var f layoutField
			if f.name, rest, ok = strings.Cut(rest, " "); !ok {
				return l, rest, false
			}
			if f.typeLayout, rest, ok = cutLayout(rest); !ok {
				return l, rest, false
			}
			l.fields = append(l.fields, f)
		}
		return l, rest[1:], true
	}
	end := strings.IndexAny(text, ";}")
	if end < 0 {
		end = len(text)
	}
	l.name = text[:end]
	_, basic := basicTypes[l.name]
	return l, text[end:], basic || l.name == float16Name || l.name == bfloat16Name
}

// String returns the text that parseLayout reads.
func (l *typeLayout) String() string {
	switch {
	case l.elem != nil:
		return fmt.Sprintf("[%d]%v", l.length, l.elem)
	case l.name != "":
		return l.name
	}
	var b strings.Builder
	b.WriteString("struct{")
	for i := range l.fields {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %v", l.fields[i].name, &l.fields[i].typeLayout)
	}
	return b.String() + "}"
}

// size returns how many bytes a value has, and the number that its address is a
// multiple of.
func (l *typeLayout) size() (size, align int64) {
	switch {
	case l.elem != nil:
		size, align = l.elem.size()
		return size * int64(l.length), align
	case l.name == float16Name || l.name == bfloat16Name:
		return 2, 2
	case l.name == "complex64":
		return 8, 4
	case l.name == "complex128":
		return 16, 8
	case l.name != "":
		size = int64(basicSizes[basicTypes[l.name].kind])
		return size, size
	}
	align = 1
	for i := range l.fields {
		s, a := l.fields[i].size()
		size = (size+a-1)/a*a + s
		align = max(align, a)
	}
	return (size + align - 1) / align * align, align
}

// basicSizes are the sizes of numbers and bools in bytes.
var basicSizes = [...]int{
	reflect.Bool: 1, reflect.Int8: 1, reflect.Uint8: 1, reflect.Int16: 2, reflect.Uint16: 2,
	reflect.Int32: 4, reflect.Uint32: 4, reflect.Float32: 4,
	reflect.Int: 8, reflect.Uint: 8, reflect.Int64: 8, reflect.Uint64: 8, reflect.Float64: 8,
}

// at returns which part of a value has the byte at an offset, as in ".Rows[2].X", and
// how many bytes of it come before that one.
func (l *typeLayout) at(offset int64) (part string, rest int64) {
	if l.elem != nil {
		if size, _ := l.elem.size(); size > 0 && offset < size*int64(l.length) {
			part, rest = l.elem.at(offset % size)
			return fmt.Sprintf("[%d]%s", offset/size, part), rest
		}
		return "", offset
	}
	begin := int64(0)
	for i := range l.fields {
		size, align := l.fields[i].size()
		begin = (begin + align - 1) / align * align
		if begin <= offset && offset < begin+size {
			part, rest = l.fields[i].at(offset - begin)
			return "." + l.fields[i].name + part, rest
		}
		begin += size
	}
	return "", offset
}

// differs says what in values of a Go type is not as the layout has it, "" if they
// fit. Names of fields matter only where both have the same ones: these must be in
// the same places. path is the part of the value that is compared.
func (l *typeLayout) differs(t reflect.Type, path string) string {
	other := func() string {
		return strings.TrimSpace(fmt.Sprintf("%s is %s, want %v", cmpPath(path), fullName(t), l))
	}
	switch {
	case l.elem != nil:
		if t.Kind() != reflect.Array || t.Len() != l.length {
			return other()
		}
		if l.length == 0 {
			return ""
		}
		return l.elem.differs(t.Elem(), path+"[i]")
	case l.name != "":
		if l.name != valueName(t) {
			return other()
		}
		return ""
	case t.Kind() != reflect.Struct || valueName(t) != "":
		return other()
	case t.NumField() != len(l.fields):
		return fmt.Sprintf("%s has %s, want %d", cmpPath(path), count(t.NumField(), "field"), len(l.fields))
	}
	for i := range l.fields {
		f := &l.fields[i]
		if at := l.moved(t, i); at >= 0 {
			return fmt.Sprintf("%s.%s is at offset %d, want %d", path, t.Field(at).Name, t.Field(at).Offset, t.Field(i).Offset)
		}
		if why := f.differs(t.Field(i).Type, path+"."+t.Field(i).Name); why != "" {
			return why
		}
	}
	return ""
}

// cmpPath is how a message names a part of a value.
func cmpPath(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// moved returns the number of the field of t that has the name of the layout's field
// i, if it is another one, or -1. Whether a name is exported does not matter.
func (l *typeLayout) moved(t reflect.Type, i int) int {
	name := l.fields[i].name
	if name == "_" || strings.EqualFold(name, t.Field(i).Name) {
		return -1
	}
	for j := range t.NumField() {
		if strings.EqualFold(name, t.Field(j).Name) {
			return j
		}
	}
	return -1
}

// valueName is the name in layouts of a type whose values have no parts, "" for
// others.
func valueName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[kernel.Float16]():
		return float16Name
	case reflect.TypeFor[kernel.BFloat16]():
		return bfloat16Name
	}
	if name := t.Kind().String(); basicTypes[name].kind == t.Kind() {
		return name
	}
	return ""
}

// fullName is a type's name with the path of its package, as
// "example.com/app.Pixel", for messages about types that may have the same name.
func fullName(t reflect.Type) string {
	switch {
	case t == nil:
		return "nil"
	case t.PkgPath() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Name() != "":
		return t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + fullName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + fullName(t.Elem())
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), fullName(t.Elem()))
	default:
		return t.String()
	}
}
