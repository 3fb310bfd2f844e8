package filter

import (
	"fmt"
	"unsafe"

	"quern.dev/gpu"
)

//go:generate go tool quern gen

// Pixel is the type of a pixel's values. Integers have the range of their type; the filters
// do not depend on the range of a float32, except where they say so.
type Pixel interface{ uint8 | uint16 | float32 }

// Image describes an image on a device. Value c of the pixel in column x of row y is
// Data[y*Stride+x*Channels+c]. Copies of an Image share the pixels.
type Image[T Pixel] struct {
	Width, Height int
	Channels      int // values per pixel, 1 to 4; 0 means 1
	Stride        int // elements from the start of a row to that of the next; 0 means Width*Channels
	Data          *gpu.Buffer[T]
}

// NewImage allocates an image. The program closes its Data.
func NewImage[T Pixel](d *gpu.Device, width, height, channels int) (Image[T], error) {
	m := Image[T]{Width: width, Height: height, Channels: channels}
	v, err := m.volume().check("NewImage", "image", false)
	if err != nil {
		return m, err
	}
	m.Channels, m.Stride = v.c, v.stride
	m.Data, err = gpu.Alloc[T](d, v.w*v.c*v.h)
	return m, failed("NewImage", err)
}

// Part returns the part of the image with the columns x to x+width-1 and the rows y to
// y+height-1. They share pixels. Part returns an image without pixels if the part is not
// inside the image.
func (m Image[T]) Part(x, y, width, height int) Image[T] {
	v, err := m.volume().check("Part", "image", true)
	if err != nil || x < 0 || y < 0 || width <= 0 || height <= 0 || width > v.w-x || height > v.h-y {
		return Image[T]{Channels: m.Channels}
	}
	from := y*v.stride + x*v.c
	to := from + (height-1)*v.stride + width*v.c
	return Image[T]{width, height, v.c, v.stride, m.Data.Slice(from, to)}
}

func (m Image[T]) volume() Volume[T] {
	return Volume[T]{m.Width, m.Height, 1, m.Channels, m.Stride, 0, m.Data}
}

// Volume describes a stack of images of the same size on a device. Value c of the pixel in
// column x of row y of image z is Data[z*Plane+y*Stride+x*Channels+c].
type Volume[T Pixel] struct {
	Width, Height, Depth int
	Channels             int // values per pixel, 1 to 4; 0 means 1
	Stride               int // elements from the start of a row to that of the next; 0 means Width*Channels
	Plane                int // elements from the start of an image to that of the next; 0 means Height*Stride
	Data                 *gpu.Buffer[T]
}

// Limits of the sides, which keep the grids of all kernels within what devices can launch.
const (
	mostWidth = 1 << 20
	mostRows  = 1<<16 - 1
	mostDepth = 1<<16 - 1
)

// shape is the checked form of a Volume, with all strides.
type shape struct {
	w, h, d, c    int
	stride, plane int
}

func (s shape) empty() bool       { return s.w == 0 || s.h == 0 || s.d == 0 }
func (s shape) row() int          { return s.w * s.c }                                    // elements of a row
func (s shape) dense() shape      { return dense(s.w, s.h, s.d, s.c) }                    // without gaps
func (s shape) span() int         { return (s.d-1)*s.plane + (s.h-1)*s.stride + s.row() } // from the first element to the end of the last one
func (s shape) len() int          { return s.plane * s.d }
func dense(w, h, d, c int) shape  { return shape{w, h, d, c, w * c, w * c * h} }
func (s shape) size() string      { return size(s.w, s.h, s.d, s.c) }
func (s shape) same(o shape) bool { return s.w == o.w && s.h == o.h && s.d == o.d }

func size(w, h, d, c int) string {
	if d == 1 {
		return fmt.Sprintf("%dx%d pixels of %d channels", w, h, c)
	}
	return fmt.Sprintf("%dx%dx%d pixels of %d channels", w, h, d, c)
}

// check returns the shape of v. If data is true, v must have memory for all pixels.
func (v Volume[T]) check(op, arg string, data bool) (shape, error) {
	s := shape{v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.Plane}
	if s.c == 0 {
		s.c = 1
	}
	switch {
	case s.c < 1 || s.c > 4:
		return s, invalid(op, arg, "%d channels, want 1 to 4", v.Channels)
	case s.w < 0 || s.w > mostWidth || s.h < 0 || s.h > mostRows || s.d < 0 || s.d > mostDepth:
		return s, invalid(op, arg, "%s; sides are at most %d, %d and %d", size(s.w, s.h, s.d, s.c), mostWidth, mostRows, mostDepth)
	}
	if s.stride == 0 {
		s.stride = s.row()
	}
	if s.stride < s.row() || s.stride > 1<<40 {
		return s, invalid(op, arg, "the stride is %d, and a row has %d elements", v.Stride, s.row())
	}
	if s.plane == 0 {
		s.plane = s.h * s.stride
	}
	if s.plane < (s.h-1)*s.stride+s.row() || s.plane > 1<<40 {
		return s, invalid(op, arg, "the plane stride is %d, and an image has %d elements", v.Plane, (s.h-1)*s.stride+s.row())
	}
	if !data || s.empty() {
		return s, nil
	}
	if v.Data == nil {
		return s, invalid(op, arg, "the data is nil")
	}
	if need := s.span(); v.Data.Len() < need {
		return s, invalid(op, arg, "%d elements, but %s with strides of %d and %d need %d", v.Data.Len(), s.size(), s.stride, s.plane, need)
	}
	return s, nil
}

