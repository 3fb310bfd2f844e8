package filter

import (
	"math"

	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// mostBilateral is the largest radius of [Bilateral].
const mostBilateral = 64

// Bilateral writes to each pixel of dst a mean of the pixels of src at a distance of at most
// radius, which keeps edges. The weight of a pixel is the product of two Gaussians: one of the
// distance, with the standard deviation space in pixels, and one of the difference of the
// colors (the square root of the sum of the squared differences of the channels), with the
// standard deviation colors in units of the pixels' values.
//
// A pixel takes time in proportion to the square of the radius, which is at most 64: then there are
// 12,853 pixels at that distance. For larger radii, filter a smaller picture (Resize with Area).
func Bilateral[T Pixel](s *gpu.Stream, dst, src Image[T], radius int, space, colors float64, b Boundary) error {
	const op = "Bilateral"
	to, from, err := pair(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if radius < 0 || radius > mostBilateral {
		return invalid(op, "radius", "%d, want 0 to %d", radius, mostBilateral)
	}
	if !(space > 0) || !(colors > 0) {
		return invalid(op, "sigma", "%g pixels and %g, want standard deviations above 0", space, colors)
	}
	if err := b.check(op); err != nil || to.empty() {
		return err
	}
	exponent := func(sigma float64) float32 { return float32(max(-math.Log2E/(2*sigma*sigma), -math.MaxFloat32)) }
	return failed(op, kernels.LaunchBilateral(s, blocks2(to.w, to.h, 1), int(b.Mode), b.Value, radius, exponent(space), exponent(colors), to.w, to.h, to.c, from.stride, to.stride, src.Data, dst.Data))
}
