package gpu

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"quern.dev/internal/driver"
)

// Blocks are of sizes that are multiples of 512 bytes up to 4 KiB, then of eight
// sizes for each power of two up to 1 GiB, then multiples of 2 MiB, the page of
// GPUs, which share a class.
const (
	smallStep  = 512
	smallCount = 8
	largest    = 1 << 30
	largeStep  = 2 << 20
	largeClass = smallCount + 8*(30-12)
	classCount = largeClass + 1
)

// classOf returns the class of blocks for size > 0 bytes, and the size of a block.
func classOf(size int64) (class int, rounded int64) {
	switch {
	case size <= smallStep*smallCount:
		n := (size + smallStep - 1) / smallStep
		return int(n - 1), n * smallStep
	case size <= largest:
		e := bits.Len64(uint64(size - 1)) // 1<<(e-1) < size <= 1<<e
		step := int64(1) << (e - 4)
		n := (size + step - 1) / step // 9 to 16
		return smallCount + 8*(e-13) + int(n-9), n * step
	default:
		return largeClass, max(size, (size+largeStep-1)/largeStep*largeStep)
	}
}

// block is a piece of a device's memory. While it is in use it belongs to the
// buffer's memory, and home, pending and visitors to whoever holds that; while it
// is free, to its pool.
type block struct {
	pool  *Pool
	mem   driver.Memory
	size  int64
	class int
	host  *hostMemory // of a pool of the host's memory

	// home is the stream in whose order the block is in use or free: work that is
	// added to it comes after all work on the block but that which pending events
	// stand for.
	home    *Stream
	pending []driver.Event
	stays   bool // one of them is of a detached stream, whose work may stay for long

	owner *memory // nil while free
	site  uintptr // of the acquisition

	// settled: no work used the block when it was acquired, or at a later time.
	settled bool

	mu         sync.Mutex
	visitors   []*Stream // other streams that use it
	everywhere bool      // any stream may

	prev, next *block // in a list
}

// blockList is a list of blocks.
type blockList struct{ first, last *block }

func (l *blockList) push(b *block) {
	b.prev, b.next = l.last, nil
	if l.last == nil {
		l.first = b
	} else {
		l.last.next = b
	}
	l.last = b
}

func (l *blockList) remove(b *block) {
	if b.prev == nil {
		l.first = b.next
	} else {
		b.prev.next = b.next
	}
	if b.next == nil {
		l.last = b.prev
	} else {
		b.next.prev = b.prev
	}
	b.prev, b.next = nil, nil
}

// keep makes a block one of the free ones. The caller holds the lock.
func (p *Pool) keep(b *block) {
	p.free.push(b)
	p.kept += b.size
	p.classes[b.class] = append(p.classes[b.class], b)
}

// take makes a block of the free ones the caller's, who holds the lock.
func (p *Pool) take(b *block, i int) *block {
	p.free.remove(b)
	p.kept -= b.size
	c := p.classes[b.class]
	p.classes[b.class] = slices.Delete(c, i, i+1)
	p.stats.Hits++
	return b
}

// nearby is how many blocks of a class are looked at: of those that were freed
// last for one that may be used as it is, then of those that were freed first for
// one that streams are done with.
const nearby = 16

// takeOrdered takes a block that work on s may use as it is, nil if there is none
// at hand. The caller holds the lock.
func (p *Pool) takeOrdered(s *Stream, class int, size int64) *block {
	c := p.classes[class]
	for i := len(c) - 1; i >= max(0, len(c)-nearby); i-- {
		b := c[i]
		if b.fits(size) && b.ordered(s) {
			b.settled = !p.async
			return p.take(b, i)
		}
	}
	return nil
}

// ordered reports whether work on s, or the program, may use the block as it is.
func (b *block) ordered(s *Stream) bool {
	if b.host != nil {
		return b.host.idle()
	}
	return !b.pool.async || b.home == s && len(b.pending) == 0
}

// fits reports whether the block is of a good size for size bytes.
func (b *block) fits(size int64) bool { return b.size >= size && b.size-size <= size/2 }

// wider is how many classes of larger blocks a buffer may take.
const wider = 3

// takeDone takes a block that work on s may use because other streams are done
// with it, nil if there is none among those that were freed first. The caller
// holds the lock.
func (p *Pool) takeDone(s *Stream, class int, size int64) *block {
	var known idleness
	for k := class; k <= min(class+wider, classCount-1); k++ {
		c := p.classes[k]
		for i, b := range c[:min(nearby, len(c))] {
			if !b.fits(size) || !b.done(s, &known) {
				continue
			}
			p.events = append(p.events, b.pending...)
			b.pending, b.stays = b.pending[:0], false
			b.settled = !p.async || known.of(b.home)
			return p.take(b, i)
		}
	}
	return nil
}

// done reports whether the streams are done with the block but for what work on
// s comes after anyway.
func (b *block) done(s *Stream, known *idleness) bool {
	if !b.pool.async {
		return b.ordered(nil)
	}
	return (b.home == s || known.of(b.home)) && b.passed()
}

// passed reports whether the pending events were reached.
func (b *block) passed() bool {
	for _, e := range b.pending {
		if done, err := e.Done(); !done || err != nil {
			return false
		}
	}
	return true
}

// idleness is what is known of some streams, which are asked once.
type idleness struct {
	streams [8]*Stream
	idle    [8]bool
	count   int
}

