// Package layout describes how values of kernel parameters are laid out in memory. It
// compares layouts with Go types, reads integers, and names the element at an address.
package layout

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"quern.dev/kernel"
)

// Layout is the layout of the values of a type; see compiled.Param.Layout.
type Layout struct {
	name   string  // of a number, a bool or a 16-bit float
	elem   *Layout // of an array
	length int     // of an array
	fields []field // of a struct, if the other fields are zero
}

type field struct {
	name string
	Layout
}

// Names of the 16-bit floats in layouts.
const (
	float16Name  = "quern.dev/kernel.Float16"
	bfloat16Name = "quern.dev/kernel.BFloat16"
)

// Parse parses the text of a layout. It reports false if the text is not a layout.
func Parse(text string) (*Layout, bool) {
	l, rest, ok := cut(text)
	return &l, ok && rest == ""
}

// cut parses the layout at the start of a text.
func cut(text string) (l Layout, rest string, ok bool) {
	if rest, ok := strings.CutPrefix(text, "["); ok {
		number, rest, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		elem, rest, ok := cut(rest)
		return Layout{elem: &elem, length: n}, rest, ok && err == nil && n >= 0
	}
	if rest, ok := strings.CutPrefix(text, "struct{"); ok {
		for !strings.HasPrefix(rest, "}") {
			if len(l.fields) > 0 {
				if rest, ok = strings.CutPrefix(rest, "; "); !ok {
					return l, rest, false
				}
			}
			var f field
			if f.name, rest, ok = strings.Cut(rest, " "); !ok {
				return l, rest, false
			}
			if f.Layout, rest, ok = cut(rest); !ok {
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

// Basic reports whether values have no parts: whether they are numbers, bools or 16-bit
// floats.
func (l *Layout) Basic() bool { return l.name != "" }

// String returns the text that Parse parses.
func (l *Layout) String() string {
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
		fmt.Fprintf(&b, "%s %v", l.fields[i].name, &l.fields[i].Layout)
	}
	return b.String() + "}"
}

// size returns the size and the alignment of a value in bytes.
func (l *Layout) size() (size, align int64) {
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

// At returns the part of a value that contains the byte at an offset, such as
// ".Rows[2].X", and the offset of the byte in that part.
func (l *Layout) At(offset int64) (part string, rest int64) {
	if l.elem != nil {
		if size, _ := l.elem.size(); size > 0 && offset < size*int64(l.length) {
			part, rest = l.elem.At(offset % size)
			return fmt.Sprintf("[%d]%s", offset/size, part), rest
		}
		return "", offset
	}
	begin := int64(0)
	for i := range l.fields {
		size, align := l.fields[i].size()
		begin = (begin + align - 1) / align * align
		if begin <= offset && offset < begin+size {
			part, rest = l.fields[i].At(offset - begin)
			return "." + l.fields[i].name + part, rest
		}
		begin += size
	}
	return "", offset
}

// Differs describes the first difference between the layout and a Go type. It returns ""
// if there is none. Field names matter only if both types have a field of the same name,
// which must then be at the same offset.
func (l *Layout) Differs(t reflect.Type) string { return l.differs(t, "") }

// differs is Differs for the part of a value at a path.
func (l *Layout) differs(t reflect.Type, path string) string {
	other := func() string {
		return strings.TrimSpace(fmt.Sprintf("%s is %s, want %v", cmpPath(path), FullName(t), l))
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
		return fmt.Sprintf("%s has %s, want %d", cmpPath(path), count(int64(t.NumField()), "field"), len(l.fields))
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

// count returns "1 field" or "2 fields".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// cmpPath returns the name of a part of a value in messages.
func cmpPath(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// moved returns the index of the field of t that has the name of field i of the layout, or
// -1 if it has the same index or does not exist. Names are compared without case.
func (l *Layout) moved(t reflect.Type, i int) int {
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

// valueName returns the name in layouts of a type whose values have no parts. It returns
// "" for other types.
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

// FullName returns the name of a type with the import path of its package, such as
// "example.com/app.Pixel".
func FullName(t reflect.Type) string {
	switch {
	case t == nil:
		return "nil"
	case t.PkgPath() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Name() != "":
		return t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + FullName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + FullName(t.Elem())
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), FullName(t.Elem()))
	default:
		return t.String()
	}
}

// NotData returns the first type in t that a device cannot hold and its path in t, such as
// .rows[i].name. It returns nil if a device can hold t.
func NotData(t reflect.Type) (inner reflect.Type, path string) {
	switch k := t.Kind(); {
	case k == reflect.Array:
		inner, path = NotData(t.Elem())
		return inner, "[i]" + path
	case k == reflect.Struct:
		for i := range t.NumField() {
			if inner, path := NotData(t.Field(i).Type); inner != nil {
				return inner, "." + t.Field(i).Name + path
			}
		}
		return nil, ""
	case reflect.Bool <= k && k <= reflect.Complex128 && k != reflect.Uintptr:
		return nil, ""
	default:
		return t, ""
	}
}
