package cuda

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/driver"
)

// Flags of cuMemHostAlloc: memory usable in all contexts and writable by devices.
const hostPortableMapped = 1 | 2

// faultSlot holds the control block and the fault record of a stream.
type faultSlot struct {
	control uint64         // device address
	record  unsafe.Pointer // pinned memory allocated by the driver
}

// takeSlot returns a slot for a new stream.
func (d *device) takeSlot(s *stream) (faultSlot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.slots); n > 0 {
		slot := d.slots[n-1]
		d.slots = d.slots[:n-1]
		return slot, nil
	}
	return d.newSlot(s)
}

// putSlot returns the slot of a stream for reuse. The stream's work is done and its
// fault has been read.
func (d *device) putSlot(slot faultSlot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots = append(d.slots, slot)
}

func (d *device) newSlot(s *stream) (slot faultSlot, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, slot.free(d))
		}
	}()
	if err = d.call(cuMemAlloc, uintptr(unsafe.Pointer(&slot.control)), driver.ControlSize); err != nil {
		return slot, err
	}
	if err = d.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&slot.record)), driver.RecordSize, hostPortableMapped); err != nil {
		return slot, err
	}
	clear(slot.bytes())
	var record uint64
	if err = d.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&record)), uintptr(slot.record), 0); err != nil {
		return slot, err
	}
	control := make([]byte, driver.ControlSize)
	driver.PutControl(control, record, 0, 0)
	return slot, slot.write(s, 0, control)
}

// write writes bytes at an offset in the control block and waits for the write.
func (slot faultSlot) write(s *stream, at uint64, b []byte) error {
	err := s.CopyIn(driver.Memory{Addr: slot.control + at}, unsafe.Pointer(unsafe.SliceData(b)), int64(len(b)))
	return errors.Join(err, s.dev.handles(cuStreamSynchronize, s.handle))
}

func (slot faultSlot) bytes() []byte {
	return unsafe.Slice((*byte)(slot.record), driver.RecordSize)
}

func (slot faultSlot) free(d *device) error {
	var errs []error
	if slot.control != 0 {
		errs = append(errs, d.handles(cuMemFree, uintptr(slot.control)))
	}
	if slot.record != nil {
		errs = append(errs, d.handles(cuMemFreeHost, uintptr(slot.record)))
	}
	return errors.Join(errs...)
}

// Fault returns the fault of a kernel launched on the stream, or of a graph that ran on
// it.
func (s *stream) Fault() error {
	if err := s.takeFault(s.handle); err != nil {
		return err
	}
	return s.replayFault()
}

// Faulted reads the record's state, which the GPU writes last.
func (s *stream) Faulted() bool {
	return atomic.LoadUint32((*uint32)(s.slot.record)) == 1
}

// takeFault returns the fault in the record and clears the record, in the order of the
// stream with the given handle. The order matters: a kernel may claim the record as
// soon as claim is zero, and must then find state zero.
func (s *stream) takeFault(handle uintptr) error {
	state := (*uint32)(s.slot.record)
	if atomic.LoadUint32(state) != 1 {
		return nil
	}
	f := driver.Record(s.slot.bytes())
	if f == nil || !atomic.CompareAndSwapUint32(state, 1, 0) {
		return nil // another wait has returned it
	}
	if err := s.dev.handles(cuMemsetD32Async, uintptr(s.slot.control), 0, 1, handle); err != nil {
		return errors.Join(f, err)
	}
	return f
}
