package filter

import (
	"math"
	"sync"

	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Stencil holds the weights of a correlation or convolution: Weights has Width*Height*Depth
// values, in the order of a Volume. A Depth of 0 means 1, a Height of 0 means 1, and a Width
// of 0 means as many as there are weights. The center of n weights along a direction is
// weight n/2.
type Stencil struct {
	Width, Height, Depth int
	Weights              []float32
}

// mostTaps limits the weights of a stencil.
const mostTaps = 1 << 22

func (k Stencil) check(op, arg string) (Stencil, error) {
	if k.Depth == 0 {
		k.Depth = 1
	}
	if k.Height == 0 {
		k.Height = 1
	}
	if k.Width == 0 {
		k.Width = len(k.Weights) / max(k.Height*k.Depth, 1)
	}
	n := len(k.Weights)
	if k.Width < 1 || k.Height < 1 || k.Depth < 1 || k.Width > n || k.Height > n || k.Depth > n || k.Width*k.Height > n || k.Width*k.Height*k.Depth != n {
		return k, invalid(op, arg, "%d weights for %dx%dx%d", n, k.Width, k.Height, k.Depth)
	}
	if n > mostTaps {
		return k, invalid(op, arg, "%d weights; at most %d are allowed", n, mostTaps)
	}
	return k, nil
}

// Correlate writes to each pixel of dst the sum of the pixels around it in src, multiplied by
// the weights of a stencil of any size:
//
//	dst[y][x] = sum of Weights[j][i] * src[y+j-Height/2][x+i-Width/2]
//
// Each channel is filtered by itself. The sum is computed in float32, and rounded to the
// nearest value of Out, ties to even; values out of range saturate. Out is In or float32. The
// cost is proportional to the number of weights: use [Separable] where it applies.
func Correlate[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], k Stencil, b Boundary, work ...*gpu.Workspace) error {
	return correlate("Correlate", s, dst.volume(), src.volume(), k, false, b, work)
}

// Convolve is [Correlate] with the stencil rotated by 180 degrees:
//
//	dst[y][x] = sum of Weights[j][i] * src[y-j+Height/2][x-i+Width/2]
func Convolve[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], k Stencil, b Boundary, work ...*gpu.Workspace) error {
	return correlate("Convolve", s, dst.volume(), src.volume(), k, true, b, work)
}

// CorrelateVolume is [Correlate] for volumes.
func CorrelateVolume[Out, In Pixel](s *gpu.Stream, dst Volume[Out], src Volume[In], k Stencil, b Boundary, work ...*gpu.Workspace) error {
	return correlate("CorrelateVolume", s, dst, src, k, false, b, work)
}

// ConvolveVolume is [Convolve] for volumes.
func ConvolveVolume[Out, In Pixel](s *gpu.Stream, dst Volume[Out], src Volume[In], k Stencil, b Boundary, work ...*gpu.Workspace) error {
	return correlate("ConvolveVolume", s, dst, src, k, true, b, work)
}

func correlate[Out, In Pixel](op string, s *gpu.Stream, dst Volume[Out], src Volume[In], k Stencil, flip bool, b Boundary, work []*gpu.Workspace) error {
	to, from, err := pair(op, dst, src)
	if err != nil {
		return err
	}
	if k, err = k.check(op, "stencil"); err != nil {
		return err
	}
	if err := b.check(op); err != nil {
		return err
	}
	if !sameOrFloat[Out, In]() {
		return invalid(op, "dst", "its type must be that of src or float32")
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	weights := gpu.Take[float32](tmp, len(k.Weights))
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	if err := putWeights(s, weights, k.Weights, flip); err != nil {
		return failed(op, err)
	}
	center := func(n int) int {
		if flip {
			return (n - 1) / 2
		}
		return n / 2
	}
	t := taps{k.Width, k.Height, k.Depth, center(k.Width), center(k.Height), center(k.Depth), weights}
	if onCPU(s) {
		return failed(op, lines(s, t, dst.Data, to, src.Data, from, b))
	}
	grid := gpu.Blocks(gpu.Dim3{X: ceil(to.row(), kernels.TileWidth), Y: ceil(to.h, kernels.TileHeight), Z: to.d}, gpu.Dim3{X: kernels.TileWidth, Y: kernels.TileThreads})
	return failed(op, kernels.LaunchCorrelateTiles(s, grid, int(b.Mode), b.Value, t.w, t.h, t.d, t.cx, t.cy, t.cz, to.w, to.h, to.d, to.c, from.stride, from.plane, to.stride, to.plane, t.weights, src.Data, dst.Data))
}

// taps is a stencil on the device.
type taps struct {
	w, h, d    int
	cx, cy, cz int // centers
	weights    *gpu.Buffer[float32]
}

func sameOrFloat[Out, In Pixel]() bool {
	var out, in any = *new(Out), *new(In)
	switch out.(type) {
	case float32:
		return true
	case uint8:
		_, ok := in.(uint8)
		return ok
	default:
		_, ok := in.(uint16)
		return ok
	}
}

// putWeights stores weights that are part of the launches' arguments, so that a graph in
// which the launches are recorded holds them too.
func putWeights(s *gpu.Stream, dst *gpu.Buffer[float32], weights []float32, flip bool) error {
	var chunk [kernels.ChunkWeights]float32
	for at := 0; at < len(weights); at += kernels.ChunkWeights {
		n := min(kernels.ChunkWeights, len(weights)-at)
		for i := range chunk[:n] {
			if flip {
				chunk[i] = weights[len(weights)-1-at-i]
			} else {
				chunk[i] = weights[at+i]
			}
		}
		if err := kernels.LaunchStoreWeights(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: kernels.ChunkWeights}), chunk, at, dst); err != nil {
			return err
		}
	}
	return nil
}

