package gpu

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/driver"
)

// Copies of Go memory are staged in page-locked memory: goroutines copy chunks of
// it to or from slots there, while the device copies to or from others. One core
// copies at a tenth of what the bus moves, which is why there are several; between
// two chunks the device pauses for some microseconds, which is why they are large.
// The numbers are the best of those that were measured on an H200.
const (
	stagingWorkers = 10      // goroutines of a copy at most
	stagingSlots   = 2       // of a goroutine
	stagingChunk   = 2 << 20 // bytes of a slot

	// stagingMinimum is the size in bytes from which it is worth it. The smallest
	// copies have smaller chunks, to keep more goroutines at work.
	stagingMinimum = 4 << 20
	smallestChunk  = 512 << 10

	// maxStagers bounds the page-locked memory of a device, to 160 MiB.
	maxStagers = 4

	// stagingPays is how many bytes are copied before it pays to page-lock memory
	// for that. On an H200 a stager takes 13 to 25 ms to make, in which the driver
	// copies some 150 MB in its own way. A program that copies less never pays for
	// one; a program that copies more waits at most twice as long as with one from
	// the start.
	stagingPays = 128 << 20
)

// staging is a device's page-locked memory for copies.
type staging struct {
	mu     sync.Mutex
	idle   []*stager
	made   int
	failed bool // memory cannot be page-locked

	// unstaged counts the bytes of large copies that found no memory since some
	// was last made.
	unstaged int64
}

// stager is the memory of one copy at a time.
type stager struct {
	dev    *Device
	at     unsafe.Pointer
	slots  []slot
	stream *Stream // of the last copy
}

// slot holds one chunk.
type slot struct {
	at      unsafe.Pointer
	passed  driver.Event // the stream has passed the slot's last copy
	pending bool         // passed was recorded and may not have been reached
}

// takeStager returns memory for a copy of n bytes. It is nil if the driver is to
// copy in its own way: if that is as good, if too little has been copied so far, if
// other streams have yet to pass their copies, or if memory cannot be page-locked.
// Waiting for another stream could be waiting for work that waits for this one.
func (s *Stream) takeStager(n int64) *stager {
	d := s.dev
	if n < stagingMinimum || d.able.direct {
		return nil
	}
	g := &d.staging
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.idle, func(t *stager) bool { return t.stream == s })
	if i < 0 {
		i = slices.IndexFunc(g.idle, (*stager).done)
	}
	if i >= 0 {
		t := g.idle[i]
		g.idle = slices.Delete(g.idle, i, i+1)
		t.stream = s
		return t
	}
	if g.failed || g.made == maxStagers {
		return nil
	}
	if g.unstaged += n; g.unstaged < stagingPays {
		return nil
	}
	g.unstaged = 0
	t, err := d.newStager(min(stagingWorkers, runtime.GOMAXPROCS(0)))
	if err != nil {
		g.failed = true // the driver's own way of copying is left
		return nil
	}
	g.made++
	t.stream = s
	return t
}

func (d *Device) putStager(t *stager) {
	d.staging.mu.Lock()
	defer d.staging.mu.Unlock()
	d.staging.idle = append(d.staging.idle, t)
}

func (d *Device) newStager(workers int) (*stager, error) {
	t := &stager{dev: d}
	n := workers * stagingSlots
	var err error
	if t.at, err = d.pageLock(int64(n) * stagingChunk); err != nil {
		return nil, err
	}
	for i := range n {
		e, err := d.drv.NewEvent(false)
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.slots = append(t.slots, slot{at: unsafe.Add(t.at, i*stagingChunk), passed: e})
	}
	return t, nil
}

// close frees the memory. The streams' work is done.
func (t *stager) close() error {
	var errs []error
	for i := range t.slots {
		errs = append(errs, t.slots[i].passed.Close())
	}
	return errors.Join(append(errs, t.dev.able.pages.FreeHost(t.at))...)
}

// closeStaging frees what staging has. The device is in no use.
func (d *Device) closeStaging() error {
	var errs []error
	for _, t := range d.staging.idle {
		errs = append(errs, t.close())
	}
	d.staging.idle = nil
	return errors.Join(errs...)
}

// done reports whether the streams have passed all copies.
func (t *stager) done() bool {
	for i := range t.slots {
		if c := &t.slots[i]; c.pending {
			done, err := c.passed.Done()
			if !done || err != nil {
				return false
			}
			c.pending = false
		}
	}
	return true
}

// wait waits until the slot can be used again, or has its data.
func (c *slot) wait() error {
	if !c.pending {
		return nil
	}
	c.pending = false
	return c.passed.Synchronize(context.Background())
}

// sent notes that a copy with the slot was asked for.
func (c *slot) sent(s *Stream) error {
	c.pending = true
	if err := s.drv.Record(c.passed); err != nil {
		return errors.Join(err, s.drv.Synchronize(context.Background()))
	}
	return nil
}

