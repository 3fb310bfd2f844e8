package kernels

import "quern.dev/kernel"

// life computes the next generation of Conway's Game of Life on a w x h torus. A cell is 1
// or 0.
//
//quern:kernel block=32x8
func life(t kernel.Thread, w, h int, in, out []uint8) {
	lifeCell(t, w, h, in, out)
}

// lifeUnchecked is life without bounds checks.
//
//quern:kernel block=32x8 unchecked
func lifeUnchecked(t kernel.Thread, w, h int, in, out []uint8) {
	lifeCell(t, w, h, in, out)
}

func lifeCell(t kernel.Thread, w, h int, in, out []uint8) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	left, right := x-1, x+1
	if left < 0 {
		left = w - 1
	}
	if right == w {
		right = 0
	}
	up, down := y-1, y+1
	if up < 0 {
		up = h - 1
	}
	if down == h {
		down = 0
	}
	above, here, below := up*w, y*w, down*w
	neighbors := in[above+left] + in[above+x] + in[above+right] +
		in[here+left] + in[here+right] +
		in[below+left] + in[below+x] + in[below+right]
	var next uint8
	if neighbors == 3 || neighbors == 2 && in[here+x] == 1 {
		next = 1
	}
	out[here+x] = next
}
