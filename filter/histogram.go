package filter

import (
	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Histogram counts the pixels of each value: counts[256*c+v] is the number of pixels whose
// channel c is v. src has less than 2^32 pixels.
func Histogram(s *gpu.Stream, counts *gpu.Buffer[uint32], src Image[uint8]) error {
	const op = "Histogram"
	from, err := src.volume().check(op, "src", true)
	if err != nil {
		return err
	}
	if err := most(op, from.w*from.h, mostCounted); err != nil {
		return err
	}
	if counts == nil || counts.Len() != 256*from.c {
		n := 0
		if counts != nil {
			n = counts.Len()
		}
		return invalid(op, "counts", "%d elements, want %d", n, 256*from.c)
	}
	if !from.empty() {
		if err := apart(op, "counts", counts, "src", src.Data, from.span()); err != nil {
			return err
		}
	}
	return failed(op, histogram(s, counts, src.Data, from))
}

func histogram(s *gpu.Stream, counts *gpu.Buffer[uint32], src *gpu.Buffer[uint8], from shape) error {
	if err := gpu.Zero(s, counts); err != nil || from.empty() {
		return err
	}
	const most = 1024 // blocks, each of which adds its counts to the total
	grid := gpu.Blocks(gpu.Dim3{X: min(from.h, most)}, gpu.Dim3{X: 256})
	return kernels.LaunchHistogram(s, grid, from.w, from.h, from.c, from.stride, src, counts)
}

// Equalize spreads the values of each channel of src so that they are about equally frequent.
// As in OpenCV, the lowest value becomes 0, and another value v becomes 255 times the share of
// the pixels up to v, without those of the lowest value; here it is rounded exactly, ties up.
// dst may be src, which has less than 2^31 pixels.
func Equalize(s *gpu.Stream, dst, src Image[uint8], work ...*gpu.Workspace) error {
	const op = "Equalize"
	to, from, err := equal(op, dst, src)
	if err != nil {
		return err
	}
	if err := most(op, from.w*from.h, mostLabels); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	counts, table := gpu.Take[uint32](tmp, 256*to.c), gpu.Take[uint8](tmp, 256*to.c)
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	if err := histogram(s, counts, src.Data, from); err != nil {
		return failed(op, err)
	}
	if err := kernels.LaunchEqualizeTable(s, gpu.Blocks(gpu.Dim3{X: to.c}, gpu.Dim3{X: 256}), counts, table); err != nil {
		return failed(op, err)
	}
	return failed(op, kernels.LaunchLookUp(s, blocks2(to.row(), to.h, 1), to.w, to.h, to.c, from.stride, to.stride, table, src.Data, dst.Data))
}

// CLAHE equalizes the histograms of tilesX*tilesY tiles of each channel, and interpolates
// between them (contrast-limited adaptive histogram equalization, as in OpenCV). A value of a
// tile counts at most limit times as often as if all were equally frequent; the rest is
// distributed over all values. A limit of 0 is none. If the tiles do not divide the image
// evenly, its pixels are mirrored beyond the right and lower edge. Values are rounded exactly,
// ties up. dst may be src.
func CLAHE(s *gpu.Stream, dst, src Image[uint8], tilesX, tilesY int, limit float64, work ...*gpu.Workspace) error {
	const op = "CLAHE"
	to, from, err := equal(op, dst, src)
	if err != nil {
		return err
	}
	const most = 1 << 12
	if tilesX < 1 || tilesY < 1 || tilesX > most || tilesY > most {
		return invalid(op, "tiles", "%dx%d, want 1 to %d in each direction", tilesX, tilesY, most)
	}
	if !(limit >= 0) {
		return invalid(op, "limit", "%g, want at least 0", limit)
	}
	tw, th := max(ceil(to.w, tilesX), 1), max(ceil(to.h, tilesY), 1)
	if tw*th > 1<<22 {
		return invalid(op, "tiles", "tiles of %dx%d pixels; they have at most %d pixels", tw, th, 1<<22)
	}
	bins := tw * th
	if limit > 0 {
		bins = max(int(min(limit*float64(tw*th)/256, 1<<30)), 1)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	tables := gpu.Take[uint8](tmp, 256*to.c*tilesX*tilesY)
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	grid := gpu.Blocks(gpu.Dim3{X: tilesX, Y: tilesY, Z: to.c}, gpu.Dim3{X: 256})
	if err := kernels.LaunchClaheTables(s, grid, bins, tw, th, to.w, to.h, to.c, from.stride, src.Data, tables); err != nil {
		return failed(op, err)
	}
	return failed(op, kernels.LaunchClaheWrite(s, blocks2(to.row(), to.h, 1), tilesX, tilesY, tw, th, to.w, to.h, to.c, from.stride, to.stride, tables, src.Data, dst.Data))
}

// equal checks the two sides of a filter that may work in place.
func equal(op string, dst, src Image[uint8]) (to, from shape, err error) {
	if to, from, err = inPlace(op, dst.volume(), src.volume()); err != nil {
		return to, from, err
	}
	if !to.same(from) || to.c != from.c {
		return to, from, invalid(op, "dst", "%s, but src has %s", to.size(), from.size())
	}
	return to, from, nil
}
