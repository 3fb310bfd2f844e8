package gpu

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/strided"
	"quern.dev/internal/trace"
)

// Box is a part of a three-dimensional array: Depth planes of Height rows of Width
// elements. The array is stored with X varying fastest, then Y, then Z. [Rect]
// returns a Box of one plane.
type Box struct {
	X, Y, Z              int // the first element
	Width, Height, Depth int // Depth is 1 for a part of a single plane

	// Pitch is the distance between rows of the array, in elements. Zero means
	// X+Width: the box extends to the end of the rows.
	Pitch int
	// Rows is the distance between planes of the array, in rows. Zero means Y+Height:
	// the box extends to the end of the planes.
	Rows int
}

// Rect returns the box of height rows and width columns that begins at column x of
// row y of a two-dimensional array whose rows are pitch elements apart.
func Rect(x, y, width, height, pitch int) Box {
	return Box{X: x, Y: y, Width: width, Height: height, Depth: 1, Pitch: pitch}
}

// String returns b in the form "4x3x1 at (1,0,0), pitch 8, 3 rows".
func (b Box) String() string {
	return fmt.Sprintf("%dx%dx%d at (%d,%d,%d), pitch %d, %s", b.Width, b.Height, b.Depth, b.X, b.Y, b.Z, b.Pitch, count(b.Rows, "row"))
}

// in returns b with its defaults filled in, or an error if it is not in an array of n
// elements.
func (b Box) in(n int) (Box, error) {
	switch {
	case min(b.X, b.Y, b.Z, b.Width, b.Height, b.Depth, b.Pitch, b.Rows) < 0:
		return b, invalid("box %v has a negative extent", b)
	case b.Depth == 0 && b.Width > 0 && b.Height > 0:
		return b, invalid("box %v has no planes; set Depth to 1 for a part of one plane", b)
	case b.Width > math.MaxInt-b.X || b.Height > math.MaxInt-b.Y:
		return b, outside(b, n)
	}
	b = b.withDefaults()
	return b, b.check(n)
}

func (b Box) withDefaults() Box {
	if b.Pitch == 0 {
		b.Pitch = b.X + b.Width
	}
	if b.Rows == 0 {
		b.Rows = b.Y + b.Height
	}
	return b
}

// empty reports whether b, which was checked, has no elements.
func (b Box) empty() bool { return b.Width == 0 || b.Height == 0 || b.Depth == 0 }

// check returns an error if b is not in an array of n elements. The defaults of b
// must be filled in, and none of its numbers may be negative.
func (b Box) check(n int) error {
	switch {
	case b.Width > b.Pitch-b.X:
		return invalid("box %v is wider than the rows", b)
	case b.Height > b.Rows-b.Y:
		return invalid("box %v is higher than the planes", b)
	case b.empty():
		return nil
	case b.Depth > n || b.Z > n-b.Depth:
		return outside(b, n)
	}
	planes, rows := uint64(b.Z+b.Depth-1), uint64(b.Y+b.Height-1)
	high, before := bits.Mul64(planes, uint64(b.Rows))
	before, carry := bits.Add64(before, rows, 0)
	if high+carry > 0 {
		return outside(b, n)
	}
	high, end := bits.Mul64(before, uint64(b.Pitch))
	end, carry = bits.Add64(end, uint64(b.X+b.Width), 0)
	if high+carry > 0 || end > uint64(n) {
		return outside(b, n)
	}
	return nil
}

func outside(b Box, n int) error {
	return invalid("box %v lies outside of %s", b, count(n, "element"))
}

// first returns the index of the first element.
func (b Box) first() int { return (b.Z*b.Rows+b.Y)*b.Pitch + b.X }

// side describes the box in memory that begins at m, or at p if that is host memory.
func (b Box) side(m driver.Memory, p unsafe.Pointer, element int64) driver.BoxSide {
	at := int64(b.first()) * element
	s := driver.BoxSide{Pitch: int64(b.Pitch) * element, Rows: int64(b.Rows)}
	if p != nil {
		s.Go = unsafe.Add(p, at)
	} else {
		s.Memory = m.Offset(at)
	}
	return s
}

// layout returns the layout of the elements of a non-empty box in a slice.
func (b Box) layout() *strided.Layout {
	l := strided.New(b.first())
	l.Add(b.Depth, b.Rows*b.Pitch)
	l.Add(b.Height, b.Pitch)
	l.Add(b.Width, 1)
	return l
}

// checkBoxes fills in the defaults of two boxes, in arrays of dst and src elements.
// It returns an error if one cannot be copied to the other.
func checkBoxes(to, from *Box, dst, src int) error {
	var err error
	if *to, err = to.in(dst); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if *from, err = from.in(src); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if to.Width != from.Width || to.Height != from.Height || to.Depth != from.Depth {
		return invalid("source box of %dx%dx%d, destination box of %dx%dx%d", from.Width, from.Height, from.Depth, to.Width, to.Height, to.Depth)
	}
	return nil
}

