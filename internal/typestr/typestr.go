// Package typestr returns NumPy's names for Go types, in this machine's byte
// order: "<f4" for float32, and "|V12" for types unknown to NumPy.
package typestr

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"quern.dev/kernel"
)

// LittleEndian reports whether this machine is little-endian.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Of returns NumPy's name of a type.
func Of(t reflect.Type) string {
	kind := Kind(t)
	order := ">"
	if LittleEndian {
		order = "<"
	}
	if kind == 'V' || t.Size() == 1 {
		order = "|"
	}
	return fmt.Sprintf("%s%c%d", order, kind, t.Size())
}

// Kind returns NumPy's letter for the kind of a type: b, i, u, f or c, and V for
// all others.
func Kind(t reflect.Type) byte {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[kernel.Float16]():
		return 'f'
	case k == reflect.Bool:
		return 'b'
	case reflect.Int <= k && k <= reflect.Int64:
		return 'i'
	case reflect.Uint <= k && k <= reflect.Uint64:
		return 'u'
	case k == reflect.Float32 || k == reflect.Float64:
		return 'f'
	case k == reflect.Complex64 || k == reflect.Complex128:
		return 'c'
	default:
		return 'V'
	}
}
