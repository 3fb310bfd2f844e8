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
	"quern.dev/internal/trace"
)

// Copies of Go memory are staged in page-locked memory: goroutines copy chunks
// between Go memory and page-locked slots while the device copies other slots. One
// core copies at a tenth of the speed of the bus, so there are several goroutines.
// The device pauses for some microseconds between chunks, so the chunks are large.
// The numbers are the best of those measured on an H200.
const (
	stagingWorkers = 10      // most goroutines per copy
	stagingSlots   = 2       // per goroutine
	stagingChunk   = 2 << 20 // bytes per slot

	// stagingMinimum is the smallest copy in bytes that is staged. The smallest
	// copies use smaller chunks, so that more goroutines have work.
	stagingMinimum = 4 << 20
	smallestChunk  = 512 << 10

	// maxStagers limits the page-locked memory of a device to 160 MiB.
	maxStagers = 4

	// stagingPays is the number of bytes after whose copying a stager is made. On an
	// H200 that takes 13 to 25 ms, in which the driver's own pageable copy moves some
	// 150 MB. A program that copies less never pays for a stager. A program that
	// copies more waits at most twice as long as if it had had a stager from the
	// start.
	stagingPays = 128 << 20
)

// staging is a device's page-locked memory for copies.
type staging struct {
	mu     sync.Mutex
	idle   []*stager
	made   int
	failed bool // memory cannot be page-locked

	// unstaged counts the bytes of large copies that found no stager free since the
	// last stager was made.
	unstaged int64
}

// stager is page-locked memory for one copy at a time.
type stager struct {
	dev    *Device
	at     unsafe.Pointer
	slots  []slot
	stream *Stream // that made the last copy
}

// slot holds one chunk of a copy.
type slot struct {
	at      unsafe.Pointer
	passed  driver.Event // marks the slot's last copy in the stream
	pending bool         // passed was recorded and may not have been reached yet
}

// takeStager returns a stager for a copy of n bytes, or nil if the driver is to copy
// from pageable memory: if that is as fast, if too little has been copied so far, if
// all stagers are busy with copies of other streams, or if memory cannot be
// page-locked. It does not wait for another stream, because the work there may be
// waiting for this one.
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
		g.failed = true // from now on, the driver copies from pageable memory
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

// close frees the memory. The streams must have finished their copies.
func (t *stager) close() error {
	var errs []error
	for i := range t.slots {
		errs = append(errs, t.slots[i].passed.Close())
	}
	return errors.Join(append(errs, t.dev.able.pages.FreeHost(t.at))...)
}

// closeStaging frees the device's stagers. The device must not be in use.
func (d *Device) closeStaging() error {
	var errs []error
	for _, t := range d.staging.idle {
		errs = append(errs, t.close())
	}
	d.staging.idle = nil
	return errors.Join(errs...)
}

// done reports whether the streams have finished all copies.
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

// wait waits until the slot can be reused, or has its data.
func (c *slot) wait() error {
	if !c.pending {
		return nil
	}
	c.pending = false
	return c.passed.Synchronize(context.Background())
}

// sent records that a copy with the slot was added to the stream.
func (c *slot) sent(s *Stream) error {
	c.pending = true
	if err := s.drv.Record(c.passed); err != nil {
		return errors.Join(err, s.drv.Synchronize(context.Background()))
	}
	return nil
}

func (c *slot) bytes(n int64) []byte { return unsafe.Slice((*byte)(c.at), n) }

// copyIn copies n > 0 bytes of Go memory in the order of the stream. When it returns,
// src may be changed.
func (s *Stream) copyIn(dst driver.Memory, src unsafe.Pointer, n int64) error {
	o := s.trace(trace.CopyIn, n)
	o.inspect(src, n)
	return o.end(s.copyInTraced(o, dst, src, n))
}

func (s *Stream) copyInTraced(o *operation, dst driver.Memory, src unsafe.Pointer, n int64) error {
	if s.dev.able.direct {
		return s.drv.CopyIn(dst, src, n)
	}
	if m := findHost(src, n); m != nil {
		defer m.release()
		return errors.Join(copyInAsync(s.drv, dst, src, n), s.drv.Synchronize(context.Background()))
	}
	from := unsafe.Slice((*byte)(src), n)
	if staged, err := s.stageIn(o, dst, n, func(chunk []byte, at int64) { copy(chunk, from[at:]) }); staged {
		return err
	}
	return s.drv.CopyIn(dst, src, n)
}

// copyOut waits for the stream and copies n > 0 bytes to Go memory.
func (s *Stream) copyOut(dst unsafe.Pointer, src driver.Memory, n int64) error {
	o := s.trace(trace.CopyOut, n)
	o.waits()
	err := s.copyOutTraced(o, dst, src, n)
	o.inspect(dst, n)
	return o.end(err)
}

func (s *Stream) copyOutTraced(o *operation, dst unsafe.Pointer, src driver.Memory, n int64) error {
	if m := findHost(dst, n); m != nil {
		defer m.release()
		return s.drv.CopyOut(dst, src, n)
	}
	to := unsafe.Slice((*byte)(dst), n)
	if staged, err := s.stageOut(o, src, n, func(chunk []byte, at int64) { copy(to[at:], chunk) }); staged {
		return err
	}
	return s.drv.CopyOut(dst, src, n)
}

// stageIn copies n bytes to dst in the order of the stream. fill writes the bytes
// that begin at offset at to a chunk; several goroutines call it. stageIn returns
// when all chunks are filled. If staged is false, it has done nothing.
func (s *Stream) stageIn(o *operation, dst driver.Memory, n int64, fill func(chunk []byte, at int64)) (staged bool, err error) {
	t := s.takeStager(n)
	if t == nil {
		return false, nil
	}
	defer s.dev.putStager(t)
	return true, t.each(o, n, func(slots []slot, next func() (at, size int64, ok bool)) error {
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

// stageOut copies n bytes from src in the order of the stream. take reads the bytes
// that begin at offset at from a chunk; several goroutines call it. stageOut returns
// when all chunks have been read. If staged is false, it has done nothing.
func (s *Stream) stageOut(o *operation, src driver.Memory, n int64, take func(chunk []byte, at int64)) (staged bool, err error) {
	t := s.takeStager(n)
	if t == nil {
		return false, nil
	}
	defer s.dev.putStager(t)
	return true, t.each(o, n, func(slots []slot, next func() (at, size int64, ok bool)) error {
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

// each calls work on several goroutines, which share the chunks of n bytes; each has
// its own slots, and makes calls for o. After an error, next returns no more chunks.
func (t *stager) each(o *operation, n int64, work func(slots []slot, next func() (at, size int64, ok bool)) error) error {
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
		group.Go(func() {
			o.mark()
			defer o.unmark()
			run(w)
		})
	}
	run(0)
	group.Wait()
	return errors.Join(errs...)
}
