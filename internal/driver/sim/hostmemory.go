package sim

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// MapHost gives the memory an address of the simulator's.
func (d *device) MapHost(p unsafe.Pointer, size int64) (driver.Memory, error) {
	d.begin()
	defer d.end()
	addr, err := d.memory.Adopt(unsafe.Slice((*byte)(p), size), "host memory")
	return driver.Memory{Addr: addr}, err
}

// UnmapHost ends the address, so that a later use of it is found.
func (d *device) UnmapHost(m driver.Memory) error {
	d.begin()
	defer d.end()
	return d.memory.Free(m.Addr)
}

// CopyInAsync is CopyIn: the stream does its work at once.
func (s *stream) CopyInAsync(dst driver.Memory, src unsafe.Pointer, n int64) error {
	return s.CopyIn(dst, src, n)
}

// CopyOutAsync is CopyOut: the stream does its work at once.
func (s *stream) CopyOutAsync(dst unsafe.Pointer, src driver.Memory, n int64) error {
	return s.CopyOut(dst, src, n)
}
