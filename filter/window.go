package filter

import (
	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// value returns the constant of b as a T. It must be a value of that type.
func value[T Pixel](op string, b Boundary) (T, error) {
	if err := b.check(op); err != nil || b.Mode != Constant {
		return 0, err
	}
	v := b.Value
	if !isFloat[T]() {
		var zero T
		if !(v >= 0 && v <= float32(zero-1) && v == float32(int32(v))) {
			return 0, invalid(op, "boundary", "the constant %g is no value of the pixels' type", v)
		}
	}
	return T(v), nil
}

func isFloat[T Pixel]() bool { return T(1)/2 != 0 }

// window checks the size of a window. The sides of windows are limited so that indices cannot
// overflow.
func window(op string, width, height int) error {
	const most = 1 << 20
	if width < 1 || height < 1 || width > most || height > most {
		return invalid(op, "window", "%dx%d, want sides of 1 to %d", width, height, most)
	}
	return nil
}

// Box writes to each pixel of dst the mean of the width*height pixels around it in src. The
// center of a side of n pixels is pixel n/2. The cost does not depend on the size of the
// window.
//
// Means of integers are exact, and rounded to the nearest integer, ties to even. Windows have at
// most 2^24 pixels, and at most 2^16 for uint16, so that sums fit in 32 bits. In float32, NaN
// and infinities affect only the windows that contain them.
func Box[T Pixel](s *gpu.Stream, dst, src Image[T], width, height int, b Boundary, work ...*gpu.Workspace) error {
	const op = "Box"
	to, from, err := pair(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if err := window(op, width, height); err != nil {
		return err
	}
	border, err := value[T](op, b)
	if err != nil {
		return err
	}
	most := int64(1 << 24)
	if !isFloat[T]() {
		var zero T
		most = 1 << 32 / (int64(zero-1) + 1)
	}
	if int64(width)*int64(height) > most {
		return invalid(op, "window", "%dx%d, want at most %d pixels", width, height, most)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	mid := to.dense()
	// The sum of a row of constants is a constant too, for the second pass.
	switch any(border).(type) {
	case float32:
		sums := gpu.Take[float32](tmp, mid.len())
		if run, err := tmp.Ready(); !run || to.empty() {
			return failed(op, err)
		}
		v := float32(border)
		in, out := as[float32](src.Data), as[float32](dst.Data)
		if err := windowRows(s, kernels.Sum, b.Mode, v, width, width/2, in, from, sums, mid); err != nil {
			return failed(op, err)
		}
		return failed(op, windowColumns(s, kernels.Sum, b.Mode, v*float32(width), uint32(width*height), height, height/2, sums, mid, out, to, out, to))
	case uint8:
		return boxInteger(op, s, tmp, as[uint8](dst.Data), to, as[uint8](src.Data), from, width, height, b.Mode, uint8(border))
	default:
		return boxInteger(op, s, tmp, as[uint16](dst.Data), to, as[uint16](src.Data), from, width, height, b.Mode, uint16(border))
	}
}

func boxInteger[T uint8 | uint16](op string, s *gpu.Stream, tmp *gpu.Scratch, dst *gpu.Buffer[T], to shape, src *gpu.Buffer[T], from shape, width, height int, m Mode, border T) error {
	mid := to.dense()
	sums, partial := gpu.Take[uint32](tmp, mid.len()), gpu.Take[uint32](tmp, mid.len())
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	if err := windowRows(s, kernels.Sum, m, border, width, width/2, src, from, sums, mid); err != nil {
		return failed(op, err)
	}
	return failed(op, windowColumns(s, kernels.Sum, m, uint32(border)*uint32(width), uint32(width*height), height, height/2, sums, mid, partial, mid, dst, to))
}

type number interface{ Pixel | uint32 }

func windowRows[Acc number, In Pixel](s *gpu.Stream, op int, m Mode, border In, width, center int, src *gpu.Buffer[In], from shape, dst *gpu.Buffer[Acc], to shape) error {
	if onCPU(s) {
		grid := gpu.Blocks(gpu.Dim3{X: 1, Y: to.h, Z: to.d}, gpu.Dim3{X: 1})
		return kernels.LaunchWindowRowsCPU(s, grid, op, int(m), border, width, center, to.w, to.h, to.c, from.stride, from.plane, to.stride, to.plane, src, dst)
	}
	segments := max(1, 512/width)
	grid := gpu.Blocks(gpu.Dim3{X: ceil(to.w, segments*width), Y: to.h, Z: to.d}, gpu.Dim3{X: 32})
	return kernels.LaunchWindowRows(s, grid, op, int(m), border, width, center, segments, to.w, to.h, to.c, from.stride, from.plane, to.stride, to.plane, src, dst)
}

func windowColumns[Out Pixel, Acc, In number](s *gpu.Stream, op int, m Mode, border In, divisor uint32, width, center int, src *gpu.Buffer[In], from shape, partial *gpu.Buffer[Acc], part shape, dst *gpu.Buffer[Out], to shape) error {
	x, threads := ceil(to.row(), 256), 256
	if onCPU(s) {
		threads = 1
	}
	grid := gpu.Blocks(gpu.Dim3{X: x, Y: ceil(to.h, width), Z: to.d}, gpu.Dim3{X: threads})
	launch := kernels.LaunchWindowColumns[Out, Acc, In]
	if onCPU(s) {
		launch = kernels.LaunchWindowColumnsCPU[Out, Acc, In]
	}
	return launch(s, grid, op, int(m), border, divisor, width, center, to.row(), to.h, to.d, from.stride, from.plane, part.stride, part.plane, to.stride, to.plane, src, partial, dst)
}
