package gpu

import (
	"unsafe"

	"quern.dev/gpu/internal/pool"
	"quern.dev/internal/callsite"
	"quern.dev/internal/driver"
)

// HostPool is host memory for [HostBuffer] values with short lives. With a GPU the memory
// is page-locked, which takes a good part of a millisecond per allocation. [AcquireHost]
// takes a buffer from the pool, and the buffer's Close gives the memory back without
// waiting. The pool reuses the memory once all streams have passed the asynchronous copies
// that use it.
//
// Sizes, limits and statistics are those of a [Pool]. A HostPool is safe for concurrent
// use.
type HostPool struct{ memoryPool[*hostBlock] }

// NewHostPool makes a pool of host memory. It takes memory from the system when
// [AcquireHost] needs some. The caller closes it.
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

// HostPool returns the device's own host pool, which has no limit. It is closed with the
// device.
func (d *Device) HostPool() *HostPool {
	if !d.opened() {
		return nil
	}
	return d.ownHostPool()
}

// AcquireHost takes a host buffer of n elements from p. Its contents are undefined. Its
// Close gives the memory back. The error matches [ErrPinned] if the memory cannot be
// page-locked.
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

// check returns an error if the pool cannot be used.
func (p *HostPool) check() error {
	if p == nil {
		return invalid("pool is nil")
	}
	return p.memoryPool.check()
}

// acquire takes memory. Leak reports name the program's call.
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

// make makes a block. If memory cannot be locked, it trims the pool and tries again.
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

// Stats returns the statistics of the pool.
func (p *HostPool) Stats() PoolStats {
	if p.check() != nil {
		return PoolStats{}
	}
	return PoolStats(p.blocks.Stats())
}

// Trim gives all unused memory back to the system. It waits for copies that still use
// it.
func (p *HostPool) Trim() error {
	if err := p.check(); err != nil {
		return driverError("trim pool", err)
	}
	return p.trim(settled)
}

// Close gives the pool's memory back to the system. If buffers of the pool are still open,
// Close closes them and returns a [*LeakError]. Closing again does nothing.
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
