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

// Priorities returns CUDA's range, whose numbers are smaller for what goes
// first, with the other sign.
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

// newHandle makes a stream of the driver.
func (d *device) newHandle(priority int) (handle uintptr, err error) {
	if priority == 0 {
		err = d.call(cuStreamCreate, uintptr(unsafe.Pointer(&handle)), streamNonBlocking)
	} else {
		err = d.call(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(&handle)), streamNonBlocking, uintptr(-priority))
	}
	return handle, err
}

// spareStreams are streams of the driver that nobody uses, by priority.
//
// The driver has room for a few dozen streams. When it makes room for more it waits
// until no kernel runs, and only it knows when that is. So streams are made while no
// persistent kernel runs, many at a time, and used again.
type spareStreams struct {
	mu   sync.Mutex
	free map[int][]uintptr
}

// streamBatch is how many streams are made at once beside persistent kernels.
const streamBatch = 16

// take returns a stream, if there is one.
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

// put keeps a stream whose work is done. It reports false if there are enough.
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

// takeHandle returns a stream of the driver that is not in use.
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

// spareSome makes streams for those who come while persistent kernels run.
func (d *device) spareSome() error {
	if d.streams.count(0) >= streamBatch/2 {
		return nil
	}
	return d.Apart(driver.NewStreams, func() error { return d.spare(0) })
}

// spare makes a batch of streams, unless somebody else has meanwhile. No persistent
// kernel runs.
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

// putHandle gives back a stream of the driver whose work is done.
func (d *device) putHandle(priority int, handle uintptr) error {
	if d.HasPersistent() {
		if idle, err := d.query(cuStreamQuery, handle); idle && err == nil && d.streams.put(priority, handle) {
			return nil
		}
	}
	return d.handles(cuStreamDestroy, handle)
}

// closeStreams destroys the streams that nobody uses.
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
