package kernel

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Shared declares a variable that the threads of a block share; each block has
// its own. Its contents are undefined when the block starts. T must not contain
// pointers.
//
//	tile := kernel.Shared[[32][33]float32](t)
//
// Each call in the kernel's source declares one variable. Each call of a function
// that calls Shared declares that function's variables again: a, b := buffer(t),
// buffer(t) declares two. Neither kind of call may be in a loop or under a
// condition. In an actor's handler, the contents are undefined at the start of
// each call. A block can use up to 227 KiB on recent GPUs, and 48 KiB on every
// GPU. A launch on a device with too little shared memory returns an error.
func Shared[T any](t Thread) *T {
	if t.state == nil {
		return new(T)
	}
	return sharedVariable[T](t.state)
}

// Dynamic returns the block's dynamic shared memory as elements of T. Its size in
// bytes is set at the launch, by Grid.Shared or [EachDynamic]; a partial element
// at the end is left out. Its contents are undefined when the block starts. Every
// call returns the same memory, whatever its T. T must not contain pointers.
func Dynamic[T any](t Thread) []T {
	if t.state == nil {
		return nil
	}
	return dynamicMemory[T](t.state.block)
}

// poison is the byte that Each fills shared memory with, so that a kernel that
// expects zeros fails its tests.
const poison = 0xA5

// variable is a shared variable of a block. Blocks run one after another and
// reuse the memory.
type variable struct {
	pointer any    // *T
	bytes   []byte // the same memory
	block   int    // the number of the block for which it was last poisoned
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
		panic(fmt.Sprintf("kernel: Shared: call %d of this thread has type %v, but the same call of another thread has type %v; all threads must make the same calls",
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
	// T has no pointers. The slice keeps the variable alive.
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

// mustBePlain panics if values of type t contain pointers: the garbage collector
// would take the poison for addresses.
func mustBePlain(t reflect.Type) {
	if _, known := plainTypes.Load(t); known {
		return
	}
	if !plain(t) {
		panic(fmt.Sprintf("kernel: shared memory: type %v contains pointers; use numbers, bools, and arrays and structs of these", t))
	}
	plainTypes.Store(t, nil)
}

// plainTypes caches the types that mustBePlain has accepted, because every thread
// calls it.
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
