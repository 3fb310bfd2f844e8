package driver

import "unsafe"

// ManagedMemory is implemented by devices with memory that device and host access at
// the same address, and that migrates between them on use.
type ManagedMemory interface {
	// AllocManaged returns size > 0 bytes and their address on the host. Free frees
	// them. It returns [errors.ErrUnsupported] if the device has no managed memory.
	AllocManaged(size int64) (Memory, unsafe.Pointer, error)
}

// ManagedMover is implemented by devices that accept hints about managed memory.
type ManagedMover interface {
	// Advise says how the memory will be used.
	Advise(m Memory, size int64, a Advice) error
	// Prefetch migrates the memory to the device or to the host, in stream order. It
	// may do nothing.
	Prefetch(s Stream, m Memory, size int64, toHost bool) error
}

// Advice is how managed memory will be used.
type Advice uint8

// Kinds of advice.
const (
	AdviceNone           Advice = iota // cancel earlier advice
	AdviceReadMostly                   // replicate instead of migrating
	AdvicePreferDevice                 // keep on the device
	AdvicePreferHost                   // keep on the host
	AdviceAccessedByHost               // map into the host instead of migrating
)
