package gpu

import (
	"unsafe"

	"quern.dev/gpu/internal/pool"
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
type HostPool struct{ memoryPool[*hostBlock] }

// NewHostPool makes a pool of memory of the host, which is to be closed. It takes
// memory when it is asked for some.
func (d *Device) NewHostPool(config PoolConfig) (*HostPool, error) {
	const doing = "new host pool"
	if err := config.check(d); err != nil {
		return nil, driverError(doing, err)
	}
	p := newHostPool(d, config)
	if err := p.open(p); err != nil {
		return nil, driverError(doing, err)
	}
	return p, nil
}

func newHostPool(d *Device, config PoolConfig) *HostPool {
	p := new(HostPool)
	p.init(d, config, func(b *hostBlock) error { return b.release(d) }, d.release)
	return p
}

// HostPool returns the host pool that every device has, without a limit. It is
// closed with the device.
func (d *Device) HostPool() *HostPool {
	if !d.opened() {
		return nil
	}
	return d.ownHostPool()
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
	h, err := p.acquire(doing, size, site)
	if err != nil {
		return nil, err
	}
	h.buffer.length = n
	h.host.part = &h.buffer
	return (*HostBuffer[T])(unsafe.Pointer(&h.host)), nil // T is in no field: all HostBuffers have one layout
}

// check reports why the pool cannot be used.
func (p *HostPool) check() error {
	if p == nil {
		return invalid("pool is nil")
	}
	return p.memoryPool.check()
}

// acquire takes memory that the program asked for at a call.
func (p *HostPool) acquire(doing string, size int64, call uintptr) (*handle, error) {
	if err := p.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if size == 0 {
		m, err := p.dev.hostMemory(doing, 0, nil)
		return &handle{buffer: Buffer[byte]{mem: m}}, err
	}
	it, err := p.blocks.Take(size, (*hostBlock).idle, (*hostBlock).idle, p.make)
	if err != nil {
		return nil, driverError(doing, p.takeError(err))
	}
	b := it.Value
	b.item = it
	h := p.hand(b, &b.occupant, driver.Memory{Host: b.at}, size, call, nil)
	hostRanges.SetOwner(b.at, &h.memory)
	return h, nil
}

// make makes a block. If no more memory can be locked, the pool gives back what it keeps
// and tries again.
func (p *HostPool) make(size int64) (*hostBlock, error) {
	at, err := p.lock(size)
	if err != nil {
		kept, failed := p.blocks.Trim()
		if len(kept) == 0 || failed != nil {
			return nil, err
		}
		if at, err = p.lock(size); err != nil {
			return nil, err
		}
	}
	return &hostBlock{pool: p, hostMemory: hostMemory{at: at}}, nil
}

// lock takes page-locked memory from the system.
func (p *HostPool) lock(size int64) (unsafe.Pointer, error) {
	at, err := p.dev.pageLock(size)
	if err != nil {
		return nil, p.dev.pinnedError(size, public(err))
	}
	return at, reserveHost(at, size)
}

// Device returns the device of the pool.
func (p *HostPool) Device() *Device {
	if p == nil {
		return nil
	}
	return p.dev
}

// Stats returns what the pool has and has done.
func (p *HostPool) Stats() PoolStats {
	if p.check() != nil {
		return PoolStats{}
	}
	return PoolStats(p.blocks.Stats())
}

// Trim gives all memory that is not in use back to the system. It waits for the
// copies that still use some.
func (p *HostPool) Trim() error {
	if err := p.check(); err != nil {
		return driverError("trim pool", err)
	}
	return p.trim(settled)
}

// Close gives the pool's memory back to the system. It returns a [*LeakError] if
// buffers of the pool were not closed, and closes them. Closing again does
// nothing.
func (p *HostPool) Close() error {
	if p.check() != nil {
		return nil
	}
	return p.leakError("host pool")(p.close())
}

func (p *HostPool) close() ([]allocation, error) { return p.closeBlocks(p, settled) }

// settled waits for nothing: freeing host memory waits for the copies that use it.
func settled([]*hostBlock) error { return nil }

// hostBlock is host memory of a pool.
type hostBlock struct {
	occupant
	hostMemory
	pool *HostPool
	item *pool.Item[*hostBlock]
}

func (b *hostBlock) lent() bool  { return true }
func (b *hostBlock) size() int64 { return b.item.Size }

// free gives the block back to its pool.
func (b *hostBlock) free(*memory) error {
	b.user.Store(nil)
	return b.pool.blocks.Put(b.item)
}

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
