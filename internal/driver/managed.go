package driver

import "unsafe"

// ManagedMemory is implemented by devices with memory that device and host reach at
// the same address, and that moves between them as they use it.
type ManagedMemory interface {
	// AllocManaged returns size > 0 bytes, and where the host finds them. Free
	// frees them. It returns [errors.ErrUnsupported] if the device has no such
	// memory.
	AllocManaged(size int64) (Memory, unsafe.Pointer, error)
}

// ManagedMover is implemented by devices that take hints about managed memory.
type ManagedMover interface {
	// Advise says how the memory will be used.
	Advise(m Memory, size int64, a Advice) error
	// Prefetch moves it to the device or to the host, in the order of a stream. It
	// may do nothing.
	Prefetch(s Stream, m Memory, size int64, toHost bool) error
}

// Advice is how managed memory will be used.
type Advice uint8

// Kinds of advice.
const (
	AdviceNone           Advice = iota // forget what was said before
	AdviceReadMostly                   // make copies rather than move it
	AdvicePreferDevice                 // leave it on the device
	AdvicePreferHost                   // leave it on the host
	AdviceAccessedByHost               // let the host reach it where it is
)
