package gpu

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
	"quern.dev/internal/trace"
)

// memory is one allocation, shared by a buffer and its sub-buffers.
type memory struct {
	lease   lease.Lease
	dev     *Device
	drv     driver.Memory // address for kernels; zero if size is 0 or kernels cannot access the memory
	storage storage
	size    int64       // bytes
	site    *site       // of the allocation; if nil, see call
	call    uintptr     // of the acquisition from a pool
	traced  uint64      // number in the recording of the allocation, or 0
	kept    atomic.Bool // temporary memory of a graph, which nobody closes; not a leak
}

// alignedMemory is memory whose first fields, which launches read, are in one cache line.
type alignedMemory struct {
	memory
	_ [128 - unsafe.Sizeof(memory{})]byte
}

// storage is the kind of an allocation: one of deviceMemory, *block, *hostMemory,
// *hostBlock, *managedMemory, textureMemory, borrowed and *unifiedView.
type storage interface {
	noun() string // name of the memory in errors

	// free gives back memory that is no longer in use.
	free(m *memory) error

	// lent reports whether the memory belongs to an owner that holds a lease of the device: a
	// pool, or the array of a view. Otherwise the memory holds a lease itself.
	lent() bool
}

// deviceMemory is memory of the device's driver.
type deviceMemory struct{}

func (deviceMemory) noun() string { return "buffer" }
func (deviceMemory) lent() bool   { return false }

func (deviceMemory) free(m *memory) error {
	if m.size == 0 {
		return nil
	}
	at := m.drv
	m.drv = driver.Memory{}
	return m.dev.drv.Free(at)
}

// borrowed is memory that another library or process allocated; the function gives it
// back.
type borrowed func() error

func (borrowed) noun() string { return "buffer" }
func (borrowed) lent() bool   { return false }

// free waits for the device's work, because the owner may reuse the memory at once.
func (giveBack borrowed) free(m *memory) error { return errors.Join(m.dev.drain(), giveBack()) }

// pooled returns the block of a [Pool] that holds the memory, or nil.
func (m *memory) pooled() *block {
	b, _ := m.storage.(*block)
	return b
}

// view returns the view of a Unified that the memory belongs to, or nil.
func (m *memory) view() *unifiedView {
	v, _ := m.storage.(*unifiedView)
	return v
}

// host returns the host memory, or nil for device memory.
func (m *memory) host() *hostMemory {
	switch s := m.storage.(type) {
	case *hostMemory:
		return s
	case *hostBlock:
		return &s.hostMemory
	default:
		return nil
	}
}

func (m *memory) noun() string { return m.storage.noun() }

// access tells whether work may write the elements of a buffer. Each use states it, so
// that no operation can write to a read-only view.
type access bool

const (
	reads  access = false
	writes access = true
)

func (d *Device) alloc(doing string, size int64) (*memory, error) {
	if size > 0 && d.freeingPauses() {
		return d.allocWithPersistent(doing, size)
	}
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	m := &new(alignedMemory).memory
	m.dev, m.size, m.storage = d, size, deviceMemory{}
	if size > 0 {
		drv, err := d.allocating(size, func() (driver.Memory, error) { return d.drv.Alloc(size) })
		if err != nil {
			return nil, errors.Join(driverError(fmt.Sprintf("%s %d bytes", doing, size), err), d.release())
		}
		m.drv = drv
	}
	return d.adopt(doing, m)
}

// adopt registers an allocation with the device, which closes it if the program does not.
func (d *Device) adopt(doing string, m *memory) (*memory, error) {
	m.site = here()
	if r := trace.Active(); r != nil {
		m.traced = d.traceAlloc(r, memoryLabel, m.size)
	}
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

// acquireFor begins a use of the memory by a launch on s. The launch calls visit when it
// is submitted. release ends the use.
func (m *memory) acquireFor(s *Stream, a access) error {
	if m.view() == nil && m.lease.Acquire() {
		return nil
	}
	if err := m.acquire(); err != nil {
		return err
	}
	return m.releaseIf(m.admits(s, a))
}

func (m *memory) acquire() error {
	if !m.lease.Acquire() {
		return m.closedError()
	}
	if v := m.view(); v != nil && !v.of.lease.Acquire() {
		m.leave()
		return m.dev.closedError(m.noun())
	}
	return nil
}

func (m *memory) closedError() error {
	if m.view() != nil && !m.dev.lease.Closed() {
		return &failure{"the view of the unified array has ended: a later view conflicts with it, or the array is closed", ErrClosed}
	}
	return m.dev.closedError(m.noun())
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

// admits returns an error if the memory is a view of a Unified that does not allow work
// on s.
func (m *memory) admits(s *Stream, a access) error {
	v := m.view()
	switch {
	case v == nil:
		return nil
	case s.capture.Load() != nil:
		return invalid("a graph cannot hold a view of a unified array, because the view ends when the host takes one; use a Buffer")
	case s.dev != m.dev:
		return invalid("the view of the unified array is for a stream of its own device; use the stream that it was taken for")
	case v.stream != s && !s.listsKernels():
		return invalid("the view of the unified array is for work on another stream; take one for this stream with ReadDevice or WriteDevice")
	case a == writes && v.readOnly:
		return &failure{"the buffer is a read-only view of a unified array; use WriteDevice", ErrReadOnly}
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
	if v := m.view(); v != nil {
		v.of.release()
	}
	m.leave()
}

func (m *memory) leave() {
	if m.lease.Release() {
		m.free() // the error is dropped: Close has already returned
	}
}

func (m *memory) close() error {
	first, destroy := m.lease.Close()
	if first && !m.storage.lent() {
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
	m.dev.traceFree(m.traced, memoryLabel)
	err := unlessLost(m.storage.free(m))
	if err != nil {
		err = driverError("close "+m.noun(), err)
	}
	if m.storage.lent() {
		return err
	}
	return errors.Join(err, m.dev.release())
}
