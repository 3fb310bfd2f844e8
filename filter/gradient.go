package filter

import (
	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Direction is the direction of a derivative.
type Direction uint8

const (
	AlongX Direction = iota // along the rows: larger to the right is positive
	AlongY                  // along the columns: larger below is positive
)

var (
	difference   = []float32{-1, 0, 1}
	sobelSmooth  = []float32{1, 2, 1}
	scharrSmooth = []float32{3, 10, 3}
)

// Sobel writes the derivative of src in a direction, computed from 3x3 pixels: the differences
// -1, 0, 1 in that direction, weighted 1, 2, 1 across it. The weights are not normalized, as in
// scipy.ndimage and OpenCV: 8 times the derivative. Out is usually float32.
func Sobel[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], d Direction, b Boundary, work ...*gpu.Workspace) error {
	return derivative("Sobel", s, dst, src, d, sobelSmooth, b, work)
}

// Scharr is [Sobel] with the weights 3, 10, 3, whose direction is more precise: 32 times the
// derivative.
func Scharr[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], d Direction, b Boundary, work ...*gpu.Workspace) error {
	return derivative("Scharr", s, dst, src, d, scharrSmooth, b, work)
}

func derivative[Out, In Pixel](op string, s *gpu.Stream, dst Image[Out], src Image[In], d Direction, smooth []float32, b Boundary, work []*gpu.Workspace) error {
	switch d {
	case AlongX:
		return separable(op, s, dst.volume(), src.volume(), difference, smooth, nil, b, work)
	case AlongY:
		return separable(op, s, dst.volume(), src.volume(), smooth, difference, nil, b, work)
	}
	return invalid(op, "direction", "unknown direction %d", int(d))
}

// Canny writes 255 to the pixels of dst that are on edges of src, which has one channel, and 0
// to the others. As in OpenCV, it takes the Sobel derivatives of 3x3 pixels, where those beyond
// the image are like the nearest ones, keeps the pixels whose magnitude (the square root of the
// sum of the squared derivatives) is above low and largest in the direction of the gradient,
// and of these the ones above high, and those that are connected to them. Smooth src with
// [Gaussian] first.
func Canny[T Pixel](s *gpu.Stream, dst Image[uint8], src Image[T], low, high float32, work ...*gpu.Workspace) error {
	const op = "Canny"
	to, from, err := pair(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if to.c != 1 {
		return invalid(op, "src", "%d channels, want 1", to.c)
	}
	if !(low >= 0 && high >= low) {
		return invalid(op, "thresholds", "%g and %g, want 0 <= low <= high", low, high)
	}
	n := to.w * to.h
	if err := most(op, n, mostLabels); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	magnitude, direction, classes := gpu.Take[float32](tmp, n), gpu.Take[uint8](tmp, n), gpu.Take[uint8](tmp, n)
	labels, marks := gpu.Take[int32](tmp, n), gpu.Take[int32](tmp, n)
	counts := gpu.Take[int32](tmp, ceil(n, 256))
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	grid := blocks2(to.w, to.h, 1)
	if err := kernels.LaunchCannyGradient(s, grid, to.w, to.h, from.stride, src.Data, magnitude, direction); err != nil {
		return failed(op, err)
	}
	if err := kernels.LaunchCannyClasses(s, grid, low*low, high*high, to.w, to.h, magnitude, direction, classes); err != nil {
		return failed(op, err)
	}
	if err := components(s, classes, to.w, to.h, to.w, Connect8, labels, counts); err != nil {
		return failed(op, err)
	}
	if err := gpu.Zero(s, marks); err != nil {
		return failed(op, err)
	}
	if err := kernels.LaunchCannyMark(s, gpu.Linear(n), classes, labels, marks); err != nil {
		return failed(op, err)
	}
	return failed(op, kernels.LaunchCannyWrite(s, grid, to.w, to.h, to.stride, labels, marks, dst.Data))
}
