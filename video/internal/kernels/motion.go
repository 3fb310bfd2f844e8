package kernels

import "quern.dev/kernel"

// Window is the part of a frame whose motion is measured: Size x Size squares of Step x Step pixels, from the pixel (X, Y).
type Window struct {
	Width, Height int // of the frame
	X, Y          int
	Size, Step    int
}

// window writes the luma of the squares as complex numbers, with weights that fall to 0 at the edge: those of a Hann
// window, which taper has for one axis. The mean is not subtracted: whiten ignores it.
//
//quern:kernel
func window(t kernel.Thread, w Window, rgba []uint8, taper []float32, out []complex64) {
	x, y := t.Global2()
	if x >= w.Size || y >= w.Size {
		return
	}
	sum := uint32(0)
	for j := range w.Step {
		for i := range w.Step {
			column, row := w.X+x*w.Step+i, w.Y+y*w.Step+j
			if column < w.Width && row < w.Height {
				at := 4 * (row*w.Width + column)
				sum += 54*uint32(rgba[at]) + 183*uint32(rgba[at+1]) + 19*uint32(rgba[at+2])
			}
		}
	}
	level := float32(sum) / float32(256*w.Step*w.Step)
	out[y*w.Size+x] = complex((level-128)*taper[x]*taper[y], 0)
}

// whiten writes the cross power spectrum of two frames, divided by its magnitude.
//
//quern:kernel
func whiten(t kernel.Thread, before, after, out []complex64) {
	i := t.Global()
	if i >= len(out) || i >= len(before) || i >= len(after) {
		return
	}
	a, b := before[i], after[i]
	re := real(a)*real(b) + imag(a)*imag(b)
	im := real(a)*imag(b) - imag(a)*real(b)
	size := kernel.Sqrt(re*re + im*im)
	if i == 0 || !(size > 1e-9) {
		out[i] = 0
		return
	}
	out[i] = complex(re/size, im/size)
}
