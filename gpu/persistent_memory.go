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

// beside is memory that comes and goes while kernels stay on a GPU. They have to
// make way when the driver frees memory, so that it frees as little as possible
// then: memory of the device is a pool's, which takes it back in the order of
// streams, and page-locked memory that is closed is kept for what is allocated
// next. The zero value is empty.
type beside struct {
	mu     sync.Mutex
	pool   *Pool   // nil until it is needed
	stream *Stream // in whose order the pool takes memory from the driver
	pages  freelist.List[pages]
	err    error // of giving memory back where nobody could be told
}

// keptBeside is how much memory is kept, in bytes, of each of the two kinds.
const keptBeside = 64 << 20

// besidePersistent reports whether freeing memory has persistent kernels end.
func (d *Device) besidePersistent() bool { return d.info().Async && d.able.persistent.HasPersistent() }

// allocBeside is alloc while there are persistent kernels.
func (d *Device) allocBeside(doing string, size int64) (*memory, error) {
	p, s, err := d.beside.open(d)
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

// has reports whether a pool is the one of memory beside persistent kernels.
func (b *beside) has(p *Pool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return p == b.pool
}

// open returns the pool and its stream, which are closed with the device.
func (b *beside) open(d *Device) (*Pool, *Stream, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pool != nil {
		return b.pool, b.stream, nil
	}
	s, err := d.newStream(context.Background(), Detached())
	if err != nil {
		return nil, nil, err
	}
	p, err := d.NewPool(PoolConfig{ReleaseThreshold: keptBeside})
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
// kernels it is of a size that others will ask for.
func (d *Device) lockPages(size int64) (pages, error) {
	if d.besidePersistent() {
		size = pagesFor(size)
		if p, ok := d.beside.take(size); ok {
			return p, nil
		}
	}
	at, err := d.pageLock(size)
	return pages{at, size}, err
}

// pageLock is the driver's AllocHost. If that fails, what is kept is given back and
// it is called again.
func (d *Device) pageLock(size int64) (unsafe.Pointer, error) {
	at, err := d.able.pages.AllocHost(size)
	if err == nil {
		return at, nil
	}
	kept := d.beside.takeAll()
	if len(kept) == 0 {
		return nil, err
	}
	if freed := d.freePages(kept); freed != nil {
		return nil, errors.Join(err, freed)
	}
	return d.able.pages.AllocHost(size)
}

// unlockPages gives back what lockPages returned, or keeps it.
func (d *Device) unlockPages(p pages) error {
	if d.beside.keep(d, p) {
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

// Page-locked memory is kept by sizes that are powers of two up to largestPower, and
// multiples of that.
const (
	smallestPages = 4 << 10
	largestPower  = 1 << 20
)

// pagesFor returns what is allocated for size > 0 bytes, so that it is of use for
// others too.
func pagesFor(size int64) int64 {
	switch {
	case size > keptBeside: // is not kept
		return size
	case size > largestPower:
		return (size + largestPower - 1) &^ (largestPower - 1)
	default:
		return max(smallestPages, int64(1)<<bits.Len64(uint64(size-1)))
	}
}

// pagesOf returns the largest size that memory of so many bytes has room for, 0 if
// it is too small for all.
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

// pageClass numbers the sizes that pagesFor and pagesOf return.
func pageClass(size int64) int {
	const powers = 8 // from smallestPages to largestPower
	if size <= largestPower {
		return bits.Len64(uint64(size/smallestPages)) - 1
	}
	return powers + int(size/largestPower) - 1
}

// keep keeps p if there is room and somebody to keep it for.
func (b *beside) keep(d *Device, p pages) bool {
	size := pagesOf(p.size)
	b.mu.Lock()
	defer b.mu.Unlock()
	if size == 0 || b.pages.Bytes()+p.size > keptBeside || !d.besidePersistent() {
		return false
	}
	b.pages.Add(&freelist.Item[pages]{Value: p, Size: p.size, Class: pageClass(size)})
	return true
}

// take returns memory of a size that pagesFor has returned.
func (b *beside) take(size int64) (pages, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	class := pageClass(size)
	n := len(b.pages.Class(class))
	if n == 0 || size > keptBeside {
		return pages{}, false
	}
	return b.pages.Take(class, n-1).Value, true
}

func (b *beside) takeAll() []pages {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pages.Evict(math.MaxInt64)
}

// giveBack gives back what is kept, for the device to be closed with no more than
// the program has left open.
func (b *beside) giveBack(d *Device) {
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

// close gives back the page-locked memory. The device is in no use, and the pool
// closed.
func (b *beside) close(d *Device) error {
	return errors.Join(b.err, d.freePages(b.takeAll()))
}
