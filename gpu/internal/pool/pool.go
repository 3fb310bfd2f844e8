// Package pool keeps blocks of memory by size, so that a caller that needs about the
// same size as an earlier one does not have to ask a driver or the operating system.
//
// The package handles sizes, limits and lifetimes. Its users decide what the memory is,
// how to make and free it, and whether the work that used it is done.
package pool

import (
	"errors"
	"math"
	"sync"

	"quern.dev/internal/freelist"
)

// ErrClosed is returned by Take of a closed pool.
var ErrClosed = errors.New("pool is closed")

// LimitError is returned by Take of a pool whose limit does not allow another block.
type LimitError struct {
	Size int64 // of the block
	Err  error // from freeing other blocks to make room
}

// Error states that the pool is at its limit.
func (e *LimitError) Error() string { return "pool is at its limit" }

// Item is a block of a pool: Value belongs to the user, Size is its size in bytes.
type Item[B any] = freelist.Item[B]

// Config configures a pool.
type Config[B any] struct {
	Limit     int64               // most bytes to reserve; 0 means no limit
	Threshold int64               // most bytes to keep that are not in use; 0 means no limit
	Free      func(block B) error // frees a block that is not in use
	Close     func() error        // releases the source of the blocks, once all are free
}

// Stats is the state and the history of a pool. Sizes are in bytes, rounded as the pool
// rounds them.
type Stats struct {
	Buffers   int   // in use
	Used      int64 // by buffers in use
	Reserved  int64 // in use or kept
	HighWater int64 // largest value of Used

	Hits   uint64 // blocks taken from the kept ones
	Misses uint64 // blocks that had to be made

	LargestFree   int64   // largest block that is kept and free
	Fragmentation float64 // 1 - LargestFree/kept, 0 if nothing is kept
}

// Pool is a set of blocks. It is safe for concurrent use after Init.
type Pool[B any] struct {
	config Config[B]

	mu     sync.Mutex
	closed bool
	uses   int // blocks in use, running calls, and one until Close; the last release calls Config.Close
	free   freelist.List[B]
	inUse  freelist.Queue[B]
	stats  Stats // except for the fields that Stats computes
}

// Init configures the pool before its first use.
func (p *Pool[B]) Init(c Config[B]) { p.config, p.uses = c, 1 }

// Take returns a block of at least size > 0 bytes. It prefers a block that was freed
// recently and is ready, then a block that was freed long ago and is done. Otherwise it
// calls create with the size of a new block. ready and done are called with the pool
// locked. Put returns the block to the pool.
func (p *Pool[B]) Take(size int64, ready, done func(B) bool, create func(size int64) (B, error)) (*Item[B], error) {
	class, size := classOf(size)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.uses++
	it := p.recent(class, size, ready)
	if it == nil {
		it = p.oldest(class, size, done)
	}
	if it == nil {
		var err error
		if it, err = p.make(class, size, create); err != nil {
			return nil, errors.Join(err, p.Release())
		}
	}
	p.inUse.Add(it)
	p.stats.Buffers++
	p.stats.Used += it.Size
	p.stats.HighWater = max(p.stats.HighWater, p.stats.Used)
	p.mu.Unlock()
	return it, nil
}

// make makes a block. The caller holds the lock, and holds it afterwards if err is
// nil.
func (p *Pool[B]) make(class int, size int64, create func(int64) (B, error)) (it *Item[B], err error) {
	var evicted []B
	if limit := p.config.Limit; limit > 0 {
		evicted = p.evict(p.stats.Reserved + size - limit)
		if p.stats.Reserved+size > limit {
			p.mu.Unlock()
			return nil, &LimitError{size, p.drop(evicted)}
		}
	}
	p.stats.Misses++
	p.stats.Reserved += size
	p.mu.Unlock()
	err = p.drop(evicted)
	var b B
	if err == nil {
		b, err = create(size)
	}
	p.mu.Lock()
	if err != nil {
		p.stats.Reserved -= size
		p.mu.Unlock()
		return nil, err
	}
	return &Item[B]{Value: b, Size: size, Class: class}, nil
}

