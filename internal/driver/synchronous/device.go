package synchronous

import (
	"quern.dev/internal/driver"
)

// Memory is the memory of a device. Package gpu has checked all ranges.
type Memory interface {
	// Alloc returns size > 0 bytes. Fault messages use the name.
	Alloc(size int64, name string) (driver.Memory, error)
	Free(m driver.Memory) error

	Read(dst []byte, src driver.Memory) error
	Write(dst driver.Memory, src []byte) error
	Copy(dst, src driver.Memory, n int64) error
	Fill(dst driver.Memory, pattern []byte, count int64) error
}

// Device is the part of a device that does not depend on its memory and kernels.
type Device struct {
	Memory Memory

	// Shared is a turn that all streams take in addition to their own. If it is nil,
	// the streams run concurrently.
	Shared *Turn
}

// NewStream creates a stream. All streams have the same priority.
func (d *Device) NewStream(int) (driver.Stream, error) {
	return &Stream{dev: d, own: NewTurn()}, nil
}

// NewEvent creates an event that has not been recorded.
func (d *Device) NewEvent(bool) (driver.Event, error) { return new(Event), nil }

// Close does nothing.
func (d *Device) Close() error { return nil }

// Turn is a mutex whose acquisition can be cancelled. A nil Turn does not lock.
type Turn struct{ taken chan struct{} }

// NewTurn returns a turn that is free.
func NewTurn() *Turn { return &Turn{make(chan struct{}, 1)} }

// Begin waits for the turn and takes it.
func (t *Turn) Begin() {
	if t != nil {
		t.taken <- struct{}{}
	}
}

// BeginUnless takes the turn. It returns false if done() is closed first.
func (t *Turn) BeginUnless(done func() <-chan struct{}) bool {
	if t == nil {
		return true
	}
	select {
	case t.taken <- struct{}{}:
		return true
	default:
	}
	select {
	case t.taken <- struct{}{}:
		return true
	case <-done():
		return false
	}
}

// End releases the turn.
func (t *Turn) End() {
	if t != nil {
		<-t.taken
	}
}
