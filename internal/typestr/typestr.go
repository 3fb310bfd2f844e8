// Package typestr names Go's types as NumPy does, in the order of bytes of this
// machine: "<f4" for float32, "|V12" for what NumPy has no type for.
package typestr

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"quern.dev/kernel"
)

// LittleEndian reports the order of bytes of this machine.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Of returns the name of a type.
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

// Kind returns the letter for a kind of number: b, i, u, f, c, or V for others.
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