// Separable correlates the rows of src with the weights x and the columns with the weights y,
// which is [Correlate] with the products of these weights, at the cost of their sum. Without
// weights for a direction, nothing happens in that direction. Values between the two passes
// are float32. With [Constant], each pass takes the constant for what lies beyond the edges, as
// in scipy.ndimage.
func Separable[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], x, y []float32, b Boundary, work ...*gpu.Workspace) error {
	return separable("Separable", s, dst.volume(), src.volume(), x, y, nil, b, work)
}

// SeparableVolume is [Separable] for volumes, with weights z across the images.
func SeparableVolume[Out, In Pixel](s *gpu.Stream, dst Volume[Out], src Volume[In], x, y, z []float32, b Boundary, work ...*gpu.Workspace) error {
	return separable("SeparableVolume", s, dst, src, x, y, z, b, work)
}

var identity = []float32{1}

// separable runs one pass per direction. The pass along the rows converts to float32, and the
// last one converts to the type of the output.
func separable[Out, In Pixel](op string, s *gpu.Stream, dst Volume[Out], src Volume[In], x, y, z []float32, b Boundary, work []*gpu.Workspace) error {
	to, from, err := pair(op, dst, src)
	if err != nil {
		return err
	}
	if err := b.check(op); err != nil {
		return err
	}
	if len(x) > mostTaps || len(y) > mostTaps || len(z) > mostTaps {
		return invalid(op, "weights", "%d, %d and %d weights; at most %d are allowed", len(x), len(y), len(z), mostTaps)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	if len(x) == 0 {
		x = identity
	}
	if len(y) == 0 {
		y = identity
	}
	wx, wy := gpu.Take[float32](tmp, len(x)), gpu.Take[float32](tmp, len(y))
	var wz *gpu.Buffer[float32]
	mid := to.dense()
	rows := gpu.Take[float32](tmp, mid.len())
	columns := rows
	if len(z) > 0 {
		wz, columns = gpu.Take[float32](tmp, len(z)), gpu.Take[float32](tmp, mid.len())
	}
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	if err := putWeights(s, wx, x, false); err != nil {
		return failed(op, err)
	}
	if err := putWeights(s, wy, y, false); err != nil {
		return failed(op, err)
	}
	if len(z) > 0 {
		if err := putWeights(s, wz, z, false); err != nil {
			return failed(op, err)
		}
	}
	if err := alongX(s, rows, mid, src.Data, from, wx, b); err != nil {
		return failed(op, err)
	}
	if len(z) == 0 {
		return failed(op, alongY(s, dst.Data, to, rows, mid, wy, b))
	}
	if err := alongY(s, columns, mid, rows, mid, wy, b); err != nil {
		return failed(op, err)
	}
	return failed(op, alongZ(s, dst.Data, to, columns, mid, wz, b))
}

func alongX[In Pixel](s *gpu.Stream, dst *gpu.Buffer[float32], to shape, src *gpu.Buffer[In], from shape, weights *gpu.Buffer[float32], b Boundary) error {
	n := weights.Len()
	if onCPU(s) {
		t := taps{n, 1, 1, n / 2, 0, 0, weights}
		return lines(s, t, dst, to, src, from, b)
	}
	pixels := kernels.RowEach * (32 / to.c)
	grid := gpu.Blocks(gpu.Dim3{X: ceil(to.w, pixels), Y: ceil(to.h, kernels.RowWarps), Z: to.d}, gpu.Dim3{X: 32 * kernels.RowWarps})
	return kernels.LaunchCorrelateRows(s, grid, int(b.Mode), b.Value, n/2, to.w, to.h, to.c, from.stride, from.plane, to.stride, to.plane, weights, src, dst)
}

func alongY[Out Pixel](s *gpu.Stream, dst *gpu.Buffer[Out], to shape, src *gpu.Buffer[float32], from shape, weights *gpu.Buffer[float32], b Boundary) error {
	n := weights.Len()
	if onCPU(s) {
		t := taps{1, n, 1, 0, n / 2, 0, weights}
		return lines(s, t, dst, to, src, from, b)
	}
	return launchColumns(s, to.row(), to.h, to.d, from.stride, from.plane, to.stride, to.plane, weights, src, dst, b)
}

func alongZ[Out Pixel](s *gpu.Stream, dst *gpu.Buffer[Out], to shape, src *gpu.Buffer[float32], from shape, weights *gpu.Buffer[float32], b Boundary) error {
	n := weights.Len()
	if onCPU(s) {
		t := taps{1, 1, n, 0, 0, n / 2, weights}
		return lines(s, t, dst, to, src, from, b)
	}
	return launchColumns(s, to.row(), to.d, to.h, from.plane, from.stride, to.plane, to.stride, weights, src, dst, b)
}

// launchColumns correlates along any direction but that of the rows: lines of n elements,
// beside each other for inner adjacent elements, and that outer times.
func launchColumns[Out Pixel](s *gpu.Stream, inner, n, outer, fromStep, fromOuter, toStep, toOuter int, weights, src *gpu.Buffer[float32], dst *gpu.Buffer[Out], b Boundary) error {
	grid := gpu.Blocks(gpu.Dim3{X: ceil(inner, 32), Y: ceil(n, kernels.ColumnTile), Z: min(outer, 1<<15)}, gpu.Dim3{X: 32, Y: kernels.ColumnThreads})
	return kernels.LaunchCorrelateColumns(s, grid, int(b.Mode), b.Value, weights.Len()/2, inner, n, outer, fromStep, fromOuter, toStep, toOuter, weights, src, dst)
}

// lines runs the kernel for processors, which takes any stencil.
func lines[Out, In Pixel](s *gpu.Stream, t taps, dst *gpu.Buffer[Out], to shape, src *gpu.Buffer[In], from shape, b Boundary) error {
	grid := gpu.Blocks(gpu.Dim3{X: 1, Y: to.h, Z: to.d}, gpu.Dim3{X: 1})
	return kernels.LaunchCorrelateLines(s, grid, int(b.Mode), b.Value, t.w, t.h, t.d, t.cx, t.cy, t.cz, to.w, to.h, to.d, to.c, from.stride, from.plane, to.stride, to.plane, t.weights, src, dst)
}

// Gaussian smooths src with a Gaussian of standard deviation sigma pixels. As in
// scipy.ndimage.gaussian_filter, the weights end at a distance of truncate standard
// deviations, rounded to whole pixels, and their sum is 1. A truncate of 0 means 4.
func Gaussian[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], sigma, truncate float64, b Boundary, work ...*gpu.Workspace) error {
	return gaussian("Gaussian", s, dst.volume(), src.volume(), sigma, truncate, b, false, work)
}

