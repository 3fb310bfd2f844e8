package gpu

import (
	"errors"
	"math"
	"unsafe"

	"quern.dev/gpu/internal/order"
	"quern.dev/gpu/internal/pool"
	"quern.dev/internal/callsite"
	"quern.dev/internal/driver"
	"quern.dev/internal/trace"
)

// Pool is device memory for buffers with short lives. [Acquire] takes a buffer from the
// pool, and the buffer's Close gives the memory back. Neither waits, and neither calls the
// driver once the pool has memory of that size.
//
// The pool follows the order of streams. A buffer may be closed while queued work still
// uses it, and its memory may be acquired again at once: on the same stream the work of the
// new buffer follows that of the old one, and another stream gets the memory only once
// that work is done. A buffer can be used on any stream of the device. Its first use on a
// stream other than the one of Acquire waits, on the device, for the work that the stream of
// Acquire has at that time.
//
// Sizes above 4 KiB are rounded up by at most an eighth. The pool keeps memory that was
// given back for later buffers of about the same size, until the pool reaches its limit,
// the device runs out of memory, or [Pool.Trim] is called.
//
// A Pool is safe for concurrent use.
type Pool struct {
	memoryPool[*block]
	async  bool        // work continues after the calls that added it
	drv    driver.Pool // nil until the first block is made
	events order.Events
}

// PoolConfig configures a pool. With the zero value, a pool may take all of the device's
// memory, and gives none back until the device runs out of it.
type PoolConfig struct {
	// Limit is how many bytes the pool may take from the device. Zero means no limit.
	// Beyond the limit, [Acquire] returns an [*OutOfMemoryError].
	Limit int64

	// ReleaseThreshold is how many unused bytes the pool keeps. Zero means all. The pool
	// gives back first what has been free for the longest time.
	ReleaseThreshold int64
}

// PoolStats is the state and the history of a pool. Sizes are in bytes, as rounded by the
// pool.
type PoolStats struct {
	Buffers   int   // in use
	Used      int64 // by them
	Reserved  int64 // taken from the device: in use or kept
	HighWater int64 // largest value of Used

	Hits   uint64 // acquisitions that the pool had memory for
	Misses uint64 // acquisitions that took memory from the device

	LargestFree int64 // largest block that is kept
	// Fragmentation is 1 - LargestFree/kept, or 0 if nothing is kept.
	Fragmentation float64
}

// NewPool makes a pool. It takes memory from the device when [Acquire] needs some. The
// caller closes it.
func (d *Device) NewPool(config PoolConfig) (*Pool, error) {
	const doing = "new pool"
	if err := config.check(d); err != nil {
		return nil, driverError(doing, err)
	}
	p := newPool(d, config)
	if err := p.open(p); err != nil {
		return nil, driverError(doing, err)
	}
	return p, nil
}

func newPool(d *Device, config PoolConfig) *Pool {
	p := &Pool{async: d.async}
	p.events.Device = d.drv
	p.init(d, config, p.drop, p.destroy)
	return p
}

// Pool returns the device's own pool, which has no limit. It is closed with the device.
func (d *Device) Pool() *Pool {
	if !d.opened() {
		return nil
	}
	return d.ownPool()
}

// Device returns the device of the pool.
func (p *Pool) Device() *Device {
	if p == nil {
		return nil
	}
	return p.dev
}

// Acquire takes a buffer of n elements from p for work on s. Its contents are undefined.
// Its Close gives the memory back.
//
// A closed buffer stays closed: a later Acquire returns a different buffer, even if it has
// the same memory.
//
//go:noinline
func Acquire[T any](p *Pool, s *Stream, n int) (*Buffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError("acquire", err)
	}
	site := callsite.Caller()
	h, err := p.acquire("acquire", s, size, site, nil)
	if err != nil {
		return nil, err
	}
	h.buffer.length = n
	return (*Buffer[T])(unsafe.Pointer(&h.buffer)), nil // T is in no field: all Buffers have one layout
}

// check returns an error if the pool cannot be used.
func (p *Pool) check() error {
	if p == nil {
		return invalid("pool is nil")
	}
	return p.memoryPool.check()
}

// acquire takes memory for work on s. Leak reports name the program's call, or calls if call
// is 0.
func (p *Pool) acquire(doing string, s *Stream, size int64, call uintptr, calls *site) (*handle, error) {
	if err := p.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if err := s.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	defer s.release()
	if s.dev != p.dev {
		return nil, driverError(doing, otherDevice("stream", s.dev, p.dev))
	}
	return p.take(doing, s, size, call, calls)
}

// take is acquire with a pool and a stream that the caller has checked. The stream may be
// recording a graph.
func (p *Pool) take(doing string, s *Stream, size int64, call uintptr, calls *site) (*handle, error) {
	if size == 0 {
		m, err := p.dev.alloc(doing, 0)
		return &handle{buffer: Buffer[byte]{mem: m}}, err
	}
	s = s.working()
	var known order.Idleness[*orderedStream]
	it, err := p.blocks.Take(size,
		func(b *block) bool { return !p.async || b.uses.Ready(ordered(s)) },
		func(b *block) bool { return !p.async || b.uses.Done(ordered(s), &known) },
		func(size int64) (*block, error) { return p.make(s, size) })
	if err != nil {
		return nil, driverError(doing, p.takeError(err))
	}
	b := it.Value
	b.item = it
	b.uses.Begin(ordered(s))
	return p.hand(b, &b.occupant, b.mem, size, call, calls), nil
}

