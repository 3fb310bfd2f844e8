package gpu

import (
	"errors"
	"math"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/internal/callsite"
	"quern.dev/internal/driver"
)

// Pool is memory of a device for buffers that come and go: [Acquire] takes a
// buffer from it and the buffer's Close gives the memory back, both without
// waiting and, once the pool has memory of that size, without a call of the
// driver.
//
// Memory is given out in the order of streams' work. A buffer may be closed while
// work that uses it is still queued, and its memory acquired again at once: on
// the same stream the new buffer's work comes after the old one's, and another
// stream gets the memory once that work is done. A buffer may be used on any
// stream of the device. On one that it was not acquired on, its first use waits,
// on the device, for what the stream of the acquisition had to do by then.
//
// Sizes are rounded up to classes, by at most an eighth beyond 4 KiB. Memory that
// was given back is kept for the next buffer of about that size until the pool's
// limit or the end of the device's memory is reached, or [Pool.Trim] is called.
//
// A Pool is safe for concurrent use.
type Pool struct {
	dev    *Device
	config PoolConfig
	host   bool // its memory is the host's
	async  bool // work on its memory goes on after the calls that asked for it

	mu      sync.Mutex
	closed  bool
	holds   int         // buffers, calls at work, and one until Close: the driver's pool is closed after them
	drv     driver.Pool // nil until the first block is made
	classes [classCount][]*block
	free    blockList // longest free first
	kept    int64     // their bytes
	inUse   blockList
	handles []handle       // not given out yet
	events  []driver.Event // not in use
	stats   PoolStats      // but what Stats computes
}

// PoolConfig are the properties of a pool. The zero value is a pool that may take
// all of the device's memory and gives none back before it is short.
type PoolConfig struct {
	// Limit is the most that the pool takes from the device, in bytes, zero for
	// what there is. Beyond it [Acquire] returns an [*OutOfMemoryError].
	Limit int64

	// ReleaseThreshold is how many bytes that are not in use the pool keeps, zero
	// for all. What was free for the longest time goes first.
	ReleaseThreshold int64
}

// PoolStats is what a pool has and has done. Sizes are in bytes, as rounded by
// the pool.
type PoolStats struct {
	Buffers   int   // in use
	Used      int64 // by them
	Reserved  int64 // taken from the device: in use or kept
	HighWater int64 // most that was in use at a time

	Hits   uint64 // acquisitions that the pool had memory for
	Misses uint64 // acquisitions that took memory from the device

	LargestFree int64 // largest piece that is kept
	// Fragmentation is 1 - LargestFree/kept, 0 if nothing is kept.
	Fragmentation float64
}

// NewPool makes a pool, which is to be closed. It takes memory when it is asked
// for some.
func (d *Device) NewPool(config PoolConfig) (*Pool, error) {
	return d.makePool("new pool", config, false)
}

func (d *Device) makePool(doing string, config PoolConfig, host bool) (*Pool, error) {
	if err := d.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if config.Limit < 0 {
		return nil, driverError(doing, invalid("negative limit %d", config.Limit))
	}
	if config.ReleaseThreshold < 0 {
		return nil, driverError(doing, invalid("negative release threshold %d", config.ReleaseThreshold))
	}
	p := newPool(d, config, host)
	if err := p.open(); err != nil {
		return nil, driverError(doing, err)
	}
	return p, nil
}

func newPool(d *Device, config PoolConfig, host bool) *Pool {
	return &Pool{dev: d, config: config, host: host, async: !host && d.info().Async}
}

// open makes the pool the device's to close.
func (p *Pool) open() error {
	if err := p.dev.acquire(); err != nil {
		p.closed = true
		return err
	}
	p.holds = 1
	p.dev.mu.Lock()
	p.dev.pools = append(p.dev.pools, p)
	p.dev.mu.Unlock()
	if err := p.dev.check(); err != nil {
		return errors.Join(err, p.Close())
	}
	return nil
}

