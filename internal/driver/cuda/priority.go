package cuda

import (
	"errors"
	"sync"
	"unsafe"

	"quern.dev/internal/driver"
)

var (
	cuCtxGetStreamPriorityRange = optional("cuCtxGetStreamPriorityRange")
	cuStreamCreateWithPriority  = optional("cuStreamCreateWithPriority")
)

// Priorities returns CUDA's range with the sign reversed: in CUDA, smaller numbers go
// first.
func (d *device) Priorities() (least, greatest int) {
	var low, high int32
	if !d.api.has(cuStreamCreateWithPriority) ||
		d.call(cuCtxGetStreamPriorityRange, uintptr(unsafe.Pointer(&low)), uintptr(unsafe.Pointer(&high))) != nil {
		return 0, 0
	}
	return -int(low), -int(high)
}

func (d *device) NewStream(priority int) (driver.Stream, error) {
	s := &stream{dev: d, priority: priority}
	var err error
	if s.handle, err = d.takeHandle(priority); err != nil {
		return nil, err
	}
	if s.slot, err = d.takeSlot(s); err != nil {
		return nil, errors.Join(err, d.handles(cuStreamDestroy, s.handle))
	}
	return s, nil
}

// newHandle creates a driver stream.
func (d *device) newHandle(priority int) (handle uintptr, err error) {
	if priority == 0 {
		err = d.call(cuStreamCreate, uintptr(unsafe.Pointer(&handle)), streamNonBlocking)
	} else {
		err = d.call(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(&handle)), streamNonBlocking, uintptr(-priority))
	}
	return handle, err
}

// spareStreams holds unused driver streams by priority.
//
// The driver has room for a few dozen streams. When it makes room for more, it waits
// until no kernel runs, and the program cannot tell when this will happen. So streams
// are created in batches while no persistent kernel runs, and are reused.
type spareStreams struct {
	mu   sync.Mutex
	free map[int][]uintptr
}

// streamBatch is the number of streams created at once if there are persistent kernels.
const streamBatch = 16

// take returns a stream if there is one.
func (s *spareStreams) take(priority int) (handle uintptr, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.free[priority]
	if len(list) == 0 {
		return 0, false
	}
	handle = list[len(list)-1]
	s.free[priority] = list[:len(list)-1]
	return handle, true
}

func (s *spareStreams) count(priority int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.free[priority])
}

// put keeps a stream whose work is done. It returns false if there are enough already.
func (s *spareStreams) put(priority int, handle uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free[priority]) >= 4*streamBatch {
		return false
	}
	if s.free == nil {
		s.free = map[int][]uintptr{}
	}
	s.free[priority] = append(s.free[priority], handle)
	return true
}

// takeHandle returns an unused driver stream.
func (d *device) takeHandle(priority int) (uintptr, error) {
	for {
		if handle, ok := d.streams.take(priority); ok {
			return handle, nil
		}
		if !d.HasPersistent() {
			return d.newHandle(priority)
		}
		if err := d.Apart(driver.NewStreams, func() error { return d.spare(priority) }); err != nil {
			return 0, err
		}
	}
}

// spareSome creates streams to be used later, while persistent kernels run.
func (d *device) spareSome() error {
	if d.streams.count(0) >= streamBatch/2 {
		return nil
	}
	return d.Apart(driver.NewStreams, func() error { return d.spare(0) })
}

// spare creates a batch of streams, unless another goroutine has done so meanwhile. No
// persistent kernel may run.
func (d *device) spare(priority int) error {
	for d.streams.count(priority) < streamBatch {
		handle, err := d.newHandle(priority)
		if err != nil {
			return err
		}
		d.streams.put(priority, handle)
	}
	return nil
}

// putHandle returns a driver stream whose work is done.
func (d *device) putHandle(priority int, handle uintptr) error {
	if d.HasPersistent() {
		if idle, err := d.query(cuStreamQuery, handle); idle && err == nil && d.streams.put(priority, handle) {
			return nil
		}
	}
	return d.handles(cuStreamDestroy, handle)
}

// closeStreams destroys the unused streams.
func (d *device) closeStreams() error {
	var errs []error
	for priority := range d.streams.free {
		for {
			handle, ok := d.streams.take(priority)
			if !ok {
				break
			}
			errs = append(errs, d.handles(cuStreamDestroy, handle))
		}
	}
	return errors.Join(errs...)
}
