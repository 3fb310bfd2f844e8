package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"quern.dev/internal/freelist"
)

// persistentMemory holds memory that is allocated and freed while kernels stay on a
// GPU. These
// kernels must end when the driver frees memory, so it frees as little as possible
// then. Device memory comes from a pool, which takes it back in the order of streams.
// Page-locked memory is kept after Close for later allocations. The zero value is
// empty.
type persistentMemory struct {
	mu     sync.Mutex
	pool   *Pool   // nil until it is needed
	stream *Stream // the pool takes memory from the driver in its order
	pages  freelist.List[pages]
	err    error // from releasing memory when there was no caller to return it to
}

// maxKept is the number of bytes to keep, of each of the two kinds.
const maxKept = 64 << 20

// freeingPauses reports whether freeing memory makes persistent kernels end.
func (d *Device) freeingPauses() bool { return d.info().Async && d.able.persistent.HasPersistent() }

// allocWithPersistent replaces alloc while there are persistent kernels.
func (d *Device) allocWithPersistent(doing string, size int64) (*memory, error) {
	p, s, err := d.persistentMemory.open(d)
	if err != nil {
		return nil, driverError(doing, err)
	}
	h, err := p.acquire(fmt.Sprintf("%s %d bytes", doing, size), s, size, 0, here())
	if err != nil {
		return nil, err
	}
	m := &h.memory
	if s.idle() { // otherwise the first use on another stream waits for s
		m.pooled().uses.Settle()
	}
	return m, nil
}

// has reports whether p is the pool for memory beside persistent kernels.
func (b *persistentMemory) has(p *Pool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return p == b.pool
}

// open returns the pool and its stream. Both are closed with the device.
func (b *persistentMemory) open(d *Device) (*Pool, *Stream, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pool != nil {
		return b.pool, b.stream, nil
	}
	s, err := d.newStream(context.Background(), Detached())
	if err != nil {
		return nil, nil, err
	}
	p, err := d.NewPool(PoolConfig{ReleaseThreshold: maxKept})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	b.pool, b.stream = p, s
	return p, s, nil
}

// pages is page-locked memory.
type pages struct {
	at   unsafe.Pointer
	size int64
}

// lockPages returns page-locked memory of at least size bytes. Beside persistent
// kernels it rounds the size up, so that the memory can be reused.
func (d *Device) lockPages(size int64) (pages, error) {
	if d.freeingPauses() {
		size = pagesFor(size)
		if p, ok := d.persistentMemory.take(size); ok {
			return p, nil
		}
	}
	at, err := d.pageLock(size)
	return pages{at, size}, err
}

// pageLock calls the driver's AllocHost. If that fails, it frees the kept memory and
// tries again.
func (d *Device) pageLock(size int64) (unsafe.Pointer, error) {
	at, err := d.able.pages.AllocHost(size)
	if err == nil {
		return at, nil
	}
	kept := d.persistentMemory.takeAll()
	if len(kept) == 0 {
		return nil, err
	}
	if freed := d.freePages(kept); freed != nil {
		return nil, errors.Join(err, freed)
	}
	return d.able.pages.AllocHost(size)
}

// unlockPages frees memory of lockPages, or keeps it.
func (d *Device) unlockPages(p pages) error {
	if d.persistentMemory.keep(d, p) {
		return nil
	}
	return d.able.pages.FreeHost(p.at)
}

func (d *Device) freePages(list []pages) error {
	var errs []error
	for _, p := range list {
		errs = append(errs, d.able.pages.FreeHost(p.at))
	}
	return errors.Join(errs...)
}

// Page-locked memory is kept in sizes that are powers of two up to largestPower, and
// in multiples of that.
const (
	smallestPages = 4 << 10
	largestPower  = 1 << 20
)

// pagesFor returns the size to allocate for size > 0 bytes, so that the memory can be
// reused.
func pagesFor(size int64) int64 {
	switch {
	case size > maxKept: // will not be kept
		return size
	case size > largestPower:
		return (size + largestPower - 1) &^ (largestPower - 1)
	default:
		return max(smallestPages, int64(1)<<bits.Len64(uint64(size-1)))
	}
}

// pagesOf returns the largest class size that fits in size bytes, 0 if none does.
func pagesOf(size int64) int64 {
	switch {
	case size < smallestPages:
		return 0
	case size < largestPower:
		return 1 << (bits.Len64(uint64(size)) - 1)
	default:
		return size &^ (largestPower - 1)
	}
}

// pageClass returns the index of a size that pagesFor or pagesOf returned.
func pageClass(size int64) int {
	const powers = 8 // from smallestPages to largestPower
	if size <= largestPower {
		return bits.Len64(uint64(size/smallestPages)) - 1
	}
	return powers + int(size/largestPower) - 1
}

// keep keeps p if there is space for it and persistent kernels are running.
func (b *persistentMemory) keep(d *Device, p pages) bool {
	size := pagesOf(p.size)
	b.mu.Lock()
	defer b.mu.Unlock()
	if size == 0 || b.pages.Bytes()+p.size > maxKept || !d.freeingPauses() {
		return false
	}
	b.pages.Add(&freelist.Item[pages]{Value: p, Size: p.size, Class: pageClass(size)})
	return true
}

// take returns memory of a size that pagesFor returned.
func (b *persistentMemory) take(size int64) (pages, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	class := pageClass(size)
	n := len(b.pages.Class(class))
	if n == 0 || size > maxKept {
		return pages{}, false
	}
	return b.pages.Take(class, n-1).Value, true
}

func (b *persistentMemory) takeAll() []pages {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pages.Evict(math.MaxInt64)
}

// giveBack frees the kept memory when the device is closed, so that only the
// program's open memory is left.
func (b *persistentMemory) giveBack(d *Device) {
	b.mu.Lock()
	p := b.pool
	b.mu.Unlock()
	err := d.freePages(b.takeAll())
	if p != nil {
		if trimmed := p.Trim(); !errors.Is(trimmed, ErrClosed) {
			err = errors.Join(err, trimmed)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = errors.Join(b.err, err)
}

// close frees the page-locked memory. The device must not be in use, and the pool
// must be closed.
func (b *persistentMemory) close(d *Device) error {
	return errors.Join(b.err, d.freePages(b.takeAll()))
}
