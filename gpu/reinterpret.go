package gpu

import "unsafe"

// Reinterpret returns the bytes of b as elements of type T, in a buffer that shares
// b's memory. It need not be closed, and lives as long as b. If the bytes are not a
// whole number of elements, do not begin at a multiple of T's alignment, or T holds
// pointers, what is returned has no elements, and every use of it is an error that
// says so.
func Reinterpret[T any](b *Buffer[byte]) *Buffer[T] {
	if b == nil {
		return nil
	}
	v := &Buffer[T]{mem: b.mem, view: true, err: b.err}
	if v.err != nil || b.mem == nil {
		return v
	}
	if v.err = checkType[T](); v.err != nil {
		return v
	}
	var element T
	size, align := int(unsafe.Sizeof(element)), uint64(unsafe.Alignof(element))
	switch {
	case b.length%size != 0:
		v.err = invalid("%s are not a whole number of elements of type %T, which has %d", count(b.length, "byte"), element, size)
	case b.at().Addr%align != 0:
		v.err = invalid("the bytes do not begin at a multiple of %d, as elements of type %T do", align, element)
	default:
		v.offset, v.length = b.offset, b.length/size
		v.closed.Store(b.closed.Load())
	}
	return v
}
