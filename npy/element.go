package npy

import (
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

// bytesOf returns the memory of elements.
func bytesOf[T Element](data []T) []byte {
	var zero T
	// Elements are numbers: any bytes are values, and the result keeps data.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

// swapBytes changes the order of the bytes of numbers of the given size.
func swapBytes(data []byte, size int) {
	for number := range slices.Chunk(data, size) {
		slices.Reverse(number)
	}
}
