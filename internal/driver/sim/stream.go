package sim

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"

	"quern.dev/internal/driver"
)

// stream does its work in the caller.
type stream struct {
	dev             *device
	control, record driver.Memory
	output          driver.Memory // nil address before the first kernel that prints
	calls           sync.Mutex    // held while a Go function of the stream runs
	driver.Interruptible

	// Guarded by the device's turn.
	fault    *driver.Fault
	messages []driver.Message
	dropped  int
}

func (d *device) NewStream() (driver.Stream, error) {
	control, err := d.alloc(driver.ControlSize, "fault control")
	if err != nil {
		return nil, err
	}
	record, err := d.alloc(driver.RecordSize, "fault record")
	if err != nil {
		return nil, errors.Join(err, d.Free(control))
	}
	s := &stream{dev: d, control: control, record: record}
	if err := s.reset(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// reset makes the control block and the record ready for a fault.
func (s *stream) reset() error {
	var control [driver.ControlSize]byte
	size := 0
	if s.output.Addr != 0 {
		size = driver.OutputSize
	}
	driver.PutControl(control[:], s.record.Addr, s.output.Addr, size)
	m := s.dev.memory
	return errors.Join(
		m.Write(s.control.Addr, control[:]),
		m.Write(s.record.Addr, make([]byte, driver.RecordSize)),
	)
}

// openOutput gives kernels room to print to.
func (s *stream) openOutput() error {
	if s.output.Addr != 0 {
		return nil
	}
	var err error
	if s.output, err = s.dev.alloc(driver.OutputSize, "output of kernel.Printf"); err != nil {
		return err
	}
	return s.reset()
}

// collect takes over what a kernel has printed.
func (s *stream) collect() error {
	control := make([]byte, driver.ControlSize)
	if err := s.dev.memory.Read(s.control.Addr, control); err != nil {
		return err
	}
	c := driver.ReadControl(control)
	s.dropped += c.Dropped
	if c.Printed == 0 {
		return nil
	}
	records := make([]byte, min(c.Printed, driver.OutputSize))
	if err := s.dev.memory.Read(s.output.Addr, records); err != nil {
		return err
	}
	s.messages = append(s.messages, driver.Messages(records)...)
	return errors.Join(s.dev.memory.Write(s.output.Addr, make([]byte, len(records))), s.reset())
}

func (s *stream) Launch(f driver.Function, l *driver.Frame) error {
	select {
	case s.dev.turn <- struct{}{}:
	case <-s.Interrupt.Done():
		return driver.NotBegun(l, s.Interrupt.Cause())
	}
	defer s.dev.end()
	ctx, end := s.Interrupt.Context()
	defer end()
	fault, err := s.launch(ctx, f.(*function), l)
	if fault != nil && fault.Cause != nil {
		return errors.Join(fault, err)
	}
	if s.fault == nil {
		s.fault = fault
	}
	return err
}

// launch runs a kernel and returns what stopped it. The device's turn is taken.
func (s *stream) launch(ctx context.Context, k *function, l *driver.Frame) (*driver.Fault, error) {
	l.Control = s.control.Addr
	if k.prints {
		if err := s.openOutput(); err != nil {
			return nil, err
		}
	}
	if k.Cooperative() {
		if err := s.dev.memory.Write(s.control.Addr+driver.ControlArrivals, make([]byte, 8)); err != nil {
			return nil, err
		}
	}
	o := s.dev.options
	o.Context, o.Recorded = ctx, s.recorded
	err := k.Run(l, o)
	fault, ok := errors.AsType[*driver.Fault](err)
	if ok {
		err = nil
	}
	if k.prints {
		err = errors.Join(err, s.collect())
	}
	if fault != nil || err != nil {
		err = errors.Join(err, s.reset())
	}
	return fault, err
}

// recorded returns what the kernel's own checks found.
func (s *stream) recorded() (*driver.Fault, error) {
	var b [driver.RecordSize]byte
	if err := s.dev.memory.Read(s.record.Addr, b[:]); err != nil {
		return nil, err
	}
	return driver.Record(b[:]), nil
}

func (s *stream) CopyIn(dst driver.Memory, src unsafe.Pointer, n int64) error {
	s.dev.begin()
	defer s.dev.end()
	return s.dev.memory.Write(dst.Addr, unsafe.Slice((*byte)(src), n))
}

func (s *stream) CopyOut(dst unsafe.Pointer, src driver.Memory, n int64) error {
	s.dev.begin()
	defer s.dev.end()
	return s.dev.memory.Read(src.Addr, unsafe.Slice((*byte)(dst), n))
}

func (s *stream) Copy(dst, src driver.Memory, n int64) error {
	s.dev.begin()
	defer s.dev.end()
	return s.dev.memory.Copy(dst.Addr, src.Addr, int(n))
}

func (s *stream) Fill(dst driver.Memory, pattern []byte, count int64) error {
	s.dev.begin()
	defer s.dev.end()
	return s.dev.memory.Fill(dst.Addr, len(pattern)*int(count), pattern)
}

func (s *stream) Record(e driver.Event) error {
	s.dev.begin()
	defer s.dev.end()
	e.(*driver.Timestamp).Set(time.Now())
	return nil
}

func (s *stream) Wait(driver.Event) error { return nil }

func (s *stream) Synchronize(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.dev.turn <- struct{}{}:
		s.dev.end()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stream) Fault() error {
	s.dev.begin()
	defer s.dev.end()
	f := s.fault
	if f == nil {
		return nil
	}
	s.fault = nil
	return f
}

func (s *stream) Faulted() bool {
	s.dev.begin()
	defer s.dev.end()
	return s.fault != nil
}

func (s *stream) Output() ([]driver.Message, int, error) {
	s.dev.begin()
	defer s.dev.end()
	messages, dropped := s.messages, s.dropped
	s.messages, s.dropped = nil, 0
	return messages, dropped, nil
}

func (s *stream) Close() error {
	err := errors.Join(s.dev.Free(s.record), s.dev.Free(s.control))
	if s.output.Addr != 0 {
		err = errors.Join(err, s.dev.Free(s.output))
	}
	return err
}
