package host

import (
	"fmt"
	"unsafe"
)

// Args is the arguments of a launch, by the position of the kernel's
// parameters. It keeps what the slices point to alive. The zero value has no
// arguments.
type Args struct {
	list []argument

	// values holds copies of the scalars and structs, in words so that they are
	// aligned. When it grows, arguments that are set keep pointing into the old
	// one.
	values []uint64
}

type argument struct {
	pointer unsafe.Pointer
	size    uintptr // of a value in bytes
	length  int     // of a slice in elements, isValue for a value
}

const isValue = -1

// Reset removes all arguments and keeps the memory for the next ones.
func (a *Args) Reset() {
	clear(a.list)
	a.list = a.list[:0]
	a.values = a.values[:0]
}

// SetValue sets argument i to a copy of the size bytes at p, which hold no
// pointers.
func (a *Args) SetValue(i int, p unsafe.Pointer, size uintptr) {
	start := len(a.values)
	for range max(1, (size+7)/8) {
		a.values = append(a.values, 0)
	}
	to := unsafe.Pointer(unsafe.SliceData(a.values[start:]))
	copy(unsafe.Slice((*byte)(to), size), unsafe.Slice((*byte)(p), size))
	*a.at(i) = argument{pointer: to, size: size, length: isValue}
}

// PointValue sets argument i to the value of size bytes that lies at p, which holds
// no pointers, each time that it is read.
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

// elements returns the total length of the slices, which hints at the work that
// a launch is.
func (a *Args) elements() int {
	total := 0
	if a != nil {
		for i := range a.list {
			total += max(a.list[i].length, 0)
		}
	}
	return total
}

// Value returns the scalar or struct that is argument arg.
func Value[T any](r *Run, arg int) T {
	a := &r.launch.args.list[arg]
	var zero T
	if a.length != isValue || a.size != unsafe.Sizeof(zero) {
		panic(fmt.Sprintf("argument %d is not a value of %d bytes", arg, unsafe.Sizeof(zero)))
	}
	return *(*T)(a.pointer)
}

// Slice returns the slice that is argument arg. Its capacity is its length.
func Slice[T any](r *Run, arg int) []T {
	a := &r.launch.args.list[arg]
	if a.length == isValue {
		panic(fmt.Sprintf("argument %d is not a slice", arg))
	}
	return unsafe.Slice((*T)(a.pointer), a.length)
}
