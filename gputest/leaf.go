package gputest

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"quern.dev/kernel"
)

// part is a value or a part of one, as far as it can be compared. The numbers and bools in
// it are its leaves. Elements of an array share one description, so its size depends on the
// type's source, not on the lengths of its arrays.
type part struct {
	name   string  // of a field: ".X"
	offset uintptr // of a field
	size   uintptr
	form   form   // of a leaf
	fields []part // of a struct or a complex number
	elem   *part  // of an array
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

// partOf describes the values of a type. It returns an error that names the first part
// that cannot be compared.
func partOf(t reflect.Type) (part, error) {
	leaf := func(kind reflect.Kind, h half) (part, error) {
		return part{size: t.Size(), form: form{kind, h, t.Size()}}, nil
	}
	switch {
	case t == reflect.TypeFor[kernel.Float16]():
		return leaf(reflect.Uint16, float16)
	case t == reflect.TypeFor[kernel.BFloat16]():
		return leaf(reflect.Uint16, bfloat16)
	}
	p := part{size: t.Size()}
	switch kind := t.Kind(); {
	case kind == reflect.Complex64 || kind == reflect.Complex128:
		number := form{reflect.Float32, noHalf, 4}
		if kind == reflect.Complex128 {
			number = form{reflect.Float64, noHalf, 8}
		}
		p.fields = []part{
			{name: ".real", size: number.size, form: number},
			{name: ".imag", offset: number.size, size: number.size, form: number},
		}
		return p, nil
	case kind == reflect.Array:
		if t.Len() == 0 {
			return p, nil
		}
		elem, err := partOf(t.Elem())
		p.elem = &elem
		return p, err
	case kind == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			field, err := partOf(f.Type)
			if err != nil {
				return p, err
			}
			field.name, field.offset = "."+f.Name, f.Offset
			p.fields = append(p.fields, field)
		}
		return p, nil
	case kind == reflect.Uintptr || kind < reflect.Bool || kind > reflect.Float64:
		return p, fmt.Errorf("values of type %v cannot be compared", t)
	default:
		return leaf(kind, noHalf)
	}
}

// leaves calls do with the offset and the form of each leaf of a value at an offset.
func (p *part) leaves(at uintptr, do func(at uintptr, f form)) {
	switch {
	case p.form.size > 0:
		do(at, p.form)
	case p.elem == nil:
		for i := range p.fields {
			p.fields[i].leaves(at+p.fields[i].offset, do)
		}
	case p.elem.size > 0:
		for end := at + p.size; at < end; at += p.elem.size {
			p.elem.leaves(at, do)
		}
	}
}

// path returns the path to the leaf at an offset: ".Rows[2].X".
func (p *part) path(at uintptr) string {
	if p.elem != nil {
		return fmt.Sprintf("[%d]%s", at/p.elem.size, p.elem.path(at%p.elem.size))
	}
	for i := range p.fields {
		if f := &p.fields[i]; f.offset <= at && at < f.offset+f.size {
			return f.name + f.path(at-f.offset)
		}
	}
	return ""
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
