package cuda

import (
	"errors"
	"math"
	"unsafe"

	"quern.dev/internal/driver"
)

// Stream-ordered allocation came with CUDA 11.2.
var (
	cuMemPoolCreate         = optional("cuMemPoolCreate")
	cuMemPoolDestroy        = optional("cuMemPoolDestroy")
	cuMemPoolSetAttribute   = optional("cuMemPoolSetAttribute")
	cuMemPoolTrimTo         = optional("cuMemPoolTrimTo")
	cuMemAllocFromPoolAsync = optional("cuMemAllocFromPoolAsync")
	cuMemFreeAsync          = optional("cuMemFreeAsync")
)

// memoryPoolsSupported is the CUdevice_attribute of devices with pools.
const memoryPoolsSupported = 115

// poolProperties is CUmemPoolProps.
type poolProperties struct {
	allocation   int32 // CU_MEM_ALLOCATION_TYPE_PINNED
	handles      int32 // CU_MEM_HANDLE_TYPE_NONE
	locationType int32 // CU_MEM_LOCATION_TYPE_DEVICE
	location     int32 // number of the device
	security     uintptr
	_            [64]byte // maximum size, usage, reserved
}

// poolReleaseThreshold is CU_MEMPOOL_ATTR_RELEASE_THRESHOLD.
const poolReleaseThreshold = 4

// pool is a pool of the driver's stream-ordered allocator.
type pool struct {
	dev    *device
	handle uintptr // CUmemoryPool
}

// NewPool creates a pool of the driver, or one over cuMemAlloc and cuMemFree if the
// driver has none.
func (d *device) NewPool(keep int64) (driver.Pool, error) {
	supported, err := d.api.attribute(d.handle, memoryPoolsSupported)
	if err != nil || supported == 0 || !d.api.has(cuMemPoolCreate, cuMemPoolDestroy, cuMemPoolSetAttribute,
		cuMemPoolTrimTo, cuMemAllocFromPoolAsync, cuMemFreeAsync) {
		return driver.PlainPool(d), nil
	}
	p := &pool{dev: d}
	properties := &poolProperties{allocation: 1, locationType: 1, location: d.handle}
	if err := d.call(cuMemPoolCreate, uintptr(unsafe.Pointer(&p.handle)), uintptr(unsafe.Pointer(properties))); err != nil {
		return nil, err
	}
	threshold := uint64(keep)
	if keep == math.MaxInt64 {
		threshold = math.MaxUint64
	}
	if err := d.call(cuMemPoolSetAttribute, p.handle, poolReleaseThreshold, uintptr(unsafe.Pointer(&threshold))); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *pool) Alloc(s driver.Stream, size int64) (driver.Memory, error) {
	var addr uint64
	err := p.dev.call(cuMemAllocFromPoolAsync, uintptr(unsafe.Pointer(&addr)), uintptr(size), p.handle, s.(*stream).handle)
	return driver.Memory{Addr: addr}, err
}

func (p *pool) Free(s driver.Stream, m driver.Memory) error {
	if s == nil {
		return p.dev.Free(m)
	}
	return p.dev.handles(cuMemFreeAsync, uintptr(m.Addr), s.(*stream).handle)
}

func (p *pool) Trim() error { return p.dev.handles(cuMemPoolTrimTo, p.handle, 0) }

func (p *pool) Close() error { return p.dev.handles(cuMemPoolDestroy, p.handle) }

func (s *stream) Idle() (bool, error) { return s.dev.query(cuStreamQuery, s.handle) }
