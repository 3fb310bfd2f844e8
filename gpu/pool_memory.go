package gpu

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"quern.dev/gpu/internal/pool"
	"quern.dev/internal/driver"
)

// memoryPool is the common part of [Pool] and [HostPool]: buffers whose memory is
// blocks of package pool.
type memoryPool[B pooledStorage] struct {
	dev    *Device
	config PoolConfig
	blocks pool.Pool[B]

	mu      sync.Mutex
	handles []handle // not handed out yet
}

// pooledStorage is a block as the storage of a memory.
type pooledStorage interface {
	storage
	occupiedBy() *memory
	size() int64 // in bytes, as rounded by the pool
}

// occupant is the memory that currently uses a block.
type occupant struct{ user atomic.Pointer[memory] }

func (o *occupant) occupiedBy() *memory { return o.user.Load() }

// devicePool is a [Pool] or a [HostPool].
type devicePool interface {
	// close closes the pool and returns the buffers that were not closed.
	close() ([]allocation, error)
}

// handle is a buffer of a pool with its memory. Handles are allocated in groups, so that
// Acquire rarely allocates, and never reused, so that a second Close of a buffer cannot
// close another one.
type handle struct {
	buffer Buffer[byte]     // has the layout of a Buffer of any type
	host   HostBuffer[byte] // of a HostPool
	memory memory
}

// handlesAtATime is the size of a group, about 20 KiB.
const handlesAtATime = 128

// check returns an error if the configuration is invalid or d cannot be used.
func (c *PoolConfig) check(d *Device) error {
	switch {
	case d.check() != nil:
		return d.check()
	case c.Limit < 0:
		return invalid("negative limit %d", c.Limit)
	case c.ReleaseThreshold < 0:
		return invalid("negative release threshold %d", c.ReleaseThreshold)
	default:
		return nil
	}
}

func (p *memoryPool[B]) init(d *Device, config PoolConfig, free func(B) error, destroy func() error) {
	p.dev, p.config = d, config
	p.blocks.Init(pool.Config[B]{Limit: config.Limit, Threshold: config.ReleaseThreshold, Free: free, Close: destroy})
}

// open registers the pool with the device, which closes it if the program does not. self
// is the pool.
func (p *memoryPool[B]) open(self devicePool) error {
	d := p.dev
	if err := d.acquire(); err != nil {
		p.blocks.Close()
		return err
	}
	d.mu.Lock()
	d.pools = append(d.pools, self)
	d.mu.Unlock()
	if err := d.check(); err != nil {
		_, closed := self.close()
		return errors.Join(err, closed)
	}
	return nil
}

// openPools returns the pools of the device that are not closed.
func (d *Device) openPools() []devicePool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.pools)
}

func (p *memoryPool[B]) check() error {
	if p.dev == nil {
		return invalid("pool was not made by NewPool")
	}
	return nil
}

// hand makes the buffer for a block.
func (p *memoryPool[B]) hand(b B, o *occupant, at driver.Memory, size int64, call uintptr, calls *site) *handle {
	p.mu.Lock()
	if len(p.handles) == 0 {
		p.handles = make([]handle, handlesAtATime)
	}
	h := &p.handles[0]
	p.handles = p.handles[1:]
	p.mu.Unlock()
	m := &h.memory
	m.dev, m.drv, m.size, m.storage, m.call, m.site = p.dev, at, size, b, call, calls
	h.buffer.mem = m
	o.user.Store(m)
	return h
}

// takeError turns an error of package pool into one of this package.
func (p *memoryPool[B]) takeError(err error) error {
	if err == pool.ErrClosed {
		return p.dev.closedError("pool")
	}
	if full, ok := errors.AsType[*pool.LimitError](err); ok {
		return errors.Join(&OutOfMemoryError{
			Device: p.dev.id, Bytes: full.Size, Limit: p.config.Limit, Holders: holders(p.allocations()),
		}, full.Err)
	}
	return err
}

// allocations returns the open buffers, with the sizes of their blocks.
func (p *memoryPool[B]) allocations() []allocation {
	var all []allocation
	for _, b := range p.blocks.InUse() {
		if m := b.occupiedBy(); m != nil && !m.lease.Closed() {
			a := m.allocation()
			a.bytes = b.size()
			all = append(all, a)
		}
	}
	return all
}

// trim frees the blocks that are not in use, and calls settle with these blocks.
func (p *memoryPool[B]) trim(settle func([]B) error) error {
	if !p.blocks.Acquire() {
		return driverError("trim pool", p.dev.closedError("pool"))
	}
	blocks, err := p.blocks.Trim()
	return errors.Join(driverError("trim pool", errors.Join(err, settle(blocks))), p.blocks.Release())
}

// closeBlocks closes the pool and its buffers, and returns those that the program had
// not closed. self is the pool. settle is called with the blocks that were not in
// use.
func (p *memoryPool[B]) closeBlocks(self devicePool, settle func([]B) error) ([]allocation, error) {
	if !p.blocks.Close() {
		return nil, nil
	}
	var leaked []allocation
	var errs []error
	inUse := p.blocks.InUse()
	blocks, err := p.blocks.Trim()
	d := p.dev
	d.mu.Lock()
	d.pools = slices.DeleteFunc(d.pools, func(o devicePool) bool { return o == self })
	d.mu.Unlock()
	for _, b := range inUse {
		m := b.occupiedBy()
		if m == nil {
			continue
		}
		if !m.lease.Closed() && !m.kept.Load() {
			leaked = append(leaked, m.allocation())
		}
		errs = append(errs, m.close())
	}
	err = errors.Join(err, settle(blocks))
	return leaked, errors.Join(append(errs, driverError("close pool", err), p.blocks.Release())...)
}

// leakError returns a function that adds a LeakError to an error if there are leaks.
func (p *memoryPool[B]) leakError(noun string) func([]allocation, error) error {
	return func(leaked []allocation, err error) error {
		if len(leaked) == 0 {
			return err
		}
		leak := newLeakError(p.dev, leaked)
		leak.Pool = noun
		return errors.Join(err, leak)
	}
}
