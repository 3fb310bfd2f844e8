package driver

import (
	"fmt"
	"math"
	"unsafe"
)

// HostMemory is memory of the host that a device reads and writes itself: it is
// page-locked where that matters. It can be used with every device of the same
// driver.
type HostMemory interface {
	// AllocHost returns size > 0 bytes, aligned to 64 or more. Their contents are
	// undefined.
	AllocHost(size int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	// RegisterHost makes size > 0 bytes that are there such memory, until
	// UnregisterHost. The caller keeps them where they are.
	RegisterHost(p unsafe.Pointer, size int64) error
	UnregisterHost(p unsafe.Pointer) error

	// MapHost returns where kernels find size bytes of such memory, until UnmapHost,
	// which comes before the memory is freed. Host and kernels may use it at the same
	// time, by ordered accesses. It is mapped once at a time.
	MapHost(p unsafe.Pointer, size int64) (Memory, error)
	UnmapHost(m Memory) error

	// NewFence makes an event without a time. It costs the stream that records it
	// less than one of NewEvent.
	NewFence() (Event, error)

	// DirectHost reports whether the device copies from and to all of Go's memory
	// as fast as from and to this, so that nothing is gained by staging.
	DirectHost() bool
}

// HostCopies are the copies of a stream from and to memory of [HostMemory]. They
// return at once; the host's memory is in use until the stream has passed the
// copy.
type HostCopies interface {
	CopyInAsync(dst Memory, src unsafe.Pointer, n int64) error
	CopyOutAsync(dst unsafe.Pointer, src Memory, n int64) error
}

// GoAlignment is the alignment of [GoMemory] in bytes: a cache line, and the
// widest vector.
const GoAlignment = 64

// GoMemory is the host memory of devices that are part of the process: Go's.
type GoMemory struct {
	Limit int64 // bytes that the machine has, 0 if unknown
}

// AllocHost returns memory that the garbage collector frees.
func (g GoMemory) AllocHost(size int64) (p unsafe.Pointer, err error) {
	// The run-time system ends the process when memory runs out, so what cannot
	// fit is refused before it is asked for.
	if g.Limit > 0 && size > g.Limit || size > math.MaxInt-GoAlignment {
		return nil, noRoom(size)
	}
	defer func() {
		if recover() != nil {
			err = noRoom(size)
		}
	}()
	// The pointer that is returned keeps all of it; what is stored there has no pointers.
	p = unsafe.Pointer(unsafe.SliceData(make([]byte, size+GoAlignment-1)))
	return unsafe.Add(p, -uintptr(p)%GoAlignment), nil
}

func noRoom(size int64) error {
	return &Error{
		Op: "allocate", Name: "out of memory", Err: ErrOutOfMemory,
		Text: fmt.Sprintf("%d bytes are more than the machine has", size),
	}
}

// FreeHost leaves the memory to the garbage collector.
func (GoMemory) FreeHost(unsafe.Pointer) error { return nil }

// RegisterHost has nothing to do.
func (GoMemory) RegisterHost(unsafe.Pointer, int64) error { return nil }

// UnregisterHost has nothing to do.
func (GoMemory) UnregisterHost(unsafe.Pointer) error { return nil }

// MapHost has nothing to do: kernels are part of the process.
func (GoMemory) MapHost(p unsafe.Pointer, _ int64) (Memory, error) {
	return Memory{Addr: uint64(uintptr(p)), Host: p}, nil
}

// UnmapHost has nothing to do.
func (GoMemory) UnmapHost(Memory) error { return nil }

// NewFence makes an event of a stream that does its work at once.
func (GoMemory) NewFence() (Event, error) { return new(Timestamp), nil }

// DirectHost is true: all memory is the same.
func (GoMemory) DirectHost() bool { return true }