// Pool returns the pool that every device has, without a limit. It is closed with
// the device.
func (d *Device) Pool() *Pool {
	if !d.opened() {
		return nil
	}
	return d.ownPool.get(d, false)
}

// ownPool is the pool of a device, made when it is first asked for.
type ownPool struct {
	once sync.Once
	pool *Pool
}

func (o *ownPool) get(d *Device, host bool) *Pool {
	o.once.Do(func() {
		o.pool = newPool(d, PoolConfig{}, host)
		o.pool.open() // if the device is closed, the pool is, and says so when it is used
	})
	return o.pool
}

// Device returns the device of the pool.
func (p *Pool) Device() *Device {
	if p == nil {
		return nil
	}
	return p.dev
}

// Acquire takes a buffer of n elements from p for work on s. Its Close gives the
// memory back. The contents are undefined.
//
// A buffer that was closed stays closed: what is acquired later is another
// buffer, also where it has the same memory.
//
//go:noinline
func Acquire[T any](p *Pool, s *Stream, n int) (*Buffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError("acquire", err)
	}
	site := callsite.Caller()
	h, err := p.acquire("acquire", s, size, site)
	if err != nil {
		return nil, err
	}
	h.buffer.length = n
	return (*Buffer[T])(unsafe.Pointer(&h.buffer)), nil // T is in no field: all Buffers have one layout
}

// handle is a buffer of a pool with its memory. Handles are made many at a time,
// so that acquiring allocates next to nothing, and never used twice, so that a
// second Close of a buffer cannot close another one.
type handle struct {
	buffer Buffer[byte]     // of the same form as a Buffer of any type
	host   HostBuffer[byte] // instead of it, if the memory is the host's
	memory memory
}

// handlesAtATime makes for pieces of some 20 KiB.
const handlesAtATime = 128

// check reports why the pool cannot be used.
func (p *Pool) check() error {
	switch {
	case p == nil:
		return invalid("pool is nil")
	case p.dev == nil:
		return invalid("pool was not made by NewPool")
	default:
		return nil
	}
}

// acquire takes memory for work on s, or memory of the host, for the program's
// call at a site.
func (p *Pool) acquire(doing string, s *Stream, size int64, site uintptr) (*handle, error) {
	if err := p.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if !p.host {
		if err := s.acquire(); err != nil {
			return nil, driverError(doing, err)
		}
		defer s.release()
		if s.dev != p.dev {
			return nil, driverError(doing, otherDevice("stream", s.dev, p.dev))
		}
	}
	if size == 0 {
		return p.empty(doing)
	}
	class, rounded := classOf(size)

	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, driverError(doing, closedError("pool"))
	}
	p.holds++
	b := p.takeOrdered(s, class, rounded)
	if b == nil {
		p.mu.Unlock()
		var err error
		if b, err = p.acquireBlock(s, class, rounded); err != nil {
			return nil, errors.Join(driverError(doing, err), p.release())
		}
		p.mu.Lock()
	}
	b.home, b.site = s, site
	h := p.hand(b, size)
	p.mu.Unlock()
	return h, nil
}

// empty returns a buffer of no elements.
func (p *Pool) empty(doing string) (*handle, error) {
	var m *memory
	var err error
	if p.host {
		m, err = p.dev.hostMemory(doing, 0, nil)
	} else {
		m, err = p.dev.alloc(doing, 0)
	}
	return &handle{buffer: Buffer[byte]{mem: m}}, err
}

// hand gives out a block. The caller holds the lock.
func (p *Pool) hand(b *block, size int64) *handle {
	if len(p.handles) == 0 {
		p.handles = make([]handle, handlesAtATime)
	}
	h := &p.handles[0]
	p.handles = p.handles[1:]
	m := &h.memory
	m.dev, m.drv, m.size, m.host, m.block = p.dev, b.mem, size, b.host, b
	if b.host != nil {
		hostRanges.own(b.host.at, m)
	}
	h.buffer.mem = m
	b.owner = m
	p.inUse.push(b)
	p.stats.Buffers++
	p.stats.Used += b.size
	p.stats.HighWater = max(p.stats.HighWater, p.stats.Used)
	return h
}