func newBoxCopy[T any](to Box, dst driver.BoxSide, src driver.BoxSide) *driver.BoxCopy {
	var zero T
	return &driver.BoxCopy{
		Dst: dst, Src: src,
		Width: int64(to.Width) * int64(unsafe.Sizeof(zero)), Height: int64(to.Height), Depth: int64(to.Depth),
	}
}

// CopyInBox copies a box of src to a box of dst with the same width, height and
// depth. When it returns, src may be changed.
func CopyInBox[T any](s *Stream, dst *Buffer[T], to Box, src []T, from Box) error {
	const doing = "copy box in"
	var zero T
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := dst.acquireOn(s, writes); err != nil {
		return driverError(doing, err)
	}
	defer dst.mem.release()
	if err := checkBoxes(&to, &from, dst.length, len(src)); err != nil {
		return driverError(doing, err)
	}
	if to.empty() {
		return nil
	}
	element := int64(unsafe.Sizeof(zero))
	p := unsafe.Pointer(unsafe.SliceData(src))
	l := from.layout()
	err := s.boxIn(newBoxCopy[T](to, to.side(dst.at(), nil, element), from.side(driver.Memory{}, p, element)),
		func(chunk []byte, at int64) { strided.Gather(chunk, src, l, at) })
	runtime.KeepAlive(src)
	return driverError(doing, err)
}

// DownloadBox waits for the work on s and copies a box of src to a box of dst with
// the same width, height and depth. If a kernel on the stream failed, it returns the
// [*KernelError]. Cancelling ctx ends the wait and leaves dst unchanged. After any
// other error the contents of the destination box are undefined.
func DownloadBox[T any](ctx context.Context, s *Stream, dst []T, to Box, src *Buffer[T], from Box) error {
	const doing = "download box"
	var zero T
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := src.acquireOn(s, reads); err != nil {
		return driverError(doing, err)
	}
	defer src.mem.release()
	if err := checkBoxes(&to, &from, len(dst), src.length); err != nil {
		return driverError(doing, err)
	}
	if err := s.await(ctx); err != nil {
		return driverError(doing, err)
	}
	if !to.empty() {
		element := int64(unsafe.Sizeof(zero))
		p := unsafe.Pointer(unsafe.SliceData(dst))
		l := to.layout()
		err := s.boxOut(newBoxCopy[T](to, to.side(driver.Memory{}, p, element), from.side(src.at(), nil, element)),
			func(chunk []byte, at int64) { strided.Scatter(dst, chunk, l, at) })
		runtime.KeepAlive(dst)
		if err != nil {
			return driverError(doing, err)
		}
	}
	return s.fault()
}

// boxIn copies a box from host memory. fill writes the bytes of the box to chunks.
// The copy is staged, unless the device reads the memory itself or the other side has
// gaps.
func (s *Stream) boxIn(c *driver.BoxCopy, fill func(chunk []byte, at int64)) error {
	o := s.trace(trace.CopyIn, c.Width*c.Height*c.Depth)
	return o.end(s.boxInTraced(o, c, fill))
}

func (s *Stream) boxInTraced(o *operation, c *driver.BoxCopy, fill func(chunk []byte, at int64)) error {
	if m := findHost(c.Src.Go, 1); m != nil {
		defer m.release()
		return copyBox(s.drv, c)
	}
	if c.Dst.Dense(c.Width, c.Height, c.Depth) {
		if staged, err := s.stageIn(o, c.Dst.Memory, c.Width*c.Height*c.Depth, fill); staged {
			return err
		}
	}
	return copyBox(s.drv, c)
}

// boxOut is boxIn in the other direction: take reads the bytes.
func (s *Stream) boxOut(c *driver.BoxCopy, take func(chunk []byte, at int64)) error {
	o := s.trace(trace.CopyOut, c.Width*c.Height*c.Depth)
	o.waits()
	return o.end(s.boxOutTraced(o, c, take))
}

func (s *Stream) boxOutTraced(o *operation, c *driver.BoxCopy, take func(chunk []byte, at int64)) error {
	if m := findHost(c.Dst.Go, 1); m != nil {
		defer m.release()
		return copyBox(s.drv, c)
	}
	if c.Src.Dense(c.Width, c.Height, c.Depth) {
		if staged, err := s.stageOut(o, c.Src.Memory, c.Width*c.Height*c.Depth, take); staged {
			return err
		}
	}
	return copyBox(s.drv, c)
}

