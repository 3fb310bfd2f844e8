package cpu

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// CopyBox copies row by row.
func (s *stream) CopyBox(c *driver.BoxCopy) error {
	s.begin()
	defer s.end()
	dst, src := address(&c.Dst), address(&c.Src)
	return c.Each(func(to, from, n int64) error {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, to)), n), unsafe.Slice((*byte)(unsafe.Add(src, from)), n))
		return nil
	})
}

// address is the same for memory of the device and of the host.
func address(b *driver.BoxSide) unsafe.Pointer {
	if b.Go != nil {
		return b.Go
	}
	return b.Memory.Host
}