// GaussianVolume is [Gaussian] for volumes.
func GaussianVolume[Out, In Pixel](s *gpu.Stream, dst Volume[Out], src Volume[In], sigma, truncate float64, b Boundary, work ...*gpu.Workspace) error {
	return gaussian("GaussianVolume", s, dst, src, sigma, truncate, b, true, work)
}

var hostWeights = sync.Pool{New: func() any { return new([]float32) }}

func gaussian[Out, In Pixel](op string, s *gpu.Stream, dst Volume[Out], src Volume[In], sigma, truncate float64, b Boundary, volume bool, work []*gpu.Workspace) error {
	if truncate == 0 {
		truncate = 4
	}
	if !(sigma >= 0) || !(truncate > 0) || !(sigma*truncate < mostTaps/4) {
		return invalid(op, "sigma", "%g pixels, truncated at %g standard deviations; want sigma of at least 0, and a product below %d", sigma, truncate, mostTaps/4)
	}
	p := hostWeights.Get().(*[]float32)
	defer hostWeights.Put(p)
	*p = appendGaussian((*p)[:0], sigma, truncate)
	var z []float32
	if volume {
		z = *p
	}
	return separable(op, s, dst, src, *p, *p, z, b, work)
}

// appendGaussian appends the weights of a Gaussian.
func appendGaussian(weights []float32, sigma, truncate float64) []float32 {
	radius := int(truncate*sigma + 0.5)
	at := func(k int) float64 {
		if k == 0 {
			return 1
		}
		x := float64(k) / sigma
		return math.Exp(-x * x / 2)
	}
	sum := 0.0
	for k := -radius; k <= radius; k++ {
		sum += at(k)
	}
	for k := -radius; k <= radius; k++ {
		weights = append(weights, float32(at(k)/sum))
	}
	return weights
}
