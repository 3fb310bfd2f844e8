package synchronous

import (
	"context"
	"errors"
	"time"

	"quern.dev/internal/driver"
)

// Kernel is a function of a device.
type Kernel interface {
	driver.Function

	// Run runs a launch on s and returns when it has ended. The caller holds the turn
	// of s. The fault is what stopped the kernel; the error is why it could not run.
	Run(s *Stream, l *driver.Frame) (*driver.Fault, error)

	NewInline(s *Stream, l *driver.Frame) (driver.Inline, error)
}

// Stream does its work in the calling goroutine, one call at a time.
type Stream struct {
	Interruptible

	dev *Device
	own *Turn // taken before dev.Shared

	control control

	// Guarded by the turns.
	fault    *driver.Fault
	messages []driver.Message
	dropped  int
}

func (s *Stream) begin() {
	s.own.Begin()
	s.dev.Shared.Begin()
}

func (s *Stream) end() {
	s.dev.Shared.End()
	s.own.End()
}

// beginUnlessGivenUp takes the turns. It returns false if the stream's work is
// cancelled first.
func (s *Stream) beginUnlessGivenUp() bool {
	if !s.own.BeginUnless(s.Interrupt.Done) {
		return false
	}
	if !s.dev.Shared.BeginUnless(s.Interrupt.Done) {
		s.own.End()
		return false
	}
	return true
}

// Launch runs a kernel. A fault is kept for the next wait, unless the launch was
// cancelled.
func (s *Stream) Launch(f driver.Function, l *driver.Frame) error {
	if !s.beginUnlessGivenUp() {
		return NotBegun(l, s.Interrupt.Cause())
	}
	defer s.end()
	fault, err := f.(Kernel).Run(s, l)
	if fault != nil && fault.Cause != nil {
		return errors.Join(fault, err)
	}
	if s.fault == nil {
		s.fault = fault
	}
	return err
}

// CallHost runs f in the caller. Streams that share a turn do not wait for it.
func (s *Stream) CallHost(f func()) error {
	s.own.Begin()
	defer s.own.End()
	f()
	return nil
}

// Record sets the event to now.
func (s *Stream) Record(e driver.Event) error {
	s.begin()
	defer s.end()
	e.(*Event).Set(time.Now())
	return nil
}

// Wait does nothing: recorded work is already done.
func (s *Stream) Wait(driver.Event) error { return nil }

// Synchronize waits for the call in progress.
func (s *Stream) Synchronize(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.own.BeginUnless(ctx.Done) {
		return ctx.Err()
	}
	s.own.End()
	return nil
}

// Fault returns and clears the stream's fault.
func (s *Stream) Fault() error {
	s.begin()
	defer s.end()
	f := s.fault
	if f == nil {
		return nil
	}
	s.fault = nil
	return f
}

// Faulted reports whether Fault has something to return.
func (s *Stream) Faulted() bool {
	s.begin()
	defer s.end()
	return s.fault != nil
}

// Close frees the stream's device memory.
func (s *Stream) Close() error { return s.control.free(s.dev.Memory) }
