package kernels

import (
	"math"

	"quern.dev/kernel"
)

// spread averages weights along rows, or columns, with a triangular filter: the pixel at a distance of radius has weight 0.
//
//quern:kernel
func spread(t kernel.Thread, w Window, radius int, down bool, weights, out []float64) {
	x, y := t.Global2()
	if x >= w.W || y >= w.H {
		return
	}
	at, step, here, n := y*w.W+x, 1, x, w.W
	if down {
		step, here, n = w.W, y, w.H
	}
	sum := 0.0
	for d := max(1-radius, -here); d <= min(radius-1, n-1-here); d++ {
		share := radius - d
		if d < 0 {
			share = radius + d
		}
		sum = math.FMA(float64(share), weights[at+d*step], sum)
	}
	out[at] = sum
}

// mix adds an image, as far as its weights reach and it has data. box is where its values are; sums, totals and owners are those of the
// whole window.
//
//quern:kernel
func mix(t kernel.Thread, box, whole Window, image int32, first bool, values, present, weights, sums, totals []float64, owners []int32) {
	x, y := t.Global2()
	if x >= box.W || y >= box.H {
		return
	}
	i := y*box.W + x
	w := float64(weights[i] * present[i])
	if !(w > 0) {
		return
	}
	k, _ := whole.at(box.X+x, box.Y+y)
	sums[k] = math.FMA(w, values[i], sums[k])
	if first {
		totals[k] += w
		claim(owners, &whole, box.X+x, box.Y+y, image)
	}
}

// divide makes means of sums, and marks the pixels of a single image.
//
//quern:kernel
func divide(t kernel.Thread, n int, sums, totals []float64, owners []int32, pure []uint8) {
	i := t.Global()
	if i >= n {
		return
	}
	if totals[i] > 0 {
		sums[i] /= totals[i]
	}
	pure[i] = 0
	if owners[i] != Several {
		pure[i] = 1
	}
}
