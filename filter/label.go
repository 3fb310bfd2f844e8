package filter

import (
	"math"

	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Connectivity says which pixels are adjacent.
type Connectivity uint8

const (
	Connect4 Connectivity = 4 // those that share an edge
	Connect8 Connectivity = 8 // those that share an edge or a corner
)

// Limits of the pixels of an image: labels and sums of counts have 31 bits, and counts 32. Tests change
// them.
var (
	mostLabels  = math.MaxInt32
	mostCounted = math.MaxUint32
)

// most returns an error if an image has more pixels than allowed.
func most(op string, pixels, allowed int) error {
	if pixels > allowed {
		return invalid(op, "src", "%d pixels; at most %d are allowed", pixels, allowed)
	}
	return nil
}

// Label numbers the connected components of the pixels of src that are not 0. src has one
// channel. labels gets an element per pixel, without gaps between rows: 0 for the background,
// and 1 to n for the pixels of n components, in the order of their first pixels, row by row, as
// in scipy.ndimage.label. count[0] is n; count may be nil.
func Label[T Pixel](s *gpu.Stream, labels, count *gpu.Buffer[int32], src Image[T], c Connectivity, work ...*gpu.Workspace) error {
	const op = "Label"
	from, err := src.volume().check(op, "src", true)
	if err != nil {
		return err
	}
	n := from.w * from.h
	if err := most(op, n, mostLabels); err != nil {
		return err
	}
	switch {
	case from.c != 1:
		return invalid(op, "src", "%d channels, want 1", from.c)
	case c != Connect4 && c != Connect8:
		return invalid(op, "connectivity", "%d, want 4 or 8", int(c))
	case labels == nil && n > 0:
		return invalid(op, "labels", "the buffer is nil")
	case n > 0 && labels.Len() != n:
		return invalid(op, "labels", "%d elements for %d pixels", labels.Len(), n)
	case count != nil && count.Len() != 1:
		return invalid(op, "count", "%d elements, want 1", count.Len())
	}
	if n > 0 {
		if err := apart(op, "labels", labels, "src", src.Data, from.span()); err != nil {
			return err
		}
		if err := apart(op, "count", count, "src", src.Data, from.span()); err != nil {
			return err
		}
		if err := apart(op, "count", count, "labels", labels, n); err != nil {
			return err
		}
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	blocks := ceil(n, 256)
	counts, numbers := gpu.Take[int32](tmp, blocks), gpu.Take[int32](tmp, n)
	total := count
	if total == nil {
		total = gpu.Take[int32](tmp, 1)
	}
	if run, err := tmp.Ready(); !run {
		return failed(op, err)
	}
	if n == 0 {
		if count != nil {
			return failed(op, gpu.Zero(s, count))
		}
		return nil
	}
	if err := components(s, src.Data, from.w, from.h, from.stride, c, labels, counts); err != nil {
		return failed(op, err)
	}
	block := gpu.Dim3{X: 256}
	if err := kernels.LaunchLabelBases(s, gpu.Blocks(gpu.Dim3{X: 1}, block), counts, total); err != nil {
		return failed(op, err)
	}
	if err := kernels.LaunchLabelNumber(s, gpu.Blocks(gpu.Dim3{X: blocks}, block), labels, counts, numbers); err != nil {
		return failed(op, err)
	}
	return failed(op, kernels.LaunchLabelWrite(s, gpu.Linear(n), labels, numbers))
}

// components computes the roots of the components of all pixels, and the number of roots per
// 256 pixels.
func components[T Pixel](s *gpu.Stream, src *gpu.Buffer[T], w, h, stride int, c Connectivity, labels, counts *gpu.Buffer[int32]) error {
	grid := blocks2(w, h, 1)
	if err := kernels.LaunchLabelRuns(s, grid, w, h, stride, src, labels); err != nil {
		return err
	}
	if err := kernels.LaunchLabelMerge(s, grid, c == Connect8, w, h, labels); err != nil {
		return err
	}
	return kernels.LaunchLabelFlatten(s, gpu.Blocks(gpu.Dim3{X: ceil(w*h, 256)}, gpu.Dim3{X: 256}), labels, counts)
}
