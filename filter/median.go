package filter

import (
	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Median writes to each pixel of dst the median of the width*height pixels around it in src,
// separately for each channel. Both sides are odd. NaN counts as greater than all numbers.
//
// Windows of 3x3 and 5x5 are sorted in registers; larger ones are counted in histograms, at a
// cost proportional to their size.
func Median[T Pixel](s *gpu.Stream, dst, src Image[T], width, height int, b Boundary, work ...*gpu.Workspace) error {
	const op = "Median"
	to, from, err := pair(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if width < 1 || height < 1 || width%2 == 0 || height%2 == 0 || width > 4095 || height > 4095 {
		return invalid(op, "window", "%dx%d, want odd sides of 1 to 4095", width, height)
	}
	border, err := value[T](op, b)
	if err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	slide := false
	bits := 32
	switch any(border).(type) {
	case uint8:
		slide, bits = onCPU(s), 8
	case uint16:
		bits = 16
	}
	small := width == height && (width == 3 || width == 5 && !slide)
	var lists *gpu.Buffer[int32]
	if onCPU(s) && !small && !slide {
		lists = gpu.Take[int32](tmp, to.h*width*height)
	}
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	tiles := gpu.Blocks(gpu.Dim3{X: ceil(to.row(), 32), Y: ceil(to.h, kernels.MedianRows)}, gpu.Dim3{X: 32, Y: kernels.MedianThreads})
	lines := gpu.Blocks(gpu.Dim3{X: to.h}, gpu.Dim3{X: 1})
	m, w, h, c := int(b.Mode), to.w, to.h, to.c
	switch {
	case small && width == 3:
		err = kernels.LaunchMedian3(s, tiles, m, border, w, h, c, from.stride, to.stride, src.Data, dst.Data)
	case small:
		err = kernels.LaunchMedian5(s, tiles, m, border, w, h, c, from.stride, to.stride, src.Data, dst.Data)
	case slide:
		err = kernels.LaunchMedianSlideCPU(s, lines, m, uint8(border), width, height, w, h, c, from.stride, to.stride, as[uint8](src.Data), as[uint8](dst.Data))
	case onCPU(s) && bits == 16:
		err = kernels.LaunchMedianSelectCPU(s, lines, m, uint16(border), width, height, w, h, c, from.stride, to.stride, as[uint16](src.Data), as[uint16](dst.Data), lists)
	case onCPU(s):
		err = kernels.LaunchMedianSelectCPU(s, lines, m, float32(border), width, height, w, h, c, from.stride, to.stride, as[float32](src.Data), as[float32](dst.Data), lists)
	default:
		grid := gpu.Blocks(gpu.Dim3{X: ceil(to.row(), kernels.MedianWarps), Y: to.h}, gpu.Dim3{X: 32 * kernels.MedianWarps})
		err = kernels.LaunchMedianHistogram(s, grid, m, border, bits, width, height, w, h, c, from.stride, to.stride, src.Data, dst.Data)
	}
	return failed(op, err)
}
