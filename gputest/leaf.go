package gputest

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"quern.dev/kernel"
)

// leaf is a number or bool within a value.
type leaf struct {
	path   string // in the value: ".Rows[2].X"
	offset uintptr
	form   form
}

// form is the type of a leaf.
type form struct {
	kind reflect.Kind // Bool, an integer, Float32 or Float64; Uint16 for 16-bit floats
	half half
	size uintptr
}

// half is the kind of 16-bit float that a leaf is.
type half uint8

const (
	noHalf half = iota
	float16
	bfloat16
)

// isFloat reports whether the leaf is a floating-point number.
func (f form) isFloat() bool {
	return f.half != noHalf || f.kind == reflect.Float32 || f.kind == reflect.Float64
}

// leaves returns the leaves of a type. It returns an error that names the first
// part that cannot be compared.
func leaves(t reflect.Type) ([]leaf, error) { return appendLeaves(nil, t, "", 0) }

func appendLeaves(list []leaf, t reflect.Type, path string, at uintptr) ([]leaf, error) {
	add := func(kind reflect.Kind, h half, size uintptr) ([]leaf, error) {
		return append(list, leaf{path, at, form{kind, h, size}}), nil
	}
	switch {
	case t == reflect.TypeFor[kernel.Float16]():
		return add(reflect.Uint16, float16, 2)
	case t == reflect.TypeFor[kernel.BFloat16]():
		return add(reflect.Uint16, bfloat16, 2)
	}
	var err error
	switch kind := t.Kind(); {
	case kind == reflect.Complex64 || kind == reflect.Complex128:
		part := form{reflect.Float32, noHalf, 4}
		if kind == reflect.Complex128 {
			part = form{reflect.Float64, noHalf, 8}
		}
		return append(list, leaf{path + ".real", at, part}, leaf{path + ".imag", at + part.size, part}), nil
	case kind == reflect.Array:
		for i := 0; i < t.Len() && err == nil; i++ {
			list, err = appendLeaves(list, t.Elem(), fmt.Sprintf("%s[%d]", path, i), at+uintptr(i)*t.Elem().Size())
		}
		return list, err
	case kind == reflect.Struct:
		for i := 0; i < t.NumField() && err == nil; i++ {
			if f := t.Field(i); f.Name != "_" {
				list, err = appendLeaves(list, f.Type, path+"."+f.Name, at+f.Offset)
			}
		}
		return list, err
	case kind == reflect.Uintptr || kind < reflect.Bool || kind > reflect.Float64:
		return nil, fmt.Errorf("values of type %v cannot be compared", t)
	default:
		return add(kind, noHalf, t.Size())
	}
}

// bits returns the bits of the leaf at an address.
func (f form) bits(p unsafe.Pointer) uint64 {
	switch f.size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	default:
		return *(*uint64)(p)
	}
}

// put stores bits in the leaf at an address.
func (f form) put(p unsafe.Pointer, bits uint64) {
	switch f.size {
	case 1:
		*(*uint8)(p) = uint8(bits)
	case 2:
		*(*uint16)(p) = uint16(bits)
	case 4:
		*(*uint32)(p) = uint32(bits)
	default:
		*(*uint64)(p) = bits
	}
}

// float returns the value of a floating-point leaf with the given bits.
func (f form) float(bits uint64) float64 {
	switch {
	case f.half == float16:
		return kernel.Float16FromBits(uint16(bits)).Float64()
	case f.half == bfloat16:
		return kernel.BFloat16FromBits(uint16(bits)).Float64()
	case f.kind == reflect.Float32:
		return float64(math.Float32frombits(uint32(bits)))
	default:
		return math.Float64frombits(bits)
	}
}

// signed sign-extends the bits of an integer.
func (f form) signed(bits uint64) int64 {
	shift := 64 - 8*f.size
	return int64(bits<<shift) >> shift
}

// text formats the value with the given bits as package fmt does.
func (f form) text(bits uint64) string {
	switch {
	case f.half != noHalf:
		return fmt.Sprint(float32(f.float(bits)))
	case f.kind == reflect.Float32:
		return fmt.Sprint(math.Float32frombits(uint32(bits)))
	case f.kind == reflect.Float64:
		return fmt.Sprint(math.Float64frombits(bits))
	case f.kind == reflect.Bool:
		return fmt.Sprint(bits != 0)
	case f.kind <= reflect.Int64:
		return fmt.Sprint(f.signed(bits))
	default:
		return fmt.Sprint(bits)
	}
}
