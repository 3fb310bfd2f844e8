package gpu

import (
	"math"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu/internal/layout"
	"quern.dev/internal/driver"
)

// Buffer is an array in device memory. T must not contain pointers: it is a bool, an
// integer, a floating-point or complex number, or an array or struct of these. It has the
// same layout on the device.
//
// A Buffer is safe for concurrent use. The program orders streams that write the same
// elements.
type Buffer[T any] struct {
	mem    *memory
	offset int64 // in mem, bytes
	length int
	view   bool // made by Slice
	closed atomic.Bool
	err    error // of the Slice that made it

	_ [16]byte // pads Buffer to a cache line
}

// Alloc allocates a buffer of n elements. Its contents are undefined. The caller closes
// it.
func Alloc[T any](d *Device, n int) (*Buffer[T], error) {
	return allocBuffer[T]("alloc", d, n)
}

func allocBuffer[T any](doing string, d *Device, n int) (*Buffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError(doing, err)
	}
	m, err := d.alloc(doing, size)
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{mem: m, length: n}, nil
}

// sizeOf returns the size of n elements in bytes, or an error if there cannot be such a
// buffer.
func sizeOf[T any](n int) (int64, error) {
	var zero T
	if err := checkType[T](); err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, invalid("negative length %d", n)
	}
	if uint64(n) > math.MaxInt64/uint64(unsafe.Sizeof(zero)) {
		return 0, invalid("too large: %d elements of %d bytes", n, unsafe.Sizeof(zero))
	}
	return int64(n) * int64(unsafe.Sizeof(zero)), nil
}

// Len returns the number of elements.
func (b *Buffer[T]) Len() int {
	if b == nil {
		return 0
	}
	return b.length
}

// Device returns the device of the buffer.
func (b *Buffer[T]) Device() *Device {
	if b == nil || b.mem == nil {
		return nil
	}
	return b.mem.dev
}

// Slice returns the elements lo to hi-1 as a buffer that shares the memory of b. It is
// valid until b is closed, and need not be closed itself. If the range is not in b, the
// result has no elements, and each use of it returns an error.
func (b *Buffer[T]) Slice(lo, hi int) *Buffer[T] {
	if b == nil {
		return nil
	}
	v := &Buffer[T]{mem: b.mem, view: true, err: b.err}
	if v.err == nil && b.mem != nil && (lo < 0 || hi < lo || hi > b.length) {
		v.err = invalid("sub-buffer [%d:%d] of a %s of %s", lo, hi, b.mem.noun(), count(b.length, "element"))
	}
	if v.err != nil || b.mem == nil {
		return v
	}
	var zero T
	v.offset, v.length = b.offset+int64(lo)*int64(unsafe.Sizeof(zero)), hi-lo
	v.closed.Store(b.closed.Load())
	return v
}

// Close frees the memory once the work that uses it is done. Closing a sub-buffer
// invalidates only that sub-buffer. Closing again does nothing.
func (b *Buffer[T]) Close() error {
	if b == nil || b.mem == nil || b.closed.Swap(true) || b.view {
		return nil
	}
	return b.mem.close()
}

// Err returns the error of each use of the buffer, or nil if it can be used: it is nil, the zero
// value or a view outside of its array, or closed. A function that does nothing for an empty buffer
// calls it, because all of these but the last have no elements.
func (b *Buffer[T]) Err() error { return b.check(b.Device()) }

// check returns an error if the buffer cannot be used with device d.
func (b *Buffer[T]) check(d *Device) error {
	switch {
	case b == nil:
		return invalid("buffer is nil")
	case b.err != nil:
		return b.err
	case b.mem == nil:
		return invalid("buffer was not made by Alloc or Upload")
	case b.closed.Load():
		return b.mem.dev.closedError(b.mem.noun())
	case b.mem.lease.Closed():
		return b.mem.closedError()
	case b.mem.dev != d:
		return otherDevice("buffer", b.mem.dev, d)
	default:
		return nil
	}
}

