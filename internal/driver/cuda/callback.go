package cuda

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"
)

var cuStreamWaitValue32 = optional("cuStreamWaitValue32_v2")

// errNotSupported is the result code on devices whose streams cannot wait for memory.
const errNotSupported = 801

// Flags of cuEventCreate: waits sleep, and the event has no timing.
const blockingSync, disableTiming = 1, 2

// calls are the Go functions queued on a stream. The driver could run them
// (cuLaunchHostFunc), but it uses one thread for all streams and takes five times as
// long from the end of the work to Go code (94 and 18 us on an H200). Instead, each
// function follows an event that a goroutine waits for. The stream then waits for a
// word in memory that counts the functions that have returned.
type calls struct {
	// order is held while a call is queued. The driver blocks callers that add work to
	// a full queue, and the goroutine must keep running meanwhile.
	order sync.Mutex
	word  *uint32 // pinned memory of the driver, nil before the first call
	addr  uint64  // of word on the device
	asked uint32  // calls so far

	server sync.WaitGroup // the goroutine

	mu      sync.Mutex // guards the fields below
	serving bool       // the goroutine is running
	pending []streamCall
	spare   []uintptr // unused events
}

// streamCall is a function that runs after an event.
type streamCall struct {
	event uintptr
	f     func()
}

func (s *stream) CallHost(f func()) error {
	queued, err := s.queueCall(f)
	if queued || err != nil {
		return err
	}
	// If streams cannot wait for memory, the caller keeps the order.
	if err := s.dev.handles(cuStreamSynchronize, s.handle); err != nil {
		return err
	}
	s.calls.order.Lock()
	defer s.calls.order.Unlock()
	f()
	return nil
}

// queueCall reports whether f was queued. It is not if the driver or the device does
// not support it.
func (s *stream) queueCall(f func()) (bool, error) {
	d, c := s.dev, &s.calls
	if !d.api.has(cuStreamWaitValue32) {
		return false, nil
	}
	c.order.Lock()
	defer c.order.Unlock()
	if err := c.open(d); err != nil {
		return false, err
	}
	event, err := c.event(d)
	if err != nil {
		return false, err
	}
	if err := d.handles(cuEventRecord, event, s.handle); err != nil {
		c.keep(event)
		return false, err
	}
	last, r := d.within(cuStreamWaitValue32, s.handle, uintptr(c.addr), uintptr(c.asked+1), 0)
	if err := d.api.check(last, r); err != nil {
		c.keep(event)
		if int32(r) == errNotSupported {
			err = nil
		}
		return false, err
	}
	c.asked++
	if c.push(streamCall{event, f}) {
		c.server.Go(func() { c.serve(d) })
	}
	return true, nil
}

// push adds a call. It reports whether the caller must start the goroutine.
func (c *calls) push(h streamCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, h)
	start := !c.serving
	c.serving = true
	return start
}

// next removes and returns the first call. If there is none, the goroutine ends.
func (c *calls) next() (h streamCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.serving = len(c.pending) > 0; !c.serving {
		return h, false
	}
	h, c.pending = c.pending[0], c.pending[1:]
	return h, true
}

// serve runs functions, each after its event, until the queue is empty.
func (c *calls) serve(d *device) {
	for h, ok := c.next(); ok; h, ok = c.next() {
		// An error belongs to the device and is sticky: the next wait returns it too.
		if d.handles(cuEventSynchronize, h.event) == nil {
			h.f()
		}
		c.keep(h.event)
		atomic.AddUint32(c.word, 1)
	}
}

// open creates the word.
func (c *calls) open(d *device) error {
	if c.word != nil {
		return nil
	}
	var word unsafe.Pointer
	err := d.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&word)), unsafe.Sizeof(*c.word), hostPortableMapped)
	if err != nil {
		return err
	}
	if err := d.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&c.addr)), uintptr(word), 0); err != nil {
		return errors.Join(err, d.handles(cuMemFreeHost, uintptr(word)))
	}
	c.word = (*uint32)(word)
	atomic.StoreUint32(c.word, c.asked)
	return nil
}

// event returns an unused event.
func (c *calls) event(d *device) (uintptr, error) {
	c.mu.Lock()
	if n := len(c.spare); n > 0 {
		e := c.spare[n-1]
		c.spare = c.spare[:n-1]
		c.mu.Unlock()
		return e, nil
	}
	c.mu.Unlock()
	var e uintptr
	err := d.call(cuEventCreate, uintptr(unsafe.Pointer(&e)), blockingSync|disableTiming)
	return e, err
}

// keep returns an event for reuse.
func (c *calls) keep(event uintptr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = append(c.spare, event)
}

// close releases the resources of the stream's calls. The stream's work is done.
func (c *calls) close(d *device) error {
	c.server.Wait()
	var errs []error
	for _, e := range c.spare {
		errs = append(errs, d.handles(cuEventDestroy, e))
	}
	c.spare = nil
	if c.word != nil {
		errs = append(errs, d.handles(cuMemFreeHost, uintptr(unsafe.Pointer(c.word))))
		c.word = nil
	}
	return errors.Join(errs...)
}
