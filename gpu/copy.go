package gpu

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/internal/trace"
)

// Upload allocates a buffer and copies src to it. When it returns, src may be changed. The
// caller closes the buffer.
func Upload[T any](s *Stream, src []T) (*Buffer[T], error) {
	if err := s.check(); err != nil {
		return nil, driverError("upload", err)
	}
	b, err := allocBuffer[T]("upload", s.dev, len(src))
	if err != nil {
		return nil, err
	}
	if err := CopyIn(s, b, src); err != nil {
		b.Close()
		return nil, partOf("upload", err)
	}
	return b, nil
}

// CopyIn copies src to dst, which has the same length. When it returns, src may be changed.
func CopyIn[T any](s *Stream, dst *Buffer[T], src []T) error {
	c, err := s.enter()
	if err != nil {
		return driverError("copy in", err)
	}
	defer s.release()
	if err := dst.acquireOn(s, writes); err != nil {
		return driverError("copy in", err)
	}
	defer dst.mem.release()
	if len(src) != dst.length {
		return driverError("copy in", invalid("slice of %s for a buffer of %d", count(len(src), "element"), dst.length))
	}
	if len(src) == 0 {
		return nil
	}
	if c != nil {
		return driverError("copy in", c.write(s, dst.at(), unsafe.Pointer(unsafe.SliceData(src)), dst.bytes(), dst.mem))
	}
	err = s.copyIn(dst.at(), unsafe.Pointer(unsafe.SliceData(src)), dst.bytes())
	runtime.KeepAlive(src)
	return driverError("copy in", err)
}

// Download waits for the work on s and copies src to dst, which has the same length. If a
// kernel on the stream failed, it returns the [*KernelError]. Cancelling ctx ends the wait
// and leaves dst unchanged. After any other error the contents of dst are undefined.
func Download[T any](ctx context.Context, s *Stream, dst []T, src *Buffer[T]) error {
	if err := s.acquire(); err != nil {
		return driverError("download", err)
	}
	defer s.release()
	if err := src.acquireOn(s, reads); err != nil {
		return driverError("download", err)
	}
	defer src.mem.release()
	if len(dst) != src.length {
		return driverError("download", invalid("slice of %s for a buffer of %d", count(len(dst), "element"), src.length))
	}
	ctx = orBackground(ctx)
	// The copy itself waits for the work too, but that wait cannot be cancelled.
	if ctx.Done() != nil || len(dst) == 0 {
		if err := s.await(ctx); err != nil {
			return driverError("download", err)
		}
	}
	if len(dst) > 0 {
		err := s.copyOut(unsafe.Pointer(unsafe.SliceData(dst)), src.at(), src.bytes())
		runtime.KeepAlive(dst)
		if err != nil {
			return driverError("download", err)
		}
	}
	return s.fault()
}

// Copy copies src to dst, which has the same length and must not overlap it. Both must be on
// the stream's device.
func Copy[T any](s *Stream, dst, src *Buffer[T]) error {
	c, err := s.enter()
	if err != nil {
		return driverError("copy", err)
	}
	defer s.release()
	if err := dst.acquireOn(s, writes); err != nil {
		return driverError("copy: destination", err)
	}
	defer dst.mem.release()
	if err := src.acquireOn(s, reads); err != nil {
		return driverError("copy: source", err)
	}
	defer src.mem.release()
	if dst.length != src.length {
		return driverError("copy", invalid("%s to a buffer of %d", count(src.length, "element"), dst.length))
	}
	if dst.length == 0 {
		return nil
	}
	n := dst.bytes()
	if dst.mem == src.mem && dst.offset < src.offset+n && src.offset < dst.offset+n {
		return driverError("copy", invalid("source and destination overlap"))
	}
	if c != nil {
		return driverError("copy", c.copy(s, dst.at(), src.at(), n, dst.mem, src.mem))
	}
	o := s.trace(trace.CopyWithin, n)
	return driverError("copy", o.end(s.drv.Copy(dst.at(), src.at(), n)))
}

// Fill sets every element of b to v.
func Fill[T any](s *Stream, b *Buffer[T], v T) error { return fill("fill", s, b, v) }

func fill[T any](doing string, s *Stream, b *Buffer[T], v T) error {
	c, err := s.enter()
	if err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := b.acquireOn(s, writes); err != nil {
		return driverError(doing, err)
	}
	defer b.mem.release()
	if b.length == 0 {
		return nil
	}
	// Drivers do not keep the pattern, but the compiler cannot know that.
	var pattern []byte
	if unsafe.Sizeof(v) <= unsafe.Sizeof(fillPattern{}) {
		p := fillPatterns.Get().(*fillPattern)
		defer fillPatterns.Put(p)
		*(*T)(unsafe.Pointer(p)) = v
		pattern = p[:unsafe.Sizeof(v)]
	} else {
		pattern = slices.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
	}
	if c != nil {
		return driverError(doing, c.fill(s, b.at(), pattern, int64(b.length), b.mem))
	}
	o := s.trace(trace.Fill, b.bytes())
	return driverError(doing, o.end(s.drv.Fill(b.at(), pattern, int64(b.length))))
}

// fillPattern is room for the bytes of an element.
type fillPattern [64]byte

var fillPatterns = sync.Pool{New: func() any { return new(fillPattern) }}

// Zero sets every byte of b to zero.
func Zero[T any](s *Stream, b *Buffer[T]) error {
	var zero T
	return fill("zero", s, b, zero)
}
