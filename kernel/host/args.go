package host

import (
	"fmt"
	"unsafe"
)

// Args holds the arguments of a launch, indexed by kernel parameter. It keeps the
// memory of slices alive. The zero value has no arguments.
type Args struct {
	list []argument

	// values holds copies of the scalars and structs, as words for alignment.
	// When it grows, arguments that are already set keep pointing into the old
	// array.
	values []uint64
}

type argument struct {
	pointer unsafe.Pointer
	size    uintptr // of a value, in bytes
	length  int     // of a slice, in elements; isValue for a value
}

const isValue = -1

// Reset removes all arguments and keeps the memory for reuse.
func (a *Args) Reset() {
	clear(a.list)
	a.list = a.list[:0]
	a.values = a.values[:0]
}

// SetValue sets argument i to a copy of the size bytes at p, which must not
// contain pointers.
func (a *Args) SetValue(i int, p unsafe.Pointer, size uintptr) {
	start := len(a.values)
	for range max(1, (size+7)/8) {
		a.values = append(a.values, 0)
	}
	to := unsafe.Pointer(unsafe.SliceData(a.values[start:]))
	copy(unsafe.Slice((*byte)(to), size), unsafe.Slice((*byte)(p), size))
	*a.at(i) = argument{pointer: to, size: size, length: isValue}
}

// PointValue sets argument i to the size bytes at p, which must not contain
// pointers. The value is read from p each time it is used.
func (a *Args) PointValue(i int, p unsafe.Pointer, size uintptr) {
	*a.at(i) = argument{pointer: p, size: size, length: isValue}
}

// SetSlice sets argument i to the slice of n elements at p.
func (a *Args) SetSlice(i int, p unsafe.Pointer, n int) {
	*a.at(i) = argument{pointer: p, length: n}
}

func (a *Args) at(i int) *argument {
	for i >= len(a.list) {
		a.list = append(a.list, argument{})
	}
	return &a.list[i]
}

// elements returns the total length of the slices, an estimate of the launch's
// work.
func (a *Args) elements() int {
	total := 0
	if a != nil {
		for i := range a.list {
			total += max(a.list[i].length, 0)
		}
	}
	return total
}

// Value returns argument arg, a scalar or struct.
func Value[T any](r *Run, arg int) T {
	a := &r.launch.args.list[arg]
	var zero T
	if a.length != isValue || a.size != unsafe.Sizeof(zero) {
		panic(fmt.Sprintf("argument %d is not a value with a size of %d bytes", arg, unsafe.Sizeof(zero)))
	}
	return *(*T)(a.pointer)
}

// Slice returns argument arg, a slice. Its capacity equals its length.
func Slice[T any](r *Run, arg int) []T {
	a := &r.launch.args.list[arg]
	if a.length == isValue {
		panic(fmt.Sprintf("argument %d is not a slice", arg))
	}
	return unsafe.Slice((*T)(a.pointer), a.length)
}
