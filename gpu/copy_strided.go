package gpu

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/strided"
	"quern.dev/internal/trace"
)

// Strided selects elements of a Go slice as an array of any number of dimensions:
// element (i, j, ...) is at Offset + i*Stride[0] + j*Stride[1] + ... For a row-major
// matrix with h rows of w elements, a column is {Offset: column, Shape: {h}, Stride:
// {w}}, and the transpose is {Shape: {w, h}, Stride: {1, w}}.
type Strided struct {
	Offset int
	Shape  []int // elements per dimension
	Stride []int // distance between elements of each dimension; may be negative
}

// CopyInStrided gathers the elements of src that v selects, the last dimension
// varying fastest, and copies them to dst, which must have as many elements. When it
// returns, src may be changed.
func CopyInStrided[T any](s *Stream, dst *Buffer[T], src []T, v Strided) error {
	const doing = "copy strided in"
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := dst.acquireOn(s, writes); err != nil {
		return driverError(doing, err)
	}
	defer dst.mem.release()
	l, err := v.layout(len(src), dst.length)
	if err != nil || dst.length == 0 {
		return driverError(doing, err)
	}
	err = s.fillIn(dst.at(), dst.bytes(), func(chunk []byte, at int64) { strided.Gather(chunk, src, l, at) })
	runtime.KeepAlive(src)
	return driverError(doing, err)
}

// DownloadStrided waits for the work on s and scatters the elements of src to the
// elements of dst that v selects, the last dimension varying fastest. Both must have
// the same number of elements, and v must not select an element twice. If a kernel on
// the stream failed, DownloadStrided returns the [*KernelError]. Cancelling ctx ends
// the wait and leaves dst unchanged. After any other error the contents of these
// elements are undefined.
func DownloadStrided[T any](ctx context.Context, s *Stream, dst []T, v Strided, src *Buffer[T]) error {
	const doing = "download strided"
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := src.acquireOn(s, reads); err != nil {
		return driverError(doing, err)
	}
	defer src.mem.release()
	l, err := v.layout(len(dst), src.length)
	if err == nil && !l.Distinct() {
		err = invalid("shape %v with strides %v selects some elements more than once", v.Shape, v.Stride)
	}
	if err != nil {
		return driverError(doing, err)
	}
	if err := s.await(ctx); err != nil {
		return driverError(doing, err)
	}
	if src.length > 0 {
		err := s.takeOut(src.at(), src.bytes(), func(chunk []byte, at int64) { strided.Scatter(dst, chunk, l, at) })
		runtime.KeepAlive(dst)
		if err != nil {
			return driverError(doing, err)
		}
	}
	return s.fault()
}

// gatherPiece is the number of bytes that are gathered or scattered at a time.
const gatherPiece = 1 << 20

// fillIn copies n > 0 bytes to dst. fill writes the bytes that begin at offset at to
// a chunk; several goroutines may call it.
func (s *Stream) fillIn(dst driver.Memory, n int64, fill func(chunk []byte, at int64)) error {
	o := s.trace(trace.CopyIn, n)
	return o.end(s.fillInTraced(o, dst, n, fill))
}

func (s *Stream) fillInTraced(o *operation, dst driver.Memory, n int64, fill func(chunk []byte, at int64)) error {
	if staged, err := s.stageIn(o, dst, n, fill); staged {
		return err
	}
	piece := make([]byte, min(n, gatherPiece))
	for at := int64(0); at < n; at += gatherPiece {
		chunk := piece[:min(n-at, gatherPiece)]
		fill(chunk, at)
		if err := s.drv.CopyIn(dst.Offset(at), unsafe.Pointer(unsafe.SliceData(chunk)), int64(len(chunk))); err != nil {
			return err
		}
	}
	return nil
}

// takeOut copies n > 0 bytes from src. take reads the bytes that begin at offset at
// from a chunk; several goroutines may call it.
func (s *Stream) takeOut(src driver.Memory, n int64, take func(chunk []byte, at int64)) error {
	o := s.trace(trace.CopyOut, n)
	o.waits()
	return o.end(s.takeOutTraced(o, src, n, take))
}

func (s *Stream) takeOutTraced(o *operation, src driver.Memory, n int64, take func(chunk []byte, at int64)) error {
	if staged, err := s.stageOut(o, src, n, take); staged {
		return err
	}
	piece := make([]byte, min(n, gatherPiece))
	for at := int64(0); at < n; at += gatherPiece {
		chunk := piece[:min(n-at, gatherPiece)]
		if err := s.drv.CopyOut(unsafe.Pointer(unsafe.SliceData(chunk)), src.Offset(at), int64(len(chunk))); err != nil {
			return err
		}
		take(chunk, at)
	}
	return nil
}

// layout returns an error if v selects elements outside a slice of the given length,
// or not as many as wanted.
func (v Strided) layout(length, wanted int) (*strided.Layout, error) {
	if len(v.Shape) != len(v.Stride) {
		return nil, invalid("shape %v and strides %v have different numbers of dimensions", v.Shape, v.Stride)
	}
	total := uint64(1)
	for _, n := range v.Shape {
		if n < 0 {
			return nil, invalid("negative shape %v", v.Shape)
		}
		high, low := bits.Mul64(total, uint64(n))
		if high > 0 || low > 1<<62 {
			return nil, invalid("shape %v is too large", v.Shape)
		}
		total = low
	}
	if total != uint64(wanted) {
		return nil, invalid("shape %v for a buffer of %s", v.Shape, count(wanted, "element"))
	}
	if total == 0 {
		return strided.New(0), nil
	}
	if err := v.checkRange(length); err != nil {
		return nil, err
	}
	l := strided.New(v.Offset)
	for i, n := range v.Shape {
		l.Add(n, v.Stride[i])
	}
	return l, nil
}

// checkRange returns an error if v selects elements outside a slice of the given
// length.
func (v Strided) checkRange(length int) error {
	outside := invalid("%v reaches outside of %s", v, count(length, "element"))
	if v.Offset < 0 || v.Offset >= length {
		return outside
	}
	below, above := uint64(v.Offset), uint64(length-1-v.Offset) // space
	for i, n := range v.Shape {
		room, stride := &above, uint64(v.Stride[i])
		if v.Stride[i] < 0 {
			room, stride = &below, -stride
		}
		high, reach := bits.Mul64(uint64(n-1), stride)
		if high > 0 || reach > *room {
			return outside
		}
		*room -= reach
	}
	return nil
}

// String returns v in the form "offset 3, shape [4 5], strides [5 1]".
func (v Strided) String() string {
	return fmt.Sprintf("offset %d, shape %v, strides %v", v.Offset, v.Shape, v.Stride)
}
