package kernels

import "quern.dev/kernel"

// Affine maps a pixel (x, y) to (A*x + B*y + C, D*x + E*y + F).
type Affine struct{ A, B, C, D, E, F float32 }

// rotate writes to each pixel of a w x h image the bilinearly interpolated value of the
// source at the position to which m maps the pixel. Outside of the source the value is 0.
//
//quern:kernel block=32x8
func rotate(t kernel.Thread, m Affine, w, h int, in, out []float32) {
	rotatePixel(t, m, w, h, in, out)
}

// rotateUnchecked is rotate without bounds checks.
//
//quern:kernel block=32x8 unchecked
func rotateUnchecked(t kernel.Thread, m Affine, w, h int, in, out []float32) {
	rotatePixel(t, m, w, h, in, out)
}

func rotatePixel(t kernel.Thread, m Affine, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	fx, fy := float32(x), float32(y)
	sx, sy := m.A*fx+m.B*fy+m.C, m.D*fx+m.E*fy+m.F
	left, top := kernel.Floor(sx), kernel.Floor(sy)
	x0, y0 := int(left), int(top)
	upper := kernel.Lerp(pixel(w, h, in, x0, y0), pixel(w, h, in, x0+1, y0), sx-left)
	lower := kernel.Lerp(pixel(w, h, in, x0, y0+1), pixel(w, h, in, x0+1, y0+1), sx-left)
	out[y*w+x] = kernel.Lerp(upper, lower, sy-top)
}

func pixel(w, h int, image []float32, x, y int) float32 {
	if x < 0 || x >= w || y < 0 || y >= h {
		return 0
	}
	return image[y*w+x]
}
