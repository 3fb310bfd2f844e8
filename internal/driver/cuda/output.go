package cuda

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/driver"
)

// output is the buffer that the kernels of a stream print to.
type output struct {
	// mu is held while a kernel that prints is queued, and while the output is read.
	mu   sync.Mutex
	addr uint64 // device address of driver.OutputSize bytes, 0 before the first such kernel
}

// launchPrinting queues a kernel that prints.
func (s *stream) launchPrinting(launch func() error) error {
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	if s.output.addr == 0 {
		if err := s.openOutput(); err != nil {
			return err
		}
	}
	return launch()
}

// openOutput allocates the stream's output buffer. Kernels queued so far do not print,
// so none of them reads the part of the control block that changes.
func (s *stream) openOutput() error {
	d := s.dev
	var addr uint64
	if err := d.call(cuMemAlloc, uintptr(unsafe.Pointer(&addr)), driver.OutputSize); err != nil {
		return err
	}
	err := d.handles(cuMemsetD32Async, uintptr(addr), 0, driver.OutputSize/4, s.handle)
	if err == nil {
		err = s.pointOutput(addr, driver.OutputSize)
	}
	if err != nil {
		return errors.Join(err, d.handles(cuMemFree, uintptr(addr)))
	}
	s.output.addr = addr
	return nil
}

// pointOutput makes kernels print to size bytes at addr.
func (s *stream) pointOutput(addr uint64, size int) error {
	var control [driver.ControlSize]byte
	driver.PutControl(control[:], 0, addr, size)
	return s.slot.write(s, driver.ControlOutput, control[driver.ControlOutput:])
}

// Output returns and clears the output of the stream's kernels and of graphs that ran
// on the stream.
func (s *stream) Output() ([]driver.Message, int, error) {
	own, dropped, err := s.ownOutput()
	if err != nil {
		return own, dropped, err
	}
	others, n, err := s.replayOutput()
	return append(own, others...), dropped + n, err
}

// printed reports whether kernels have printed.
func (s *stream) printed() bool {
	return atomic.LoadUint32((*uint32)(unsafe.Add(s.slot.record, driver.RecordPrinted))) != 0
}

// ownOutput returns and clears the output of the stream's own kernels. Later printing
// work on the stream waits until this is done.
func (s *stream) ownOutput() ([]driver.Message, int, error) {
	if !s.printed() {
		return nil, 0, nil
	}
	printed := (*uint32)(unsafe.Add(s.slot.record, driver.RecordPrinted))
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	if atomic.SwapUint32(printed, 0) == 0 {
		return nil, 0, nil // another wait has returned it
	}
	block := make([]byte, driver.ControlSize)
	records := make([]byte, driver.OutputSize)
	err := s.CopyOut(unsafe.Pointer(unsafe.SliceData(block)), driver.Memory{Addr: s.slot.control}, driver.ControlSize)
	if err == nil {
		err = s.CopyOut(unsafe.Pointer(unsafe.SliceData(records)), driver.Memory{Addr: s.output.addr}, driver.OutputSize)
	}
	if err == nil {
		err = s.clearOutput()
	}
	if err != nil {
		return nil, 0, err
	}
	return driver.Messages(records), driver.ReadControl(block).Dropped, nil
}

func (s *stream) clearOutput() error {
	d := s.dev
	return errors.Join(
		d.handles(cuMemsetD32Async, uintptr(s.output.addr), 0, driver.OutputSize/4, s.handle),
		d.handles(cuMemsetD32Async, uintptr(s.slot.control+driver.ControlPrinted), 0, 1, s.handle),
		d.handles(cuMemsetD32Async, uintptr(s.slot.control+driver.ControlDropped), 0, 1, s.handle),
	)
}

// closeOutput releases the output of a stream whose work is done, and resets its slot
// for another stream.
func (s *stream) closeOutput() error {
	if s.output.addr == 0 {
		return nil
	}
	addr := s.output.addr
	s.output.addr = 0
	return errors.Join(s.pointOutput(0, 0), s.dev.handles(cuMemFree, uintptr(addr)))
}
