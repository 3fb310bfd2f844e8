package host

import (
	"reflect"
	"unsafe"
)

// Shared returns the memory of static shared variable id. All blocks that this
// worker runs share it. Its contents are undefined.
func Shared[T any](r *Run, id int) *T {
	return &reuse[T](r, &r.shared, id, 1)[0]
}

// Scratch returns storage for n values, one per thread of a block, that keeps
// local variable id across barriers. Its contents are undefined.
func Scratch[T any](r *Run, id, n int) []T {
	return reuse[T](r, &r.scratch, id, n)
}

// Kept returns storage for n values for the code that calls compiled kernels. It
// is separate from the storage of the kernels. Its contents are undefined.
func Kept[T any](r *Run, id, n int) []T {
	return reuse[T](r, &r.kept, id, n)
}

// Dynamic returns the dynamic shared memory of the launch as elements of T, which
// must not contain pointers. Every id refers to the same memory. Its contents are
// undefined.
func Dynamic[T any](r *Run, id int) []T {
	var element T
	size, bytes := int(unsafe.Sizeof(element)), r.launch.dynamic
	if size == 0 || bytes < size {
		return nil
	}
	if words := (bytes + 7) / 8; words > len(r.dynamic) {
		r.dynamic = make([]uint64, words)
	}
	n := bytes / size
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(r.dynamic))), n)
}

// storage is memory that a worker keeps for one variable. It is typed because
// scratch values can be pointers, which the garbage collector must see.
type storage[T any] struct {
	items    []T
	pointers bool
}

func (s *storage[T]) release() { clear(s.items) }

// reuse returns n elements of the storage for variable id in the table. Different
// kernels use the same ids, so an id has one storage per type.
func reuse[T any](r *Run, table *[][]any, id, n int) []T {
	for id >= len(*table) {
		*table = append(*table, nil)
	}
	var s *storage[T]
	for _, candidate := range (*table)[id] {
		if found, ok := candidate.(*storage[T]); ok {
			s = found
			break
		}
	}
	if s == nil {
		s = &storage[T]{pointers: hasPointers(reflect.TypeFor[T]())}
		(*table)[id] = append((*table)[id], s)
	}
	if n > len(s.items) {
		s.items = make([]T, n)
	}
	if s.pointers {
		r.pointers = append(r.pointers, s)
	}
	return s.items[:n:n]
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() > reflect.Complex128
	}
}

// DivideComplex returns x/y. Generated code calls it for complex division in
// kernels.
func DivideComplex(x, y complex128) complex128 { return x / y }
