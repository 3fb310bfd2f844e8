package driver

import (
	"fmt"
	"math"
	"unsafe"
)

// PageLocker is implemented by devices that copy faster from and to page-locked
// memory of the host than from and to other memory. Such memory can be used with
// every device of the same driver. Their streams are [AsyncCopier]s.
type PageLocker interface {
	// AllocHost returns size > 0 bytes, aligned to 64 or more. Their contents are
	// undefined.
	AllocHost(size int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	// RegisterHost makes size > 0 bytes that are there page-locked, until
	// UnregisterHost. The caller keeps them where they are.
	RegisterHost(p unsafe.Pointer, size int64) error
	UnregisterHost(p unsafe.Pointer) error
}

// AsyncCopier is a stream that copies from and to page-locked memory. The calls
// return at once; the host's memory is in use until the stream has passed the copy.
type AsyncCopier interface {
	CopyInAsync(dst Memory, src unsafe.Pointer, n int64) error
	CopyOutAsync(dst unsafe.Pointer, src Memory, n int64) error
}

// HostMapper is implemented by devices whose kernels reach memory of the host.
type HostMapper interface {
	// MapHost returns where kernels find size bytes of the host's memory, which is
	// page-locked if the device is a [PageLocker], until UnmapHost, which comes before
	// the memory is freed. Host and kernels may use it at the same time, by ordered
	// accesses. It is mapped once at a time.
	MapHost(p unsafe.Pointer, size int64) (Memory, error)
	UnmapHost(m Memory) error
}

// GoAlignment is the alignment of [GoMemory] in bytes: a cache line, and the
// widest vector.
const GoAlignment = 64

// GoMemory is Go's memory as that of a [PageLocker], for devices that are none.
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