// plain reports whether a launch on device d can use the buffer without further checks: it
// is open, and its memory comes directly from the driver. Otherwise call [Buffer.check] and
// memory.acquireFor.
func (b *Buffer[T]) plain(d *Device) bool {
	if b == nil || b.mem == nil || b.mem.dev != d || b.err != nil || b.closed.Load() || b.mem.lease.Closed() {
		return false
	}
	_, plain := b.mem.storage.(deviceMemory)
	return plain
}

// acquire begins a use of the buffer with device d when the streams are not known.
// Views of a Unified do not allow that. The release of the memory ends the use.
func (b *Buffer[T]) acquire(d *Device) error {
	if err := b.check(d); err != nil {
		return err
	}
	if b.mem.view() != nil {
		return invalid("a view of a unified array ends when the host takes a view; use a Buffer")
	}
	if err := b.mem.acquire(); err != nil {
		return err
	}
	return b.mem.releaseIf(b.mem.visitAll())
}

// acquireOn begins a use of the buffer by work on s. The release of the memory ends the
// use.
func (b *Buffer[T]) acquireOn(s *Stream, a access) error { return b.acquireOf(s.dev, s, a) }

// acquireOf is acquireOn for a buffer of device d and a stream of any device.
func (b *Buffer[T]) acquireOf(d *Device, s *Stream, a access) error {
	if err := b.check(d); err != nil {
		return err
	}
	return b.mem.use(s, a)
}

// at returns the address of the first element.
func (b *Buffer[T]) at() driver.Memory { return b.mem.drv.Offset(b.offset) }

// bytes returns the size of the buffer's elements.
func (b *Buffer[T]) bytes() int64 {
	var zero T
	return int64(b.length) * int64(unsafe.Sizeof(zero))
}

// Reinterpret returns the elements of b as elements of type To, in a buffer that shares the memory
// of b. It is valid until b is closed, and need not be closed itself. If the bytes of b are not a
// whole number of elements, are not aligned for To, or To contains pointers, the result has no
// elements, and each use of it returns an error.
func Reinterpret[To, From any](b *Buffer[From]) *Buffer[To] {
	if b == nil {
		return nil
	}
	v := new(Buffer[To])
	reinterpret(v, b)
	return v
}

// reinterpret makes v a view of b, which is not nil.
func reinterpret[To, From any](v *Buffer[To], b *Buffer[From]) {
	v.mem, v.offset, v.length, v.view, v.err = b.mem, 0, 0, true, b.err
	if v.err != nil || b.mem == nil {
		return
	}
	if v.err = checkType[To](); v.err != nil {
		return
	}
	var element To
	size, align := int64(unsafe.Sizeof(element)), uint64(unsafe.Alignof(element))
	switch {
	case b.bytes()%size != 0:
		v.err = invalid("%s are not a whole number of elements of type %T, which has %d", count(int(b.bytes()), "byte"), element, size)
	case b.at().Addr%align != 0:
		v.err = invalid("the bytes do not begin at a multiple of %d, as elements of type %T do", align, element)
	default:
		v.offset, v.length = b.offset, int(b.bytes()/size)
		v.closed.Store(b.closed.Load())
	}
}

// elements caches the results of checkElement.
var elements sync.Map // reflect.Type -> error

// checkType returns an error if values of T cannot be in device memory because they hold
// pointers or have no size.
func checkType[T any]() error {
	t := reflect.TypeFor[T]()
	if known, ok := elements.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	err := checkElement(t)
	elements.Store(t, err)
	return err
}

func checkElement(t reflect.Type) error {
	if t.Size() == 0 {
		return invalid("elements of type %v have no size", t)
	}
	if inner, path := layout.NotData(t); inner != nil {
		if inner == t {
			return invalid("a device cannot hold elements of type %v", t)
		}
		return invalid("a device cannot hold elements of type %v: it contains %v, at %s", t, inner, strings.TrimPrefix(path, "."))
	}
	return nil
}
