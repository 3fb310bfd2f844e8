package gpu

import (
	"errors"
	"math"
	"unsafe"

	"quern.dev/internal/callsite"
	"quern.dev/internal/driver"
)

// HostPool is memory of the host for [HostBuffer] values that come and go:
// page-locked on GPUs, where taking it from the system costs a good part of a
// millisecond. [AcquireHost] takes a buffer from it, and the buffer's Close gives
// the memory back without waiting: it is given out again once all streams have
// passed the asynchronous copies that use it.
//
// What is said of sizes, limits and statistics of a [Pool] holds here too. A
// HostPool is safe for concurrent use.
type HostPool struct{ pool *Pool }

// NewHostPool makes a pool of memory of the host, which is to be closed. It takes
// memory when it is asked for some.
func (d *Device) NewHostPool(config PoolConfig) (*HostPool, error) {
	p, err := d.makePool("new host pool", config, true)
	if err != nil {
		return nil, err
	}
	return &HostPool{p}, nil
}

// HostPool returns the host pool that every device has, without a limit. It is
// closed with the device.
func (d *Device) HostPool() *HostPool {
	if !d.opened() {
		return nil
	}
	return &HostPool{d.ownHostPool.get(d, true)}
}

// AcquireHost takes a host buffer of n elements from p. Its Close gives the memory
// back. The contents are undefined. An error that matches [ErrPinned] means that
// the memory cannot be page-locked.
//
//go:noinline
func AcquireHost[T any](p *HostPool, n int) (*HostBuffer[T], error) {
	const doing = "acquire host"
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError(doing, err)
	}
	site := callsite.Caller()
	h, err := p.inner().acquire(doing, nil, size, site)
	if err != nil {
		return nil, err
	}
	h.buffer.length = n
	h.host.part = &h.buffer
	return (*HostBuffer[T])(unsafe.Pointer(&h.host)), nil // T is in no field: all HostBuffers have one layout
}

// Device returns the device of the pool.
func (p *HostPool) Device() *Device { return p.inner().Device() }

// Stats returns what the pool has and has done.
func (p *HostPool) Stats() PoolStats { return p.inner().Stats() }

// Trim gives all memory that is not in use back to the system. It waits for the
// copies that still use some.
func (p *HostPool) Trim() error { return p.inner().Trim() }

// Close gives the pool's memory back to the system. It returns a [*LeakError] if
// buffers of the pool were not closed, and closes them. Closing again does
// nothing.
func (p *HostPool) Close() error { return p.inner().Close() }

func (p *HostPool) inner() *Pool {
	if p == nil {
		return nil
	}
	return p.pool
}

// hostDriver gives a pool memory of the host.
type hostDriver struct{ dev *Device }

func (h hostDriver) Alloc(_ driver.Stream, size int64) (driver.Memory, error) {
	at, err := h.dev.pageLock(size)
	if err != nil {
		return driver.Memory{}, h.dev.pinnedError(size, public(err))
	}
	return driver.Memory{Host: at}, hostRanges.reserve(at, size)
}

// locking takes memory of the host. If no more can be locked, the pool gives back
// what it keeps and tries again.
func (p *Pool) locking(size int64) (driver.Memory, error) {
	m, err := p.drv.Alloc(nil, size)
	if err == nil {
		return m, nil
	}
	p.mu.Lock()
	kept := p.evict(math.MaxInt64)
	p.mu.Unlock()
	if len(kept) == 0 {
		return m, err
	}
	if err := p.drop(kept); err != nil {
		return m, err
	}
	return p.drv.Alloc(nil, size)
}

// Free is not called: blocks of the host's memory free themselves.
func (h hostDriver) Free(driver.Stream, driver.Memory) error { return errors.ErrUnsupported }

func (h hostDriver) Trim() error  { return nil }
func (h hostDriver) Close() error { return nil }

// idle reports whether all streams have passed their last use of the memory.
func (h *hostMemory) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.passed {
		if done, err := f.drv.Done(); !done || err != nil {
			return false
		}
	}
	return true
}