// make makes a block for work on s.
func (p *Pool) make(s *Stream, size int64) (*block, error) {
	drv, err := p.driver()
	if err != nil {
		return nil, err
	}
	m, err := p.dev.allocating(size, func() (driver.Memory, error) { return drv.Alloc(s.drv, size) })
	if err != nil {
		return nil, err
	}
	b := &block{pool: p, mem: m}
	if r := trace.Active(); r != nil {
		b.traced = p.dev.traceAlloc(r, poolLabel, size)
	}
	b.uses.Init(&p.events)
	return b, nil
}

// driver returns the driver's pool.
func (p *Pool) driver() (driver.Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drv != nil {
		return p.drv, nil
	}
	keep := p.config.ReleaseThreshold
	if keep == 0 {
		keep = math.MaxInt64
	}
	drv, err := newDriverPool(p.dev.drv, keep)
	if err != nil {
		return nil, err
	}
	p.drv = drv
	return drv, nil
}

// Stats returns the statistics of the pool.
func (p *Pool) Stats() PoolStats {
	if p.check() != nil {
		return PoolStats{}
	}
	return PoolStats(p.blocks.Stats())
}

// Trim gives all unused memory back to the device. It waits for the last work that
// used it.
func (p *Pool) Trim() error {
	if err := p.check(); err != nil {
		return driverError("trim pool", err)
	}
	return p.trim(func(blocks []*block) error {
		p.mu.Lock()
		drv := p.drv
		p.mu.Unlock()
		if drv == nil {
			return nil
		}
		return errors.Join(p.settle(blocks), drv.Trim())
	})
}

// Close gives the pool's memory back to the device. If buffers of the pool are still open,
// Close closes them and returns a [*LeakError]. Closing again does nothing.
func (p *Pool) Close() error {
	if p.check() != nil {
		return nil
	}
	return p.leakError("pool")(p.close())
}

// close closes the pool and returns the buffers that were not closed.
func (p *Pool) close() ([]allocation, error) { return p.closeBlocks(p, p.settle) }

// destroy closes the source of the blocks.
func (p *Pool) destroy() error {
	err := p.events.Close()
	if p.drv != nil {
		err = errors.Join(err, p.drv.Close())
	}
	return errors.Join(driverError("close pool", unlessLost(err)), p.dev.release())
}

// settle waits for the streams in whose order blocks were freed.
func (p *Pool) settle(blocks []*block) error {
	if !p.async {
		return nil
	}
	var homes []*orderedStream
	for _, b := range blocks {
		homes = append(homes, b.uses.Home())
	}
	return unlessLost(order.Wait(homes))
}

// drop frees a block in the order of its work.
func (p *Pool) drop(b *block) error {
	p.dev.traceFree(b.traced, poolLabel)
	b.traced = 0
	if !p.async {
		return unlessLost(p.drv.Free(nil, b.mem))
	}
	wait, err := b.uses.Free(func(on driver.Stream) error { return p.drv.Free(on, b.mem) })
	if wait != nil {
		p.blocks.Extend()
		go func() {
			wait()
			p.drop(b)
			p.blocks.Release()
		}()
	}
	return unlessLost(err)
}

// block is device memory of a pool.
type block struct {
	occupant
	pool *Pool
	item *pool.Item[*block]
	mem  driver.Memory
	uses order.Uses[*orderedStream]

	traced uint64 // number in the recording of the allocation, or 0
}

func (b *block) noun() string { return "buffer" }
func (b *block) lent() bool   { return true }
func (b *block) size() int64  { return b.item.Size }

// free gives the block back to its pool.
func (b *block) free(*memory) error {
	p := b.pool
	if p.async {
		if wait := b.uses.End(func() []*orderedStream { return p.dev.orderedStreams() }); wait != nil {
			go func() {
				wait()
				b.free(nil)
			}()
			return nil
		}
	}
	if f := p.dev.able.forgetter; f != nil {
		f.Forget(b.mem, b.item.Size)
	}
	b.user.Store(nil)
	return p.blocks.Put(b.item)
}

// visit orders work that is about to be added to s after the work of other streams on the
// memory, which the caller has acquired. Recorded work is not added to a stream yet: the
// graph that runs it calls visitAll.
func (m *memory) visit(s *Stream) error {
	b := m.inner().pooled()
	if b == nil || !b.pool.async {
		return nil
	}
	if s = s.working(); b.uses.Home() == ordered(s) || s.drv == nil || s.capture.Load() != nil {
		return nil
	}
	return b.uses.Visit(ordered(s))
}

// visitAll is visit for a use on unknown streams: it waits for earlier work on the memory,
// and giving the memory back waits for all streams.
func (m *memory) visitAll() error {
	b := m.inner().pooled()
	if b == nil || !b.pool.async {
		return nil
	}
	return b.uses.VisitAll()
}

// inner returns the memory that m is a view of, or m.
func (m *memory) inner() *memory {
	if v := m.view(); v != nil {
		return v.of
	}
	return m
}

// orderedStream is a Stream as package order uses it.
type orderedStream Stream

func ordered(s *Stream) *orderedStream { return (*orderedStream)(s) }

func (s *orderedStream) Acquire() bool            { return s.lease.Acquire() }
func (s *orderedStream) Release()                 { (*Stream)(s).release() }
func (s *orderedStream) Driver() driver.Stream    { return s.drv }
func (s *orderedStream) Device() driver.Device    { return s.dev.drv }
func (s *orderedStream) Drained() <-chan struct{} { return s.drained }
func (s *orderedStream) Idle() bool               { return (*Stream)(s).idle() }
func (s *orderedStream) Detached() bool           { return s.detached }

// orderedStreams returns the streams whose work ends by itself.
func (d *Device) orderedStreams() []*orderedStream {
	var all []*orderedStream
	for _, s := range d.workingStreams() {
		all = append(all, ordered(s))
	}
	return all
}
