package npy

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quern.dev/kernel"
)

// Element is the types of elements. int and uint are as large as on the machine.
type Element interface {
	~bool |
		~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128 |
		kernel.Float16
}

// TypeError means that a file has elements of another type than was asked for.
type TypeError struct {
	Have string // in NumPy's notation, such as "<f8"
	Want reflect.Type
}

// Error names both types.
func (e *TypeError) Error() string {
	return fmt.Sprintf("npy: the elements are of type %q, not %v", e.Have, e.Want)
}

// littleEndian reports the order of bytes of this machine.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// typeName returns NumPy's name of a type in the order of bytes of this machine,
// such as "<f4".
func typeName[T Element]() string {
	t := reflect.TypeFor[T]()
	size := t.Size()
	order := ">"
	if littleEndian {
		order = "<"
	}
	if size == 1 {
		order = "|"
	}
	return fmt.Sprintf("%s%c%d", order, kindLetter(t), size)
}

func kindLetter(t reflect.Type) byte {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return 'b'
	case reflect.Int <= k && k <= reflect.Int64:
		return 'i'
	case reflect.Uint <= k && k <= reflect.Uint64:
		return 'u'
	case k == reflect.Complex64 || k == reflect.Complex128:
		return 'c'
	default: // Float16 too
		return 'f'
	}
}

// bytesOf returns the memory of elements.
func bytesOf[T Element](data []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

// swapBytes changes the order of the bytes of numbers of the given size.
func swapBytes(data []byte, size int) {
	for number := range slices.Chunk(data, size) {
		slices.Reverse(number)
	}
}
