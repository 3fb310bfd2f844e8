package cuda

import (
	"errors"
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

func (d *device) NewPriorityStream(priority int) (driver.Stream, error) {
	s := &stream{dev: d}
	at := uintptr(unsafe.Pointer(&s.handle))
	var err error
	if priority == 0 {
		err = d.call(cuStreamCreate, at, streamNonBlocking)
	} else {
		err = d.call(cuStreamCreateWithPriority, at, streamNonBlocking, uintptr(-priority))
	}
	if err != nil {
		return nil, err
	}
	if s.slot, err = d.takeSlot(s); err != nil {
		return nil, errors.Join(err, d.handles(cuStreamDestroy, s.handle))
	}
	return s, nil
}
