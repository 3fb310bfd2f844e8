package kernel

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Shared declares a variable of which each block has one, shared by its
// threads. Its contents are undefined when the block starts. T holds no
// pointers.
//
//	tile := kernel.Shared[[32][33]float32](t)
//
// Each call in the kernel's text declares one variable, and each call of a
// function that calls Shared declares that function's variables anew: after
// a, b := buffer(t), buffer(t) they are two. Neither kind of call may stand in
// a loop or under a condition. In the handler of an actor the contents are
// undefined when it is called. A block has up to 227 KiB on recent GPUs, and
// 48 KiB on all: a launch on a device with too little returns an error.
func Shared[T any](t Thread) *T {
	if t.state == nil {
		return new(T)
	}
	return sharedVariable[T](t.state)
}

// Dynamic returns the block's dynamic shared memory as elements of T. Its size
// in bytes is given at the launch, by Grid.Shared or [EachDynamic]; what does
// not fill an element is left out. Its contents are undefined when the block
// starts, and every call returns the same memory, whatever its T. T holds no
// pointers.
func Dynamic[T any](t Thread) []T {
	if t.state == nil {
		return nil
	}
	return dynamicMemory[T](t.state.block)
}

// poison is what Each fills shared memory with, so that a kernel that relies on
// zeros fails its tests.
const poison = 0xA5

// variable is one shared variable of a block. The blocks run one after another
// and use the same memory.
type variable struct {
	pointer any    // *T
	bytes   []byte // the same memory
	block   int    // the number of the block that it was last poisoned for
}

func sharedVariable[T any](s *threadState) *T {
	b, n := s.block, s.shared
	s.shared++
	if n == len(b.variables) {
		b.variables = append(b.variables, newVariable[T]())
	}
	v := &b.variables[n]
	p, ok := v.pointer.(*T)
	if !ok {
		panic(fmt.Sprintf("kernel: call %d of Shared in this thread is for a %v, but in another thread it was for a %v; every thread must make the same calls",
			n+1, reflect.TypeFor[T](), reflect.TypeOf(v.pointer).Elem()))
	}
	if v.block != b.number && !b.unfilled {
		v.block = b.number
		fill(v.bytes)
	}
	return p
}

func newVariable[T any]() variable {
	mustBePlain(reflect.TypeFor[T]())
	p := new(T)
	// Shared variables have no pointers; the slice keeps the variable.
	return variable{pointer: p, bytes: unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))}
}

func dynamicMemory[T any](b *blockState) []T {
	mustBePlain(reflect.TypeFor[T]())
	var element T
	size := int(unsafe.Sizeof(element))
	if size == 0 || b.dynamicBytes < size {
		return nil
	}
	n := b.dynamicBytes / size
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.dynamic))), n)
}

func fill(b []byte) {
	for i := range b {
		b[i] = poison
	}
}

// mustBePlain panics if values of type t hold pointers: the poison would be
// taken for addresses.
func mustBePlain(t reflect.Type) {
	if _, known := plainTypes.Load(t); known {
		return
	}
	if !plain(t) {
		panic(fmt.Sprintf("kernel: shared memory of type %v: only numbers, bools and arrays and structs of these can be shared", t))
	}
	plainTypes.Store(t, nil)
}

// plainTypes has the types that mustBePlain has accepted: every thread asks.
var plainTypes sync.Map

func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return t.Kind() <= reflect.Complex128 && t.Kind() != reflect.Invalid
	}
}
