package ir

import (
	"fmt"
	"regexp"
	"strings"
)

// Kind is the kind of a type.
type Kind uint8

// The kinds of types. Int and Uint are Go's int and uint: semantically 64 bits wide,
// but, unlike Int64 and Uint64, subject to narrowing.
const (
	Invalid Kind = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Int
	Uint8
	Uint16
	Uint32
	Uint64
	Uint
	Float32
	Float64
	Float16  // kernel.Float16 and kernel.BFloat16: only copied and converted, to and
	BFloat16 // from floats and uint16 (see half.go)
	Array
	Struct
	Slice
	Pointer
)

var kindNames = [...]string{"invalid", "bool", "int8", "int16", "int32", "int64", "int", "uint8", "uint16", "uint32", "uint64", "uint", "float32", "float64", "float16", "bfloat16", "array", "struct", "slice", "pointer"}

func (k Kind) String() string { return kindNames[k] }

// Type is the type of a value or of a place. Basic types without a name are the
// package's variables (TInt, TFloat32, ...). Compare types with Equal.
type Type struct {
	Kind   Kind
	Elem   *Type   // of Array, Slice and Pointer
	Len    int64   // of Array
	Fields []Field // of Struct

	// Name is the Go type's full name, "import/path.Name" with any type arguments, or
	// "" for a type literal or predeclared type. Only the Go back end uses it: Equal
	// ignores it.
	Name string
}

// Field is a field of a struct, at its offset in Go's layout.
type Field struct {
	Name   string
	Type   *Type
	Offset int64
}

// The predeclared types.
var (
	TBool    = &Type{Kind: Bool}
	TInt8    = &Type{Kind: Int8}
	TInt16   = &Type{Kind: Int16}
	TInt32   = &Type{Kind: Int32}
	TInt64   = &Type{Kind: Int64}
	TInt     = &Type{Kind: Int}
	TUint8   = &Type{Kind: Uint8}
	TUint16  = &Type{Kind: Uint16}
	TUint32  = &Type{Kind: Uint32}
	TUint64  = &Type{Kind: Uint64}
	TUint    = &Type{Kind: Uint}
	TFloat32 = &Type{Kind: Float32}
	TFloat64 = &Type{Kind: Float64}
)

// Basic returns the predeclared type of a scalar kind.
func Basic(k Kind) *Type {
	return [...]*Type{Bool: TBool, Int8: TInt8, Int16: TInt16, Int32: TInt32, Int64: TInt64, Int: TInt,
		Uint8: TUint8, Uint16: TUint16, Uint32: TUint32, Uint64: TUint64, Uint: TUint,
		Float32: TFloat32, Float64: TFloat64, Float16: TFloat16, BFloat16: TBFloat16}[k]
}

// ArrayOf returns the type [n]elem.
func ArrayOf(n int64, elem *Type) *Type { return &Type{Kind: Array, Len: n, Elem: elem} }

// SliceOf returns the type []elem.
func SliceOf(elem *Type) *Type { return &Type{Kind: Slice, Elem: elem} }

// PointerTo returns the type *elem.
func PointerTo(elem *Type) *Type { return &Type{Kind: Pointer, Elem: elem} }

// IsInteger reports whether values are integers.
func (t *Type) IsInteger() bool { return t.Kind >= Int8 && t.Kind <= Uint }

// IsSigned reports whether values are signed integers.
func (t *Type) IsSigned() bool { return t.Kind >= Int8 && t.Kind <= Int }

// IsFloat reports whether values are floating-point numbers.
func (t *Type) IsFloat() bool { return t.Kind == Float32 || t.Kind == Float64 }

// IsScalar reports whether a value fits in one register: a bool, a number or a pointer.
func (t *Type) IsScalar() bool { return t.Kind >= Bool && t.Kind <= BFloat16 || t.Kind == Pointer }

// IsAggregate reports whether the type is an array or a struct.
func (t *Type) IsAggregate() bool { return t.Kind == Array || t.Kind == Struct }

// Size returns the number of bytes of a value in memory, in Go's layout for 64-bit
// machines.
func (t *Type) Size() int64 {
	switch t.Kind {
	case Bool, Int8, Uint8:
		return 1
	case Int16, Uint16, Float16, BFloat16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Array:
		return t.Len * t.Elem.Size()
	case Struct:
		if len(t.Fields) == 0 {
			return 0
		}
		last := t.Fields[len(t.Fields)-1]
		end := last.Offset + last.Type.Size()
		if last.Type.Size() == 0 && last.Offset > 0 {
			end++ // Go pads so that a pointer to a final empty field stays inside
		}
		return align(end, t.Align())
	case Slice:
		return 24
	}
	return 8
}

// Align returns the alignment of a value in memory, in bytes.
func (t *Type) Align() int64 {
	switch t.Kind {
	case Array:
		return t.Elem.Align()
	case Struct:
		a := int64(1)
		for _, f := range t.Fields {
			a = max(a, f.Type.Align())
		}
		return a
	case Slice:
		return 8
	}
	return t.Size()
}

func align(n, a int64) int64 { return (n + a - 1) / a * a }

// StructOf lays out fields like Go and returns the struct type.
func StructOf(name string, fields ...Field) *Type {
	off := int64(0)
	for i := range fields {
		off = align(off, fields[i].Type.Align())
		fields[i].Offset = off
		off += fields[i].Type.Size()
	}
	return &Type{Kind: Struct, Name: name, Fields: fields}
}

// Equal reports whether two types have the same structure; names are ignored.
func (t *Type) Equal(u *Type) bool {
	if t == u {
		return true
	}
	if t == nil || u == nil || t.Kind != u.Kind || t.Len != u.Len || len(t.Fields) != len(u.Fields) {
		return false
	}
	if t.Elem != nil && !t.Elem.Equal(u.Elem) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return true
}

// directories matches everything before the package name in a full type name, including
// those in type arguments.
var directories = regexp.MustCompile(`[^\[\]{},*\s]*/`)

// String returns the Go type with package names instead of import paths.
func (t *Type) String() string {
	if t == nil {
		return "<nil>"
	}
	return directories.ReplaceAllString(t.FullName(), "")
}

// FullName returns the Go type with import paths.
func (t *Type) FullName() string {
	if t.Name != "" {
		return t.Name
	}
	if t.IsComplex() {
		return t.complexName()
	}
	switch t.Kind {
	case Array:
		return fmt.Sprintf("[%d]%s", t.Len, t.Elem.FullName())
	case Slice:
		return "[]" + t.Elem.FullName()
	case Pointer:
		return "*" + t.Elem.FullName()
	case Struct:
		var b strings.Builder
		b.WriteString("struct{")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s %s", f.Name, f.Type.FullName())
		}
		return b.String() + "}"
	}
	return t.Kind.String()
}