// CopyBox copies a box of src to a box of dst with the same width, height and depth.
// Both buffers must be on the device of the stream. The boxes must not overlap.
func CopyBox[T any](s *Stream, dst *Buffer[T], to Box, src *Buffer[T], from Box) error {
	const doing = "copy box"
	var zero T
	record, err := s.enter()
	if err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := dst.acquireOn(s, writes); err != nil {
		return driverError(doing+": destination", err)
	}
	defer dst.mem.release()
	if err := src.acquireOn(s, reads); err != nil {
		return driverError(doing+": source", err)
	}
	defer src.mem.release()
	if err := checkBoxes(&to, &from, dst.length, src.length); err != nil {
		return driverError(doing, err)
	}
	if to.empty() {
		return nil
	}
	element := int64(unsafe.Sizeof(zero))
	c := newBoxCopy[T](to, to.side(dst.at(), nil, element), from.side(src.at(), nil, element))
	if dst.mem == src.mem && overlap(c) {
		return driverError(doing, invalid("source and destination overlap"))
	}
	if record != nil {
		return driverError(doing, record.copyBox(s, c, dst.mem, src.mem))
	}
	o := s.trace(trace.CopyWithin, c.Width*c.Height*c.Depth)
	return driverError(doing, o.end(copyBox(s.drv, c)))
}

// CopyInBoxAsync is [CopyInBox] from page-locked memory. It returns at once. The
// elements of src must not change until the program has waited for the stream.
func CopyInBoxAsync[T any](s *Stream, dst *Buffer[T], to Box, src *HostBuffer[T], from Box) error {
	return copyBoxAsync("copy box in", s, dst, to, src, from, true)
}

// CopyOutBoxAsync adds to the stream a copy of a box of src to a box of dst with the
// same width, height and depth, and returns at once. The elements have arrived when a
// wait for the stream returns.
func CopyOutBoxAsync[T any](s *Stream, dst *HostBuffer[T], to Box, src *Buffer[T], from Box) error {
	return copyBoxAsync("copy box out", s, src, from, dst, to, false)
}

// copyBoxAsync copies between a box of b and a box of h.
func copyBoxAsync[T any](doing string, s *Stream, b *Buffer[T], inB Box, h *HostBuffer[T], inH Box, in bool) error {
	var zero T
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := b.acquireOn(s, access(in)); err != nil {
		return driverError(doing, err)
	}
	defer b.mem.release()
	if err := h.acquire(s.dev); err != nil {
		return driverError(doing, err)
	}
	defer h.part.mem.release()
	err := checkBoxes(&inH, &inB, h.part.length, b.length)
	if in {
		err = checkBoxes(&inB, &inH, b.length, h.part.length)
	}
	if err != nil || inB.empty() {
		return driverError(doing, err)
	}
	element := int64(unsafe.Sizeof(zero))
	device, host := inB.side(b.at(), nil, element), inH.side(driver.Memory{}, h.at(), element)
	c := newBoxCopy[T](inB, host, device)
	if in {
		c = newBoxCopy[T](inB, device, host)
	}
	c.Async = true
	o := s.trace(hostCopyKind(in), c.Width*c.Height*c.Depth)
	if err := o.end(copyBox(s.drv, c)); err != nil {
		return driverError(doing, err)
	}
	return driverError(doing, h.part.mem.host().used(s))
}

// overlap reports whether the two sides of a copy within one allocation have bytes
// in common.
func overlap(c *driver.BoxCopy) bool {
	first := int64(c.Dst.Memory.Addr - c.Src.Memory.Addr) // of the destination, relative to that of the source
	plane := c.Dst.Rows * c.Dst.Pitch
	if first >= c.Src.Rows*c.Src.Pitch*(c.Depth-1)+c.Src.Pitch*(c.Height-1)+c.Width || first+plane*(c.Depth-1)+c.Dst.Pitch*(c.Height-1)+c.Width <= 0 {
		return false
	}
	for z := range c.Depth {
		for y := range c.Height {
			if meetsRow(c, first+z*plane+y*c.Dst.Pitch) {
				return true
			}
		}
	}
	return false
}

// meetsRow reports whether the row of the destination that begins at byte at,
// relative to the first byte of the source, contains bytes of the source. It tests
// the last row of the source that begins before the end of that row.
func meetsRow(c *driver.BoxCopy, at int64) bool {
	last := at + c.Width - 1
	if last < 0 {
		return false
	}
	if c.Depth > 1 {
		plane := c.Src.Rows * c.Src.Pitch
		last -= min(last/plane, c.Depth-1) * plane
	}
	if c.Height > 1 {
		last -= min(last/c.Src.Pitch, c.Height-1) * c.Src.Pitch
	}
	return last < 2*c.Width-1
}
