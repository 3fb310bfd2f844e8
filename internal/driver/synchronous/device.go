package synchronous

import (
	"quern.dev/internal/driver"
)

// Memory is the memory of a device. Package gpu has checked all ranges.
type Memory interface {
	// Alloc returns size > 0 bytes. Messages about faults call them by the name.
	Alloc(size int64, name string) (driver.Memory, error)
	Free(m driver.Memory) error

	Read(dst []byte, src driver.Memory) error
	Write(dst driver.Memory, src []byte) error
	Copy(dst, src driver.Memory, n int64) error
	Fill(dst driver.Memory, pattern []byte, count int64) error
}

// Device is the part of a device that its memory and its kernels do not matter for.
type Device struct {
	Memory Memory

	// Shared is the turn that all streams take besides their own. If it is nil, the
	// streams work side by side.
	Shared *Turn
}

// NewStream makes a stream. All have the same priority.
func (d *Device) NewStream(int) (driver.Stream, error) {
	return &Stream{dev: d, own: NewTurn()}, nil
}

// NewEvent makes an event that was not recorded.
func (d *Device) NewEvent(bool) (driver.Event, error) { return new(Event), nil }

// Close has nothing to release.
func (d *Device) Close() error { return nil }

// Turn lets one call work at a time. It is a channel so that a wait for it can be
// cancelled. A nil Turn lets all work.
type Turn struct{ taken chan struct{} }

// NewTurn returns a turn that nobody has.
func NewTurn() *Turn { return &Turn{make(chan struct{}, 1)} }

// Begin waits for the turn and takes it.
func (t *Turn) Begin() {
	if t != nil {
		t.taken <- struct{}{}
	}
}

// BeginUnless takes the turn, or returns false if done() is closed before.
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

// End gives the turn back.
func (t *Turn) End() {
	if t != nil {
		<-t.taken
	}
}
