package driver

import (
	"encoding/binary"

	"quern.dev/kernel"
)

// Sizes in bytes of a stream's control block and of its fault record.
const (
	ControlSize = 40
	RecordSize  = 64
)

// Kind is the kind of a fault.
type Kind uint8

// Kinds of faults. The kernel's own checks find the first ones; the simulator finds the
// rest.
const (
	KindUnknown Kind = iota
	KindRange
	KindDivide
	KindShift
	KindPanic
	KindNil
	KindMemory
	KindMisaligned
	KindFreed
	KindRace
	KindBarrier
	KindUninitialized
	KindBudget
	KindTrap
	KindGivenUp
)

// Fault describes why a kernel stopped. It is an error so that [Stream.Fault] can
// return either it or an [*Error].
type Fault struct {
	ID uint32 // of the Frame

	// Site is the index of the check that failed. It is negative if the other
	// fields describe the fault.
	Site int

	Kind Kind
	File string // as in PTX; a path for a kernel compiled to Go
	Line int
	// Package is the import path of the Go function that failed, empty for PTX.
	Package string
	Reason  string

	// Cause is why the launch was cancelled. Such a fault is not kept for the next
	// wait: the call that launched the kernel returns it.
	Cause error
	// Access is set if the simulator rejected an access to global memory.
	Access *Access
	// Other is the other access of a data race.
	Other *Other

	HasIndex      bool
	Index, Length int64
	Block, Thread kernel.Dim3
}

func (f *Fault) Error() string { return "kernel fault: " + f.Reason }

// Unwrap returns the cause of a cancelled launch.
func (f *Fault) Unwrap() error { return f.Cause }

// Other is where another thread has accessed the same memory.
type Other struct {
	File          string // as in PTX; empty if unknown
	Line          int
	Block, Thread kernel.Dim3
}

// Access describes an access to global memory. It has what a caller needs to find the
// launch argument that was accessed.
type Access struct {
	Address uint64
	Size    int    // in bytes
	Write   bool   // a store or an atomic access
	Lo, Hi  uint64 // bounds of the allocation that the address belongs to; see ptxvm.GlobalAccess
	Where   string // the part of the fault's Reason that says where the address is

	Slices []SliceArg
}

// SliceArg is a slice argument of a launch.
type SliceArg struct {
	Param  int // parameter number
	Addr   uint64
	Length int64 // elements
}

// Record decodes a fault record of RecordSize bytes. It returns nil if the record is
// not complete.
//
//	 0 u32 state, 1 when complete
//	 4 u32 site
//	 8 u32 kernel (Frame.ID)
//	12 u32 not zero if kernels have printed
//	16 s64 index
//	24 s64 length
//	32 u32 x 3 block
//	44 u32 x 3 thread
func Record(b []byte) *Fault {
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	if word(0) != 1 {
		return nil
	}
	dim := func(at int) kernel.Dim3 {
		return kernel.Dim3{X: int(word(at)), Y: int(word(at + 4)), Z: int(word(at + 8))}
	}
	return &Fault{
		Site:     int(word(4)),
		ID:       word(8),
		HasIndex: true,
		Index:    int64(binary.LittleEndian.Uint64(b[16:])),
		Length:   int64(binary.LittleEndian.Uint64(b[24:])),
		Block:    dim(32),
		Thread:   dim(44),
	}
}