// pair checks the two sides of a filter that keeps the size.
func pair[Out, In Pixel](op string, dst Volume[Out], src Volume[In]) (to, from shape, err error) {
	if to, from, err = sides(op, dst, src); err != nil {
		return to, from, err
	}
	if !to.same(from) || to.c != from.c {
		return to, from, invalid(op, "dst", "%s, but src has %s", to.size(), from.size())
	}
	return to, from, nil
}

// sides checks the two sides of a filter, which must not be the same memory.
func sides[Out, In Pixel](op string, dst Volume[Out], src Volume[In]) (to, from shape, err error) {
	if from, err = src.check(op, "src", true); err != nil {
		return to, from, err
	}
	if to, err = dst.check(op, "dst", true); err != nil {
		return to, from, err
	}
	if overlap(dst.Data, to, src.Data, from) {
		return to, from, invalid(op, "dst", "it has pixels in common with src, which the filter still reads")
	}
	return to, from, nil
}

// inPlace checks the two sides of a filter that computes a pixel from the same pixel only: they
// may be the same memory if they have the same layout.
func inPlace[Out, In Pixel](op string, dst Volume[Out], src Volume[In]) (to, from shape, err error) {
	if from, err = src.check(op, "src", true); err != nil {
		return to, from, err
	}
	if to, err = dst.check(op, "dst", true); err != nil {
		return to, from, err
	}
	if d, ok := gpu.Distance(dst.Data, src.Data); ok && (d != 0 || to != from) && overlap(dst.Data, to, src.Data, from) {
		return to, from, invalid(op, "dst", "it has pixels in common with src, which are at other places")
	}
	return to, from, nil
}

// overlap reports whether two images have pixels in common. Those with different strides count
// as overlapping if one begins before the other one ends; parts of the same image are told
// apart exactly.
func overlap[A, B Pixel](a *gpu.Buffer[A], as shape, b *gpu.Buffer[B], bs shape) bool {
	distance, ok := gpu.Distance(a, b)
	if !ok || as.empty() || bs.empty() {
		return false
	}
	aSize, bSize := int(unsafe.Sizeof(*new(A))), int(unsafe.Sizeof(*new(B)))
	if distance >= as.span()*aSize || -distance >= bs.span()*bSize {
		return false
	}
	stride := as.stride * aSize
	if as.d > 1 || bs.d > 1 || bs.stride*bSize != stride {
		return true
	}
	row, column := distance/stride, distance%stride
	if column < 0 {
		row, column = row-1, column+stride
	}
	rows := func(at int) bool { return at < as.h && at+bs.h > 0 }
	return column < as.row()*aSize && rows(row) || column+bs.row()*bSize > stride && rows(row+1)
}

// apart returns an error if numbers that a filter writes share memory with the pixels of src.
func apart[A, B any](op, arg string, written *gpu.Buffer[A], other string, read *gpu.Buffer[B], elements int) error {
	d, ok := gpu.Distance(read, written)
	if ok && d < elements*int(unsafe.Sizeof(*new(B))) && -d < written.Len()*int(unsafe.Sizeof(*new(A))) {
		return invalid(op, arg, "it shares memory with %s", other)
	}
	return nil
}

// Error is the error of a call with bad arguments. It matches [gpu.ErrInvalid]. The call has
// written nothing.
type Error struct {
	Op   string // name of the function
	Arg  string // name of the argument
	Rule string // what is wrong, with the numbers
}

// Error names the function, the argument and the rule.
func (e *Error) Error() string { return fmt.Sprintf("filter: %s: %s: %s", e.Op, e.Arg, e.Rule) }

// Is reports whether target is [gpu.ErrInvalid].
func (e *Error) Is(target error) bool { return target == gpu.ErrInvalid }

func invalid(op, arg, format string, args ...any) error {
	return &Error{op, arg, fmt.Sprintf(format, args...)}
}

// failed adds the name of the function to an error of package gpu.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("filter: %s: %w", op, err)
}

// onCPU reports whether the stream's work runs on processors, for which some filters have
// kernels of their own.
func onCPU(s *gpu.Stream) bool { return s.Device().Backend() == gpu.CPU }

func ceil(a, b int) int { return (a + b - 1) / b }

// blocks2 returns a grid of blocks of 32x8 threads over w*h*d threads.
func blocks2(w, h, d int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: ceil(w, 32), Y: ceil(h, 8), Z: d}, gpu.Dim3{X: 32, Y: 8})
}

// as returns a buffer whose type is known to be U.
func as[U, T Pixel](b *gpu.Buffer[T]) *gpu.Buffer[U] { return any(b).(*gpu.Buffer[U]) }