func (c *slot) bytes(n int64) []byte { return unsafe.Slice((*byte)(c.at), n) }

// copyIn copies n > 0 bytes of Go memory, in the order of the stream. It returns
// when src may be changed again.
func (s *Stream) copyIn(dst driver.Memory, src unsafe.Pointer, n int64) error {
	if s.dev.able.direct {
		return s.drv.CopyIn(dst, src, n)
	}
	if m := findHost(src, n); m != nil {
		defer m.release()
		return errors.Join(copyInAsync(s.drv, dst, src, n), s.drv.Synchronize(context.Background()))
	}
	from := unsafe.Slice((*byte)(src), n)
	if staged, err := s.stageIn(dst, n, func(chunk []byte, at int64) { copy(chunk, from[at:]) }); staged {
		return err
	}
	return s.drv.CopyIn(dst, src, n)
}

// copyOut waits for the stream and copies n > 0 bytes to Go memory.
func (s *Stream) copyOut(dst unsafe.Pointer, src driver.Memory, n int64) error {
	if m := findHost(dst, n); m != nil {
		defer m.release()
		return s.drv.CopyOut(dst, src, n)
	}
	to := unsafe.Slice((*byte)(dst), n)
	if staged, err := s.stageOut(src, n, func(chunk []byte, at int64) { copy(to[at:], chunk) }); staged {
		return err
	}
	return s.drv.CopyOut(dst, src, n)
}

// stageIn copies n bytes to dst, in the order of the stream. fill writes those
// from at on to a chunk; it is called by several goroutines. stageIn returns when
// all chunks are filled. If staged is false, nothing was done.
func (s *Stream) stageIn(dst driver.Memory, n int64, fill func(chunk []byte, at int64)) (staged bool, err error) {
	t := s.takeStager(n)
	if t == nil {
		return false, nil
	}
	defer s.dev.putStager(t)
	return true, t.each(n, func(slots []slot, next func() (at, size int64, ok bool)) error {
		for i := 0; ; i++ {
			at, size, ok := next()
			if !ok {
				return nil
			}
			c := &slots[i%len(slots)]
			if err := c.wait(); err != nil {
				return err
			}
			fill(c.bytes(size), at)
			if err := copyInAsync(s.drv, dst.Offset(at), c.at, size); err != nil {
				return err
			}
			if err := c.sent(s); err != nil {
				return err
			}
		}
	})
}

// stageOut copies n bytes from src, in the order of the stream. take reads those
// from at on from a chunk; it is called by several goroutines. stageOut returns
// when all chunks are taken. If staged is false, nothing was done.
func (s *Stream) stageOut(src driver.Memory, n int64, take func(chunk []byte, at int64)) (staged bool, err error) {
	t := s.takeStager(n)
	if t == nil {
		return false, nil
	}
	defer s.dev.putStager(t)
	return true, t.each(n, func(slots []slot, next func() (at, size int64, ok bool)) error {
		type chunk struct {
			slot     *slot
			at, size int64
		}
		var coming []chunk
		receive := func() error {
			c := coming[0]
			coming = append(coming[:0], coming[1:]...)
			if err := c.slot.wait(); err != nil {
				return err
			}
			take(c.slot.bytes(c.size), c.at)
			return nil
		}
		for i := 0; ; i++ {
			at, size, ok := next()
			if !ok {
				break
			}
			if len(coming) == len(slots) {
				if err := receive(); err != nil {
					return err
				}
			}
			c := &slots[i%len(slots)]
			if err := c.wait(); err != nil {
				return err
			}
			if err := copyOutAsync(s.drv, c.at, src.Offset(at), size); err != nil {
				return err
			}
			if err := c.sent(s); err != nil {
				return err
			}
			coming = append(coming, chunk{c, at, size})
		}
		for len(coming) > 0 {
			if err := receive(); err != nil {
				return err
			}
		}
		return nil
	})
}

// each runs work on goroutines that share the chunks of n bytes; each has slots of
// its own. After an error there are no more chunks.
func (t *stager) each(n int64, work func(slots []slot, next func() (at, size int64, ok bool)) error) error {
	workers := len(t.slots) / stagingSlots
	chunk := n / int64(workers) &^ (smallestChunk - 1)
	chunk = max(smallestChunk, min(chunk, stagingChunk))
	var taken atomic.Int64
	next := func() (at, size int64, ok bool) {
		at = taken.Add(chunk) - chunk
		return at, min(chunk, n-at), at < n
	}
	errs := make([]error, workers)
	run := func(w int) {
		if errs[w] = work(t.slots[w*stagingSlots:][:stagingSlots], next); errs[w] != nil {
			taken.Store(n)
		}
	}
	var group sync.WaitGroup
	for w := 1; w < workers; w++ {
		group.Go(func() { run(w) })
	}
	run(0)
	group.Wait()
	return errors.Join(errs...)
}