// put takes back a block that no call uses any more.
func (p *Pool) put(b *block) error {
	if p.async {
		if wait := p.orderRelease(b); wait != nil {
			go func() {
				wait()
				p.put(b)
			}()
			return nil
		}
	}
	if f := p.dev.able.forgetter; f != nil && !p.host {
		f.Forget(b.mem, b.size)
	}

	p.mu.Lock()
	b.owner = nil
	p.inUse.remove(b)
	p.stats.Buffers--
	p.stats.Used -= b.size
	p.keep(b)
	var surplus []*block
	if p.closed {
		surplus = p.evict(math.MaxInt64)
	} else if limit := p.config.ReleaseThreshold; limit > 0 && p.kept > limit {
		surplus = p.evict(p.kept - limit)
	}
	if len(surplus) == 0 && !p.closed {
		p.holds--
		p.mu.Unlock()
		return nil
	}
	p.mu.Unlock()
	return errors.Join(p.drop(surplus), p.release())
}

// Stats returns what the pool has and has done.
func (p *Pool) Stats() PoolStats {
	if p.check() != nil {
		return PoolStats{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	for b := p.free.first; b != nil; b = b.next {
		s.LargestFree = max(s.LargestFree, b.size)
	}
	if p.kept > 0 {
		s.Fragmentation = 1 - float64(s.LargestFree)/float64(p.kept)
	}
	return s
}

// Trim gives all memory that is not in use back to the device, and waits for the
// work that was last to use it.
func (p *Pool) Trim() error {
	if err := p.check(); err != nil {
		return driverError("trim pool", err)
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return driverError("trim pool", closedError("pool"))
	}
	blocks, drv := p.evict(math.MaxInt64), p.drv
	p.holds++
	p.mu.Unlock()
	err := errors.Join(p.drop(blocks), p.settle(blocks))
	if drv != nil {
		err = errors.Join(err, drv.Trim())
	}
	return errors.Join(driverError("trim pool", err), p.release())
}

// Close gives the pool's memory back to the device. It returns a [*LeakError] if
// buffers of the pool were not closed, and closes them. Closing again does
// nothing.
func (p *Pool) Close() error {
	if p.check() != nil {
		return nil
	}
	leaked, err := p.close()
	if len(leaked) > 0 {
		leak := newLeakError(p.dev, leaked)
		leak.Pool = "pool"
		if p.host {
			leak.Pool = "host pool"
		}
		err = errors.Join(err, leak)
	}
	return err
}

// close closes the pool and returns the buffers that were not closed.
func (p *Pool) close() ([]allocation, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil
	}
	p.closed = true
	var owners []*memory
	leaked := p.allocations((*block).asked)
	for b := p.inUse.first; b != nil; b = b.next {
		owners = append(owners, b.owner)
	}
	blocks := p.evict(math.MaxInt64)
	p.mu.Unlock()

	p.dev.mu.Lock()
	p.dev.pools = slices.DeleteFunc(p.dev.pools, func(o *Pool) bool { return o == p })
	p.dev.mu.Unlock()
	var errs []error
	for _, m := range owners {
		errs = append(errs, m.close())
	}
	err := errors.Join(p.drop(blocks), p.settle(blocks))
	return leaked, errors.Join(append(errs, driverError("close pool", err), p.release())...)
}

// release ends a hold on the driver's pool, which the last one closes.
func (p *Pool) release() error {
	p.mu.Lock()
	p.holds--
	last := p.closed && p.holds == 0
	p.mu.Unlock()
	if !last {
		return nil
	}
	var errs []error
	for _, e := range p.events {
		errs = append(errs, e.Close())
	}
	if p.drv != nil {
		errs = append(errs, p.drv.Close())
	}
	return errors.Join(driverError("close pool", unlessLost(errors.Join(errs...))), p.dev.release())
}
