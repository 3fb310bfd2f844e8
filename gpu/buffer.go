package gpu

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
)

// Buffer is an array in the memory of a device. T holds no pointers: it is a
// bool, an integer, a floating-point or complex number, or an array or struct of
// such, and has the same layout on the device.
//
// A Buffer is safe for concurrent use; what its elements hold while several
// streams write them is the program's business.
type Buffer[T any] struct {
	mem    *memory
	offset int64 // in mem, bytes
	length int
	view   bool // made by Slice
	closed atomic.Bool
	err    error // of the Slice that made it
}

// memory is one allocation, shared by a buffer and its sub-buffers, or a texture,
// or memory of the host.
type memory struct {
	lease  lease.Lease
	dev    *Device
	drv    driver.Memory // zero if size is 0
	block  *block        // of a pool, which gets it back
	parent *memory       // of a view of a Unified: the memory that it is of
	size   int64         // bytes

	texture  driver.Texture // instead of drv
	host     *hostMemory    // instead of drv
	managed  *managedMemory // what more there is to managed memory, or nil
	giveBack func() error   // frees what is not the driver's, nil if it is
	site     *site          // of the allocation, nil if the block knows it

	// Of a view of a Unified: what is closed when the view has ended and is in use no
	// more, the stream that it is for, and whether the work there may only read it.
	ended    chan struct{}
	stream   *Stream
	readOnly bool
}

// access is what work does with the elements of a buffer. Whoever begins a use says
// it, so that a view for reading cannot be written by an operation that is added
// later.
type access bool

const (
	reads  access = false
	writes access = true
)

// Alloc makes a buffer of n elements, which is to be closed. Its contents are
// undefined.
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

// sizeOf returns the bytes of n elements, or why there cannot be such a buffer.
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

func (d *Device) alloc(doing string, size int64) (*memory, error) {
	if size > 0 && d.besidePersistent() {
		return d.allocBeside(doing, size)
	}
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	m := &memory{dev: d, size: size}
	if size > 0 {
		drv, err := d.allocating(size, func() (driver.Memory, error) { return d.drv.Alloc(size) })
		if err != nil {
			return nil, errors.Join(driverError(fmt.Sprintf("%s %d bytes", doing, size), err), d.release())
		}
		m.drv = drv
	}
	return d.adopt(doing, m)
}

// adopt makes what was allocated the device's to close.
func (d *Device) adopt(doing string, m *memory) (*memory, error) {
	m.site = here()
	d.mu.Lock()
	if d.memory != nil {
		d.memory[m] = struct{}{}
	}
	d.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, errors.Join(driverError(doing, err), m.close())
	}
	return m, nil
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

// Slice returns the elements lo to hi-1 as a buffer that shares b's memory. It
// need not be closed, and lives as long as b. If the range does not lie in b,
// what is returned has no elements, and every use of it is an error that says
// so.
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

// Close frees the memory once the work that uses it is done. Closing a
// sub-buffer ends the use of that sub-buffer only. Closing again does nothing.
func (b *Buffer[T]) Close() error {
	if b == nil || b.mem == nil || b.closed.Swap(true) || b.view {
		return nil
	}
	return b.mem.close()
}

// check reports why the buffer cannot be used with device d.
func (b *Buffer[T]) check(d *Device) error {
	switch {
	case b == nil:
		return invalid("buffer is nil")
	case b.err != nil:
		return b.err
	case b.mem == nil:
		return invalid("buffer was not made by Alloc or Upload")
	case b.closed.Load():
		return closedError(b.mem.noun())
	case b.mem.lease.Closed():
		return b.mem.closedError()
	case b.mem.dev != d:
		return otherDevice("buffer", b.mem.dev, d)
	default:
		return nil
	}
}

// acquire begins a use of the buffer with device d, on no stream in particular, which
// a view of a Unified does not allow. The memory's release ends it.
func (b *Buffer[T]) acquire(d *Device) error {
	if err := b.check(d); err != nil {
		return err
	}
	if b.mem.parent != nil {
		return invalid("a view of a unified array ends when the host takes one; use a Buffer")
	}
	if err := b.mem.acquire(); err != nil {
		return err
	}
	return b.mem.releaseIf(b.mem.visitAll())
}

