package gdal

import (
	"context"
	"runtime"
	"sync"
)

// handles are the open datasets of a file. Each has a thread: GDAL shares the sources of virtual datasets among
// datasets that the same thread has opened, and they must not be used by two threads at a time.
type handles struct {
	lib  *functions
	name string
	opt  Options
	most int
	jobs chan job
	quit chan struct{}

	mu      sync.Mutex
	closed  bool
	open    int
	running sync.WaitGroup
}

// job is something to do with a dataset.
type job struct {
	do   func(s *dataset) error
	done chan<- error
}

// start opens the first dataset and calls first with it.
func (h *handles) start(first func(s *dataset) error) error {
	started := make(chan error)
	h.open = 1
	h.running.Go(func() { h.serve(first, started) })
	return <-started
}

// serve opens a dataset and does jobs until the file is closed.
func (h *handles) serve(first func(s *dataset) error, started chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the dataset
	h.lib.CPLPushErrorHandler(h.lib.quiet)
	s, err := h.lib.open(h.name, h.opt)
	if err == nil {
		defer s.close()
		err = first(s)
	}
	started <- err
	if err != nil {
		return
	}
	for {
		select {
		case j := <-h.jobs:
			j.done <- j.do(s)
		case <-h.quit:
			return
		}
	}
}

// do calls f with a dataset that nothing else uses.
func (h *handles) do(ctx context.Context, f func(s *dataset) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	j := job{f, done}
	select {
	case h.jobs <- j:
		return <-done
	default:
	}
	if h.grow(j) {
		return <-done
	}
	select {
	case h.jobs <- j:
		return <-done // C has the memory: wait even if ctx ends
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.quit:
		return failure(ErrClosed, "read", h.name, "the file is closed")
	}
}

// grow opens one more dataset, if there may be one, and does a job with it. It is false if it has not done it.
func (h *handles) grow(j job) bool {
	h.mu.Lock()
	if h.closed || h.open >= h.most {
		h.mu.Unlock()
		return false
	}
	h.open++
	started := make(chan error, 1)
	did := false
	h.running.Go(func() {
		h.serve(func(s *dataset) error {
			did = true
			j.done <- j.do(s)
			return nil
		}, started)
	})
	h.mu.Unlock()
	if <-started; did {
		return true
	}
	// The file is open already, so there is some limit: this many it is.
	h.mu.Lock()
	h.open--
	h.most = h.open
	h.mu.Unlock()
	return false
}

// close closes all datasets, after the reads under way.
func (h *handles) close() error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.quit)
	}
	h.mu.Unlock()
	h.running.Wait()
	return nil
}
