package synchronous

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// CopyIn copies from Go memory.
func (s *Stream) CopyIn(dst driver.Memory, src unsafe.Pointer, n int64) error {
	s.begin()
	defer s.end()
	return s.dev.Memory.Write(dst, unsafe.Slice((*byte)(src), n))
}

// CopyOut copies to Go memory.
func (s *Stream) CopyOut(dst unsafe.Pointer, src driver.Memory, n int64) error {
	s.begin()
	defer s.end()
	return s.dev.Memory.Read(unsafe.Slice((*byte)(dst), n), src)
}

// Copy copies within the device.
func (s *Stream) Copy(dst, src driver.Memory, n int64) error {
	s.begin()
	defer s.end()
	return s.dev.Memory.Copy(dst, src, n)
}

// Fill repeats a pattern.
func (s *Stream) Fill(dst driver.Memory, pattern []byte, count int64) error {
	s.begin()
	defer s.end()
	return s.dev.Memory.Fill(dst, pattern, count)
}

// CopyBox copies piece by piece.
func (s *Stream) CopyBox(c *driver.BoxCopy) error {
	s.begin()
	defer s.end()
	m := s.dev.Memory
	return c.Each(func(dst, src, n int64) error {
		switch {
		case c.Src.Go != nil:
			return m.Write(c.Dst.Memory.Offset(dst), unsafe.Slice((*byte)(unsafe.Add(c.Src.Go, src)), n))
		case c.Dst.Go != nil:
			return m.Read(unsafe.Slice((*byte)(unsafe.Add(c.Dst.Go, dst)), n), c.Src.Memory.Offset(src))
		default:
			return m.Copy(c.Dst.Memory.Offset(dst), c.Src.Memory.Offset(src), n)
		}
	})
}