// acquireOn begins a use of the buffer by work on s. The memory's release ends
// it.
func (b *Buffer[T]) acquireOn(s *Stream, a access) error { return b.acquireOf(s.dev, s, a) }

// acquireOf is acquireOn for a stream that may be another device's than the
// buffer, which is of device d.
func (b *Buffer[T]) acquireOf(d *Device, s *Stream, a access) error {
	if err := b.check(d); err != nil {
		return err
	}
	return b.mem.use(s, a)
}

// acquireFor begins a use of the memory by a launch on s, which visits it when it is
// handed to the device. release ends the use.
func (m *memory) acquireFor(s *Stream, a access) error {
	if m.parent == nil && m.lease.Acquire() {
		return nil
	}
	if err := m.acquire(); err != nil {
		return err
	}
	return m.releaseIf(m.admits(s, a))
}

// at returns where the buffer's elements are.
func (b *Buffer[T]) at() driver.Memory { return b.mem.drv.Offset(b.offset) }

// bytes returns the size of the buffer's elements.
func (b *Buffer[T]) bytes() int64 {
	var zero T
	return int64(b.length) * int64(unsafe.Sizeof(zero))
}

func (m *memory) acquire() error {
	if !m.lease.Acquire() {
		return m.closedError()
	}
	if m.parent != nil && !m.parent.lease.Acquire() {
		m.leave()
		return closedError(m.noun())
	}
	return nil
}

func (m *memory) closedError() error {
	if m.parent != nil {
		return &failure{"the view of the unified array has ended: a later view contradicts it, or the array is closed", ErrClosed}
	}
	return closedError(m.noun())
}

// noun is what errors call the memory.
func (m *memory) noun() string {
	switch {
	case m.texture != nil:
		return "texture"
	case m.host != nil:
		return "host buffer"
	case m.managed != nil:
		return "managed array"
	default:
		return "buffer"
	}
}

// use begins a use of the memory by work on s.
func (m *memory) use(s *Stream, a access) error {
	if err := m.acquire(); err != nil {
		return err
	}
	if err := m.admits(s, a); err != nil {
		return m.releaseIf(err)
	}
	return m.releaseIf(m.visit(s))
}

// admits reports why work on s must not use the memory, which is a view of a Unified
// that does not know of it.
func (m *memory) admits(s *Stream, a access) error {
	switch {
	case m.parent == nil:
		return nil
	case s.capture.Load() != nil:
		return invalid("a graph cannot hold a view of a unified array, which ends when the host takes one; use a Buffer")
	case s.dev != m.dev:
		return invalid("the view of the unified array is for work on a stream of its own device; use the one that it was taken for")
	case m.stream != s && s.kernels == nil:
		return invalid("the view of the unified array is for work on another stream; take one for this stream with ReadDevice or WriteDevice")
	case a == writes && m.readOnly:
		return &failure{"the buffer is a view of a unified array for reading; use WriteDevice", ErrReadOnly}
	default:
		return nil
	}
}

// releaseIf ends a use that failed.
func (m *memory) releaseIf(err error) error {
	if err != nil {
		m.release()
	}
	return err
}

func (m *memory) release() {
	if m.parent != nil {
		m.parent.release()
	}
	m.leave()
}

func (m *memory) leave() {
	if m.lease.Release() {
		m.free() // its error has nobody left to go to: Close has returned
	}
}

func (m *memory) close() error {
	first, destroy := m.lease.Close()
	if first && m.block == nil {
		m.dev.mu.Lock()
		delete(m.dev.memory, m)
		m.dev.mu.Unlock()
	}
	if destroy {
		return m.free()
	}
	return nil
}

func (m *memory) free() error {
	if m.ended != nil {
		close(m.ended)
		return nil
	}
	if m.block != nil {
		if err := m.block.pool.put(m.block); err != nil {
			return driverError("close "+m.noun(), err)
		}
		return nil
	}
	m.managed.end(m)
	var err error
	switch {
	case m.texture != nil:
		err = m.texture.Close()
	case m.host != nil:
		err = m.host.free(m.dev)
	case m.giveBack != nil:
		// Its owner may use it at once for something else.
		err = errors.Join(m.dev.drain(), m.giveBack())
	case m.size > 0:
		err = m.dev.drv.Free(m.drv)
		m.drv = driver.Memory{}
	}
	return errors.Join(driverError("close "+m.noun(), unlessLost(err)), m.dev.release())
}
