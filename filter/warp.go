package filter

import (
	"math"

	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Interpolation is how an image is read between its pixels.
type Interpolation uint8

const (
	NearestPixel Interpolation = iota // the nearest pixel; ties go to the right and down
	Linear                            // between 2x2 pixels
	Cubic                             // 4x4 pixels, the kernel of Keys with a = -0.75, as in OpenCV and PyTorch
	Lanczos                           // 8x8 pixels, the windowed sinc with a = 4, weights adding up to 1
	Area                              // the mean over the area of the output's pixel
)

func (i Interpolation) check(op string) error {
	if i > Area {
		return invalid(op, "interpolation", "unknown interpolation %d", int(i))
	}
	return nil
}

// Resize scales src to the size of dst. The edges of the images coincide: column x of dst shows
// the position (x+0.5)*src.Width/dst.Width-0.5 of src. Pixels beyond the edges are like those
// at the edges. Only [Area] takes all pixels of src into account if dst is much smaller; it
// writes the exact means over the areas of the pixels.
func Resize[T Pixel](s *gpu.Stream, dst, src Image[T], i Interpolation) error {
	const op = "Resize"
	to, from, err := sides(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if err := i.check(op); err != nil {
		return err
	}
	if to.c != from.c {
		return invalid(op, "dst", "%d channels, but src has %d", to.c, from.c)
	}
	if to.empty() {
		return nil
	}
	if from.empty() {
		return invalid(op, "src", "no pixels")
	}
	if i == Area {
		return failed(op, kernels.LaunchShrink(s, blocks2(to.w, to.h, 1), to.w, to.h, from.w, from.h, to.c, from.stride, to.stride, src.Data, dst.Data))
	}
	sx, sy := float64(from.w)/float64(to.w), float64(from.h)/float64(to.h)
	if i == Linear {
		grid := blocks2(to.row(), ceil(to.h, kernels.ResizeRows), 1)
		return failed(op, kernels.LaunchResizeLinear(s, grid, sx, (sx-1)/2, sy, (sy-1)/2, to.w, to.h, from.w, from.h, to.c, from.stride, to.stride, src.Data, dst.Data))
	}
	m := [9]float64{sx, 0, (sx - 1) / 2, 0, sy, (sy - 1) / 2, 0, 0, 1}
	if i == NearestPixel {
		// More than the error of a position, and less than the distance of others from ties.
		const tie = 1.0 / (1 << 26)
		m[2], m[5] = m[2]+tie, m[5]+tie
	}
	return failed(op, warp(s, dst.Data, to, src.Data, from, m, i, Boundary{Mode: Nearest}))
}

// Rotate rotates src counterclockwise, as it is displayed with row 0 at the top, by an angle in
// degrees around its center, which becomes the center of dst.
func Rotate[T Pixel](s *gpu.Stream, dst, src Image[T], degrees float64, i Interpolation, b Boundary) error {
	sin, cos := math.Sincos(math.Mod(degrees, 360) * math.Pi / 180)
	if math.Mod(degrees, 90) == 0 {
		sin, cos = math.Round(sin), math.Round(cos)
	}
	// Positions from center to center.
	dx, dy := float64(dst.Width-1)/2, float64(dst.Height-1)/2
	cx, cy := float64(src.Width-1)/2, float64(src.Height-1)/2
	m := [9]float64{cos, -sin, cx - cos*dx + sin*dy, sin, cos, cy - sin*dx - cos*dy, 0, 0, 1}
	return transform("Rotate", s, dst, src, m, i, b)
}

// Affine writes to the pixel in column x of row y of dst the value of src at the position
//
//	(m[0][0]*x + m[0][1]*y + m[0][2], m[1][0]*x + m[1][1]*y + m[1][2])
//
// The matrix leads from the output to the input, as in scipy.ndimage.affine_transform. The
// centers of pixels are at integer positions. Positions are computed in float64. [Area] is the
// mean of up to 16x16 bilinear samples, as many as the pixel covers pixels of src.
func Affine[T Pixel](s *gpu.Stream, dst, src Image[T], m [2][3]float64, i Interpolation, b Boundary) error {
	return transform("Affine", s, dst, src, [9]float64{m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2], 0, 0, 1}, i, b)
}

// Perspective is like [Affine] for positions that are divided by
// m[2][0]*x + m[2][1]*y + m[2][2].
func Perspective[T Pixel](s *gpu.Stream, dst, src Image[T], m [3][3]float64, i Interpolation, b Boundary) error {
	return transform("Perspective", s, dst, src, [9]float64{m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2], m[2][0], m[2][1], m[2][2]}, i, b)
}

func transform[T Pixel](op string, s *gpu.Stream, dst, src Image[T], m [9]float64, i Interpolation, b Boundary) error {
	to, from, err := sides(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if err := i.check(op); err != nil {
		return err
	}
	if err := b.check(op); err != nil {
		return err
	}
	if to.c != from.c {
		return invalid(op, "dst", "%d channels, but src has %d", to.c, from.c)
	}
	for k, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return invalid(op, "matrix", "element %d is %g", k, v)
		}
	}
	if to.empty() {
		return nil
	}
	if from.empty() {
		return invalid(op, "src", "no pixels")
	}
	return failed(op, warp(s, dst.Data, to, src.Data, from, m, i, b))
}

func warp[T Pixel](s *gpu.Stream, dst *gpu.Buffer[T], to shape, src *gpu.Buffer[T], from shape, m [9]float64, i Interpolation, b Boundary) error {
	grid := blocks2(to.w, to.h, 1)
	switch i {
	case Cubic:
		return kernels.LaunchWarpCubic(s, grid, m, int(b.Mode), b.Value, to.w, to.h, from.w, from.h, to.c, from.stride, to.stride, src, dst)
	case Lanczos:
		return kernels.LaunchWarpLanczos(s, grid, m, int(b.Mode), b.Value, to.w, to.h, from.w, from.h, to.c, from.stride, to.stride, src, dst)
	default:
		return kernels.LaunchWarp(s, grid, m, int(i), int(b.Mode), b.Value, to.w, to.h, from.w, from.h, to.c, from.stride, to.stride, src, dst)
	}
}

// Convert writes scale*x + offset for each value x of src, computed in float32 and rounded as
// by [Correlate]. The types of dst and src differ.
func Convert[Out, In Pixel](s *gpu.Stream, dst Image[Out], src Image[In], scale, offset float32) error {
	const op = "Convert"
	to, from, err := pair(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if _, same := any(*new(Out)).(In); same {
		return invalid(op, "dst", "its type is that of src; use Correlate with a stencil of one weight")
	}
	if to.empty() {
		return nil
	}
	return failed(op, kernels.LaunchConvert(s, blocks2(to.row(), to.h, 1), scale, offset, to.row(), to.h, from.stride, to.stride, src.Data, dst.Data))
}