// Put returns a block that no call uses.
func (p *Pool[B]) Put(it *Item[B]) error {
	p.mu.Lock()
	p.inUse.Remove(it)
	p.stats.Buffers--
	p.stats.Used -= it.Size
	p.free.Add(it)
	var surplus []B
	if p.closed {
		surplus = p.evict(math.MaxInt64)
	} else if keep := p.config.Threshold; keep > 0 && p.free.Bytes() > keep {
		surplus = p.evict(p.free.Bytes() - keep)
	}
	if len(surplus) == 0 && !p.closed {
		p.uses--
		p.mu.Unlock()
		return nil
	}
	p.mu.Unlock()
	return errors.Join(p.drop(surplus), p.Release())
}

// Trim frees all blocks that are not in use, and returns them.
func (p *Pool[B]) Trim() ([]B, error) {
	p.mu.Lock()
	blocks := p.evict(math.MaxInt64)
	p.mu.Unlock()
	return blocks, p.drop(blocks)
}

// Close makes later calls of Take fail, and reports whether the pool was open. If it was,
// the caller frees the blocks with Trim and then calls Release.
func (p *Pool[B]) Close() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.closed
	p.closed = true
	return first
}

// Acquire begins a use of the pool, which Release ends. It reports false if the pool is
// closed.
func (p *Pool[B]) Acquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.uses++
	return true
}

// Extend begins another use of a pool that is in use. The pool may be closed.
func (p *Pool[B]) Extend() {
	p.mu.Lock()
	p.uses++
	p.mu.Unlock()
}

// Release ends a use of the pool. The last one after Close calls Config.Close.
func (p *Pool[B]) Release() error {
	p.mu.Lock()
	p.uses--
	last := p.closed && p.uses == 0
	p.mu.Unlock()
	if last {
		return p.config.Close()
	}
	return nil
}

// InUse returns the blocks that are in use.
func (p *Pool[B]) InUse() []B {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []B
	for it := range p.inUse.All() {
		all = append(all, it.Value)
	}
	return all
}

// Stats returns the state of the pool.
func (p *Pool[B]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	for it := range p.free.All() {
		s.LargestFree = max(s.LargestFree, it.Size)
	}
	if kept := p.free.Bytes(); kept > 0 {
		s.Fragmentation = 1 - float64(s.LargestFree)/float64(kept)
	}
	return s
}

const (
	scanned = 16 // blocks of a class that Take examines at each end
	wider   = 3  // number of larger classes that Take also searches for old blocks
)

// recent takes the ready block that was freed last, or returns nil.
func (p *Pool[B]) recent(class int, size int64, ready func(B) bool) *Item[B] {
	c := p.free.Class(class)
	for i := len(c) - 1; i >= max(0, len(c)-scanned); i-- {
		if fits(c[i], size) && ready(c[i].Value) {
			return p.take(class, i)
		}
	}
	return nil
}

// oldest takes the done block that was freed first, or returns nil.
func (p *Pool[B]) oldest(class int, size int64, done func(B) bool) *Item[B] {
	for k := class; k <= min(class+wider, classCount-1); k++ {
		c := p.free.Class(k)
		for i, it := range c[:min(scanned, len(c))] {
			if fits(it, size) && done(it.Value) {
				return p.take(k, i)
			}
		}
	}
	return nil
}

// fits reports whether a block serves size bytes and wastes at most half of that.
func fits[B any](it *Item[B], size int64) bool { return it.Size >= size && it.Size-size <= size/2 }

func (p *Pool[B]) take(class, i int) *Item[B] {
	p.stats.Hits++
	return p.free.Take(class, i)
}

// evict removes the oldest free blocks, of at least n bytes in total if there are as
// many. The caller holds the lock, and calls drop with the blocks after unlocking.
func (p *Pool[B]) evict(n int64) []B {
	before := p.free.Bytes()
	blocks := p.free.Evict(n)
	p.stats.Reserved -= before - p.free.Bytes()
	return blocks
}

func (p *Pool[B]) drop(blocks []B) error {
	var errs []error
	for _, b := range blocks {
		errs = append(errs, p.config.Free(b))
	}
	return errors.Join(errs...)
}
