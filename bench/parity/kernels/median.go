package kernels

import "quern.dev/kernel"

// median replaces each pixel of a w x h image with the median of the 3 x 3 pixels around
// it. Pixels outside of the image equal the nearest border pixel.
//
//quern:kernel block=32x8 also=unchecked
func median(t kernel.Thread, w, h int, in, out []uint8) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	left, right := max(x-1, 0), min(x+1, w-1)
	above, here, below := max(y-1, 0)*w, y*w, min(y+1, h-1)*w
	out[here+x] = medianOf9(
		in[above+left], in[above+x], in[above+right],
		in[here+left], in[here+x], in[here+right],
		in[below+left], in[below+x], in[below+right])
}

// medianOf9 returns the median with 19 exchanges (Smith, "Implementing median filters in
// XC4000E FPGAs", 1996).
func medianOf9(a, b, c, d, e, f, g, h, i uint8) uint8 {
	b, c = order(b, c)
	e, f = order(e, f)
	h, i = order(h, i)
	a, b = order(a, b)
	d, e = order(d, e)
	g, h = order(g, h)
	b, c = order(b, c)
	e, f = order(e, f)
	h, i = order(h, i)
	_, d = order(a, d)
	f, _ = order(f, i)
	e, h = order(e, h)
	_, g = order(d, g)
	_, e = order(b, e)
	c, _ = order(c, f)
	e, _ = order(e, h)
	e, c = order(e, c)
	_, e = order(g, e)
	e, _ = order(e, c)
	return e
}

func order(a, b uint8) (low, high uint8) { return min(a, b), max(a, b) }
