package driver

import (
	"fmt"
	"math"
	"unsafe"
)

// PageLocker is implemented by devices that copy faster from and to page-locked host
// memory than from and to other memory. All devices of the same driver can use such
// memory. Their streams are [AsyncCopier]s.
type PageLocker interface {
	// AllocHost returns size > 0 bytes, aligned to at least 64. Their contents are
	// undefined.
	AllocHost(size int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	// RegisterHost page-locks size > 0 bytes of existing memory until UnregisterHost.
	// The caller must not move or free them.
	RegisterHost(p unsafe.Pointer, size int64) error
	UnregisterHost(p unsafe.Pointer) error
}

// AsyncCopier is a stream that copies from and to page-locked memory. The calls return
// at once; the host memory stays in use until the stream has passed the copy.
type AsyncCopier interface {
	CopyInAsync(dst Memory, src unsafe.Pointer, n int64) error
	CopyOutAsync(dst unsafe.Pointer, src Memory, n int64) error
}

// HostMapper is implemented by devices whose kernels can access host memory.
type HostMapper interface {
	// MapHost returns the device address of size bytes of host memory. The memory must
	// be page-locked if the device is a [PageLocker]. The mapping lasts until
	// UnmapHost, which must be called before the memory is freed. Host and kernels may
	// use the memory at the same time with ordered accesses. Memory is mapped at most
	// once at a time.
	MapHost(p unsafe.Pointer, size int64) (Memory, error)
	UnmapHost(m Memory) error
}

// GoAlignment is the alignment of [GoMemory] in bytes: the size of a cache line and of
// the widest vector.
const GoAlignment = 64

// GoMemory provides the methods of a [PageLocker] over Go memory, for devices that are
// not PageLockers.
type GoMemory struct {
	Limit int64 // bytes of memory in the machine, 0 if unknown
}

// AllocHost returns memory that the garbage collector frees.
func (g GoMemory) AllocHost(size int64) (p unsafe.Pointer, err error) {
	// The run-time system ends the process when memory runs out, so a request that
	// cannot fit is rejected first.
	if g.Limit > 0 && size > g.Limit || size > math.MaxInt-GoAlignment {
		return nil, noRoom(size)
	}
	defer func() {
		if recover() != nil {
			err = noRoom(size)
		}
	}()
	// The returned pointer keeps the whole allocation alive; the memory holds no
	// pointers.
	p = unsafe.Pointer(unsafe.SliceData(make([]byte, size+GoAlignment-1)))
	return unsafe.Add(p, -uintptr(p)%GoAlignment), nil
}

func noRoom(size int64) error {
	return &Error{
		Op: "allocate", Name: "out of memory", Err: ErrOutOfMemory,
		Text: fmt.Sprintf("%d bytes are more than the machine has", size),
	}
}

// FreeHost does nothing: the garbage collector frees the memory.
func (GoMemory) FreeHost(unsafe.Pointer) error { return nil }

// RegisterHost does nothing.
func (GoMemory) RegisterHost(unsafe.Pointer, int64) error { return nil }

// UnregisterHost does nothing.
func (GoMemory) UnregisterHost(unsafe.Pointer) error { return nil }