func (k *idleness) of(s *Stream) bool {
	if i := slices.Index(k.streams[:k.count], s); i >= 0 {
		return k.idle[i]
	}
	idle := s.idle()
	if k.count < len(k.streams) {
		k.streams[k.count], k.idle[k.count] = s, idle
		k.count++
	}
	return idle
}

// acquireBlock returns a block for work on s: one that other streams are done
// with, or one that the device has memory for.
func (p *Pool) acquireBlock(s *Stream, class int, size int64) (*block, error) {
	p.mu.Lock()
	if b := p.takeDone(s, class, size); b != nil {
		p.mu.Unlock()
		return b, nil
	}
	var evicted []*block
	if limit := p.config.Limit; limit > 0 {
		evicted = p.evict(p.stats.Reserved + size - limit)
		if p.stats.Reserved+size > limit {
			err := p.full(size)
			p.mu.Unlock()
			return nil, errors.Join(err, p.drop(evicted))
		}
	}
	p.stats.Misses++
	p.stats.Reserved += size
	drv, err := p.driver()
	p.mu.Unlock()
	if dropped := p.drop(evicted); err == nil {
		err = dropped
	}
	var m driver.Memory
	switch {
	case err != nil:
	case p.host:
		m, err = p.locking(size)
	default:
		m, err = p.dev.allocating(size, func() (driver.Memory, error) { return drv.Alloc(s.drv, size) })
	}
	if err != nil {
		p.mu.Lock()
		p.stats.Reserved -= size
		p.mu.Unlock()
		return nil, err
	}
	b := &block{pool: p, mem: m, size: size, class: class, settled: !p.async}
	if p.host {
		b.host = &hostMemory{at: m.Host}
	}
	return b, nil
}

// driver returns the driver's pool. The caller holds the lock.
func (p *Pool) driver() (driver.Pool, error) {
	if p.drv == nil && p.host {
		p.drv = hostDriver{p.dev}
	}
	if p.drv == nil {
		keep := p.config.ReleaseThreshold
		if keep == 0 {
			keep = 1<<63 - 1
		}
		drv, err := newDriverPool(p.dev.drv, keep)
		if err != nil {
			return nil, err
		}
		p.drv = drv
	}
	return p.drv, nil
}

// evict takes away free blocks of at least n bytes together, those that were free
// for the longest time, or all. The caller holds the lock, and then drops them.
func (p *Pool) evict(n int64) []*block {
	var blocks []*block
	for n > 0 && p.free.first != nil {
		b := p.free.first
		p.free.remove(b)
		c := p.classes[b.class]
		i := slices.Index(c, b)
		p.classes[b.class] = slices.Delete(c, i, i+1)
		p.kept -= b.size
		p.stats.Reserved -= b.size
		n -= b.size
		blocks = append(blocks, b)
	}
	return blocks
}

// drop gives blocks that were evicted to the driver, in the order of their work.
func (p *Pool) drop(blocks []*block) error {
	var errs []error
	for _, b := range blocks {
		errs = append(errs, p.dropOne(b))
	}
	return errors.Join(errs...)
}

func (p *Pool) dropOne(b *block) error {
	if b.host != nil {
		return b.host.free(p.dev)
	}
	if !p.async {
		return unlessLost(p.drv.Free(nil, b.mem))
	}
	if b.stays && !b.passed() { // nothing else is to wait for it
		p.dropAfter(b, func() {
			for _, e := range b.pending {
				e.Synchronize(context.Background())
			}
			b.stays = false
		})
		return nil
	}
	if b.home.lease.Acquire() {
		defer b.home.release()
		var errs []error
		for _, e := range b.pending {
			errs = append(errs, b.home.drv.Wait(e))
		}
		errs = append(errs, p.drv.Free(b.home.drv, b.mem))
		p.reuse(b.pending...)
		return unlessLost(errors.Join(errs...))
	}
	if !b.home.isDrained() { // it is being closed, perhaps by a caller of this
		p.dropAfter(b, func() { <-b.home.drained })
		return nil
	}
	var errs []error
	for _, e := range b.pending {
		errs = append(errs, e.Synchronize(context.Background()))
	}
	p.reuse(b.pending...)
	return unlessLost(errors.Join(append(errs, p.drv.Free(nil, b.mem))...))
}

// dropAfter drops a block after a wait that the caller is to be spared.
func (p *Pool) dropAfter(b *block, wait func()) {
	p.mu.Lock()
	p.holds++
	p.mu.Unlock()
	go func() {
		wait()
		p.dropOne(b)
		p.release()
	}()
}

// settle waits for the streams in whose order blocks were dropped.
func (p *Pool) settle(blocks []*block) error {
	if !p.async {
		return nil
	}
	var homes []*Stream
	var errs []error
	for _, b := range blocks {
		if slices.Contains(homes, b.home) || !b.home.lease.Acquire() {
			continue
		}
		homes = append(homes, b.home)
		errs = append(errs, b.home.drv.Synchronize(context.Background()))
		b.home.release()
	}
	return unlessLost(errors.Join(errs...))
}

// event returns an event that is not in use.
func (p *Pool) event() (driver.Event, error) {
	p.mu.Lock()
	if n := len(p.events); n > 0 {
		e := p.events[n-1]
		p.events = p.events[:n-1]
		p.mu.Unlock()
		return e, nil
	}
	p.mu.Unlock()
	return p.dev.drv.NewEvent(false)
}

// reuse keeps events for later.
func (p *Pool) reuse(events ...driver.Event) {
	p.mu.Lock()
	p.events = append(p.events, events...)
	p.mu.Unlock()
}
