package layout

import (
	"reflect"
	"unsafe"

	"quern.dev/gpu/compiled"
)

// Integer tells how to read an integer parameter. The zero value is for other
// parameters.
type Integer uint8

const (
	NotInteger Integer = iota
	signed8
	signed16
	signed32
	signed64
	unsigned8
	unsigned16
	unsigned32
	unsigned64
	doubtful8 // may be signed or unsigned
	doubtful16
	doubtful32
)

// basicTypes are the predeclared types by name.
var basicTypes = map[string]struct {
	kind    reflect.Kind
	integer Integer
}{
	"bool": {reflect.Bool, unsigned8},
	"int":  {reflect.Int, signed64}, "int8": {reflect.Int8, signed8}, "int16": {reflect.Int16, signed16},
	"int32": {reflect.Int32, signed32}, "rune": {reflect.Int32, signed32}, "int64": {reflect.Int64, signed64},
	"uint": {reflect.Uint, unsigned64}, "uint8": {reflect.Uint8, unsigned8}, "byte": {reflect.Uint8, unsigned8},
	"uint16": {reflect.Uint16, unsigned16}, "uint32": {reflect.Uint32, unsigned32}, "uint64": {reflect.Uint64, unsigned64},
	"float32": {reflect.Float32, NotInteger}, "float64": {reflect.Float64, NotInteger},
	"complex64": {reflect.Complex64, NotInteger}, "complex128": {reflect.Complex128, NotInteger},
}

// IntegerOf returns how to read a parameter. Whether a defined type is signed is unknown:
// Read then reports false for values whose highest bit is set.
func IntegerOf(p compiled.Param) Integer {
	if p.Kind != compiled.Scalar {
		return NotInteger
	}
	if b, ok := basicTypes[p.Type]; ok {
		return b.integer
	}
	switch p.Size {
	case 1:
		return doubtful8
	case 2:
		return doubtful16
	case 4:
		return doubtful32
	default:
		return unsigned64
	}
}

// Read returns the integer at p. It reports false if the value may exceed int64 or its
// sign is unknown.
func (k Integer) Read(p unsafe.Pointer) (v int64, ok bool) {
	switch k {
	case signed8:
		return int64(*(*int8)(p)), true
	case signed16:
		return int64(*(*int16)(p)), true
	case signed32:
		return int64(*(*int32)(p)), true
	case signed64:
		return *(*int64)(p), true
	case unsigned8:
		return int64(*(*uint8)(p)), true
	case unsigned16:
		return int64(*(*uint16)(p)), true
	case unsigned32:
		return int64(*(*uint32)(p)), true
	case doubtful8:
		v := *(*int8)(p)
		return int64(v), v >= 0
	case doubtful16:
		v := *(*int16)(p)
		return int64(v), v >= 0
	case doubtful32:
		v := *(*int32)(p)
		return int64(v), v >= 0
	case unsigned64:
		v := *(*int64)(p)
		return v, v >= 0
	default:
		return 0, true
	}
}
