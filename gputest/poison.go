package gputest

import (
	"reflect"
	"unsafe"
)

// poison is the initial content of results. It differs between devices and plain
// Go, so that neither unwritten elements nor results computed from them are equal
// by chance.
type poison uint8

const (
	ofDevice poison = 0xA5
	ofHost   poison = 0x5A
)

// bits returns the poison of a leaf: a NaN, bytes for integers, and false.
func (p poison) bits(f form) uint64 {
	switch {
	case f.kind == reflect.Bool:
		return 0
	case f.half == float16:
		return 0x7E00 | uint64(p)
	case f.half == bfloat16:
		return 0x7FC0 | uint64(p)&0x3F
	case f.kind == reflect.Float32:
		return 0x7FC00000 | uint64(p)
	case f.kind == reflect.Float64:
		return 0x7FF8000000000000 | uint64(p)
	default:
		all := uint64(p) * 0x0101010101010101
		return all >> (64 - 8*f.size)
	}
}

// is reports whether a leaf contains the poison. Bools never do.
func (p poison) is(f form, bits uint64) bool {
	return f.kind != reflect.Bool && bits == p.bits(f)
}

// fill fills all numbers of the values with poison. It does nothing if the type
// has other parts.
func fill[T any](values []T, p poison) {
	part, err := partOf(reflect.TypeFor[T]())
	if err != nil {
		return
	}
	for i := range values {
		at := unsafe.Pointer(&values[i])
		part.leaves(0, func(offset uintptr, f form) { f.put(unsafe.Add(at, offset), p.bits(f)) })
	}
}
