package sim

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// CopyInAsync is CopyIn: the stream does its work at once.
func (s *stream) CopyInAsync(dst driver.Memory, src unsafe.Pointer, n int64) error {
	return s.CopyIn(dst, src, n)
}

// CopyOutAsync is CopyOut: the stream does its work at once.
func (s *stream) CopyOutAsync(dst unsafe.Pointer, src driver.Memory, n int64) error {
	return s.CopyOut(dst, src, n)
}
