package sim

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// CopyBox copies row by row.
func (s *stream) CopyBox(c *driver.BoxCopy) error {
	s.dev.begin()
	defer s.dev.end()
	m := s.dev.memory
	return c.Each(func(dst, src, n int64) error {
		switch {
		case c.Src.Go != nil:
			return m.Write(c.Dst.Memory.Offset(dst).Addr, unsafe.Slice((*byte)(unsafe.Add(c.Src.Go, src)), n))
		case c.Dst.Go != nil:
			return m.Read(c.Src.Memory.Offset(src).Addr, unsafe.Slice((*byte)(unsafe.Add(c.Dst.Go, dst)), n))
		default:
			return m.Copy(c.Dst.Memory.Offset(dst).Addr, c.Src.Memory.Offset(src).Addr, int(n))
		}
	})
}
