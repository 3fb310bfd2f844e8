package kernels

import "quern.dev/kernel"

// mandelbrot writes for each point c of a w x h image the number of steps of z = z*z + c,
// at most limit, after which z leaves the circle of radius 2. The image shows real parts
// from -2.25 to 0.75 and imaginary parts from -1.5 to 1.5.
//
//quern:kernel block=16x16
func mandelbrot(t kernel.Thread, w, h, limit int, steps []int32) {
	mandelbrotPoint(t, w, h, limit, steps)
}

// mandelbrotUnchecked is mandelbrot without bounds checks.
//
//quern:kernel block=16x16 unchecked
func mandelbrotUnchecked(t kernel.Thread, w, h, limit int, steps []int32) {
	mandelbrotPoint(t, w, h, limit, steps)
}

func mandelbrotPoint(t kernel.Thread, w, h, limit int, steps []int32) {
	px, py := t.Global2()
	if px >= w || py >= h {
		return
	}
	cr := float32(px)*(3/float32(w)) - 2.25
	ci := float32(py)*(3/float32(h)) - 1.5
	var zr, zi float32
	n := 0
	for n < limit {
		rr, ii := zr*zr, zi*zi
		if rr+ii > 4 {
			break
		}
		zr, zi = rr-ii+cr, 2*zr*zi+ci
		n++
	}
	steps[py*w+px] = int32(n)
}
