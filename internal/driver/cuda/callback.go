package cuda

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"
)

var cuStreamWaitValue32 = optional("cuStreamWaitValue32_v2")

// errNotSupported is the code of devices whose streams cannot wait for memory.
const errNotSupported = 801

// Flags of cuEventCreate: a wait sleeps, and there is no time to measure.
const blockingSync, disableTiming = 1, 2

// calls are the Go functions in a stream. The driver could run them itself
// (cuLaunchHostFunc), but has one thread for those of all streams, and takes
// five times as long from the end of the work to Go code (94 and 18 us on an
// H200). So each has an event before it, for which a goroutine waits, and after
// it the stream waits for a word in memory that counts the functions which have
// returned.
type calls struct {
	// order is held while a call is asked for. The driver makes who adds work
	// wait where there is much of it, and then the goroutine has to go on.
	order sync.Mutex
	word  *uint32 // pinned memory of the driver, nil before the first call
	addr  uint64  // of word on the device
	asked uint32  // calls so far

	server sync.WaitGroup // the goroutine

	mu      sync.Mutex // of what follows
	serving bool       // the goroutine runs
	pending []streamCall
	spare   []uintptr // events that no call uses
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
	// Without streams that wait for memory, the caller keeps the order.
	if err := s.dev.handles(cuStreamSynchronize, s.handle); err != nil {
		return err
	}
	s.calls.order.Lock()
	defer s.calls.order.Unlock()
	f()
	return nil
}

// queueCall reports whether f was queued, which it is not if the driver or the
// device cannot.
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

// push adds a call. It reports whether the goroutine is to be started.
func (c *calls) push(h streamCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, h)
	start := !c.serving
	c.serving = true
	return start
}

// next takes out the first call. If there is none, the goroutine ends.
func (c *calls) next() (h streamCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.serving = len(c.pending) > 0; !c.serving {
		return h, false
	}
	h, c.pending = c.pending[0], c.pending[1:]
	return h, true
}

// serve runs functions, each after its event, until none is left.
func (c *calls) serve(d *device) {
	for h, ok := c.next(); ok; h, ok = c.next() {
		// An error is the device's, and sticks: the next wait has it too.
		if d.handles(cuEventSynchronize, h.event) == nil {
			h.f()
		}
		c.keep(h.event)
		atomic.AddUint32(c.word, 1)
	}
}

// open makes the word.
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

// event returns an event that no call uses.
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

// keep takes back an event.
func (c *calls) keep(event uintptr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = append(c.spare, event)
}

// close releases what the calls of a stream whose work is done have used.
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
