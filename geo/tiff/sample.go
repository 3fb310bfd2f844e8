package tiff

import (
	"fmt"
	"math"
	"unsafe"
)

// Type is the type of a sample in memory.
type Type uint8

// Types of samples. Samples of other widths are widened when they are read:
// those of 1 to 7 bits to Uint8, of 9 to 15 bits to Uint16, of 17 to 31 bits to
// Uint32, and 16-bit floating-point numbers to Float32.
const (
	Uint8 Type = 1 + iota
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	Float32
	Float64
	ComplexI16 // [ComplexInt16]
	ComplexI32 // [ComplexInt32]
	Complex64
	Complex128
)

// ComplexInt16 is a complex number of 16-bit integers.
type ComplexInt16 struct{ Real, Imag int16 }

// ComplexInt32 is a complex number of 32-bit integers.
type ComplexInt32 struct{ Real, Imag int32 }

// Sample lists the Go types of samples, in the order of [Type].
type Sample interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64 |
		ComplexInt16 | ComplexInt32 | complex64 | complex128
}

// Values of the tag SampleFormat.
const (
	formatUint       = 1
	formatInt        = 2
	formatFloat      = 3
	formatVoid       = 4
	formatComplexInt = 5
	formatComplex    = 6
)

// typeTable describes the types: name, bytes, bytes of one component, and SampleFormat.
var typeTable = [...]struct {
	name            string
	size, component int
	format          int
}{
	Uint8:      {"uint8", 1, 1, formatUint},
	Uint16:     {"uint16", 2, 2, formatUint},
	Uint32:     {"uint32", 4, 4, formatUint},
	Uint64:     {"uint64", 8, 8, formatUint},
	Int8:       {"int8", 1, 1, formatInt},
	Int16:      {"int16", 2, 2, formatInt},
	Int32:      {"int32", 4, 4, formatInt},
	Int64:      {"int64", 8, 8, formatInt},
	Float32:    {"float32", 4, 4, formatFloat},
	Float64:    {"float64", 8, 8, formatFloat},
	ComplexI16: {"complex of int16", 4, 2, formatComplexInt},
	ComplexI32: {"complex of int32", 8, 4, formatComplexInt},
	Complex64:  {"complex64", 8, 4, formatComplex},
	Complex128: {"complex128", 16, 8, formatComplex},
}

func (t Type) valid() bool { return t >= Uint8 && int(t) < len(typeTable) }

// String returns Go's name of the type.
func (t Type) String() string {
	if !t.valid() {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return typeTable[t].name
}

// Size returns the bytes of one sample in memory.
func (t Type) Size() int {
	if !t.valid() {
		return 0
	}
	return typeTable[t].size
}

// Complex reports whether the type is one of complex numbers.
func (t Type) Complex() bool { return t >= ComplexI16 && t.valid() }

// Float reports whether the type is Float32 or Float64.
func (t Type) Float() bool { return t == Float32 || t == Float64 }

// TypeOf returns the type whose samples are of Go type T.
func TypeOf[T Sample]() Type {
	switch any(*new(T)).(type) {
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	case ComplexInt16:
		return ComplexI16
	case ComplexInt32:
		return ComplexI32
	case complex64:
		return Complex64
	}
	return Complex128
}

// Limits returns the least and the greatest value of an integer type, and of the parts of complex integers, as float64 has them. Those
// of other types are infinite.
func (t Type) Limits() (least, most float64) {
	switch part, _ := t.Parts(); part {
	case Uint8:
		return 0, math.MaxUint8
	case Int8:
		return math.MinInt8, math.MaxInt8
	case Uint16:
		return 0, math.MaxUint16
	case Int16:
		return math.MinInt16, math.MaxInt16
	case Uint32:
		return 0, math.MaxUint32
	case Int32:
		return math.MinInt32, math.MaxInt32
	case Uint64:
		return 0, math.MaxUint64
	case Int64:
		return math.MinInt64, math.MaxInt64
	}
	return math.Inf(-1), math.Inf(1)
}

// Parts returns the type of the numbers of a sample, and how many it has: two if it is complex.
func (t Type) Parts() (Type, int) {
	switch t {
	case ComplexI16:
		return Int16, 2
	case ComplexI32:
		return Int32, 2
	case Complex64:
		return Float32, 2
	case Complex128:
		return Float64, 2
	}
	return t, 1
}

// Bytes returns the memory of s as bytes, without copying.
func Bytes[T Sample](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// view returns the memory of b as samples. b must be aligned for them, which
// everything that alignedBytes returns is.
func view[T Sample](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(*new(T))))
}

// viewNumbers is view for the components of samples.
func viewNumbers[T narrow | int64 | uint64 | float32 | float64](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(*new(T))))
}

// alignedBytes allocates n bytes, aligned for every type of sample.
func alignedBytes(n int) []byte {
	words := make([]complex128, (n+15)/16)
	return Bytes(words)[:n]
}

// aligned reports whether b may be viewed as words of the given size.
func aligned(b []byte, size int) bool {
	return len(b) == 0 || uintptr(unsafe.Pointer(&b[0]))%uintptr(min(size, 8)) == 0
}
