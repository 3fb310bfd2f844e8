package cuda

import (
	"unsafe"

	"quern.dev/internal/driver"
)

var (
	cuMemHostRegister   = optional("cuMemHostRegister_v2")
	cuMemHostUnregister = optional("cuMemHostUnregister")
)

// AllocHost returns memory usable in all contexts, so that all GPUs can copy from it.
func (d *device) AllocHost(size int64) (unsafe.Pointer, error) {
	p := new(unsafe.Pointer)
	err := d.call(cuMemHostAlloc, uintptr(unsafe.Pointer(p)), uintptr(size), hostPortableMapped)
	return *p, err
}

func (d *device) FreeHost(p unsafe.Pointer) error {
	return d.handles(cuMemFreeHost, uintptr(p))
}

// RegisterHost uses the same flags as cuMemHostAlloc.
func (d *device) RegisterHost(p unsafe.Pointer, size int64) error {
	return d.call(cuMemHostRegister, uintptr(p), uintptr(size), hostPortableMapped)
}

func (d *device) UnregisterHost(p unsafe.Pointer) error {
	return d.handles(cuMemHostUnregister, uintptr(p))
}

func (d *device) MapHost(p unsafe.Pointer, _ int64) (driver.Memory, error) {
	var addr uint64
	err := d.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&addr)), uintptr(p), 0)
	return driver.Memory{Addr: addr}, err
}

// UnmapHost does nothing: memory stays mapped as long as it is page-locked.
func (d *device) UnmapHost(driver.Memory) error { return nil }

// CopyInAsync requires src to be pinned, or not Go memory.
func (s *stream) CopyInAsync(dst driver.Memory, src unsafe.Pointer, n int64) error {
	return s.dev.handles(cuMemcpyHtoDAsync, uintptr(dst.Addr), uintptr(src), uintptr(n), s.handle)
}

// CopyOutAsync requires dst to be pinned, or not Go memory.
func (s *stream) CopyOutAsync(dst unsafe.Pointer, src driver.Memory, n int64) error {
	return s.dev.handles(cuMemcpyDtoHAsync, uintptr(dst), uintptr(src.Addr), uintptr(n), s.handle)
}
