package main

import "quern.dev/kernel"

// Histogram equalization of the luminance: count the tones, sum the counts into a
// curve, map each pixel's luminance along the curve, and scale its color
// accordingly. A tone is an sRGB-encoded luminance, so that the bins are
// perceptually uniform.
const (
	bins = 256

	// darkest is the lower limit of the luminance used for scaling: a fifth of
	// the smallest step of 8-bit sRGB above black.
	darkest = 6e-5

	histogramThreads = 256
	histogramRun     = 16 // pixels per thread
)

// histogram adds the number of pixels of each tone to counts. Each block first
// counts its pixels in shared memory, so that each bin takes one global atomic
// operation per block.
//
//quern:kernel block=256
func histogram(t kernel.Thread, planes []float32, counts []uint32) {
	local := kernel.Shared[[bins]uint32](t)
	for b := t.ThreadIdx.X; b < bins; b += histogramThreads {
		local[b] = 0
	}
	t.Sync()

	n := len(planes) / 3
	first := t.BlockIdx.X*(histogramThreads*histogramRun) + t.ThreadIdx.X
	for k := range histogramRun {
		if i := first + k*histogramThreads; i < n {
			c := rgb{planes[i], planes[n+i], planes[2*n+i]}
			tone := encodeSRGB(c.luminance())
			kernel.AtomicAdd(&local[min(int(tone*bins), bins-1)], 1)
		}
	}
	t.Sync()

	for b := t.ThreadIdx.X; b < bins; b += histogramThreads {
		if count := local[b]; count != 0 {
			kernel.AtomicAdd(&counts[b], count)
		}
	}
}

// toneCurve computes the curve that maps tones to tones, at bins+1 evenly spaced
// points, from the histogram: the cumulative distribution, mixed with the
// identity by strength. It is an inclusive scan by a single block (Hillis and
// Steele, Data parallel algorithms, 1986).
//
//quern:kernel block=256
func toneCurve(t kernel.Thread, strength float32, counts []uint32, curve []float32) {
	sums := kernel.Shared[[bins]uint32](t)
	b := t.ThreadIdx.X
	sums[b] = counts[b]
	t.Sync()
	for d := 1; d < bins; d *= 2 {
		var left uint32
		if b >= d {
			left = sums[b-d]
		}
		t.Sync()
		sums[b] += left
		t.Sync()
	}

	total := max(sums[bins-1], 1)
	identity := float32(b+1) * (1.0 / bins)
	curve[b+1] = kernel.Lerp(identity, float32(sums[b])/float32(total), strength)
	if b == 0 {
		curve[0] = 0
	}
}

// equalize maps the luminance of each pixel along the curve.
//
//quern:kernel
func equalize(t kernel.Thread, curve, planes []float32) {
	n := len(planes) / 3
	i := t.Global()
	if i >= n {
		return
	}
	c := rgb{planes[i], planes[n+i], planes[2*n+i]}
	y := max(c.luminance(), darkest)
	tone := encodeSRGB(y) * bins
	b := min(int(tone), bins-1)
	target := decodeSRGB(kernel.Lerp(curve[b], curve[b+1], tone-float32(b)))
	c = c.scale(target / y)
	planes[i] = c.R
	planes[n+i] = c.G
	planes[2*n+i] = c.B
}
