package kernels

import "quern.dev/kernel"

// cannyGradient writes the squared magnitude of the Sobel gradient of each pixel, and in which
// direction it points: 0 along the row, 1 along the column, 2 along the diagonal to the lower
// right, and 3 along the other one. Products are not fused, so that all devices agree.
//
// Unchecked, because the rows and columns that are read are limited to the image.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func cannyGradient[T kernel.Number](t kernel.Thread, w, h, stride int, src []T, magnitude []float32, direction []uint8) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	x0, x1 := max(x-1, 0), min(x+1, w-1)
	above, row, below := max(y-1, 0)*stride, y*stride, min(y+1, h-1)*stride
	a, b, c := float32(src[above+x0]), float32(src[above+x]), float32(src[above+x1])
	d, f := float32(src[row+x0]), float32(src[row+x1])
	g, i, j := float32(src[below+x0]), float32(src[below+x]), float32(src[below+x1])
	dx := (c - a) + 2*(f-d) + (j - g)
	dy := (g - a) + 2*(i-b) + (j - c)
	magnitude[y*w+x] = float32(dx*dx) + float32(dy*dy)
	ax, ay := kernel.Abs(dx), kernel.Abs(dy)
	// The tangents of 22.5 and 67.5 degrees.
	code := uint8(2)
	switch {
	case ay < float32(ax*0.41421356):
		code = 0
	case ay > float32(ax*2.4142135):
		code = 1
	case (dx < 0) != (dy < 0):
		code = 3
	}
	direction[y*w+x] = code
}

// cannyClasses writes 2 for pixels whose magnitude is above high and the largest in the
// direction of the gradient, 1 for those above low, and 0 for the others.
//
// Unchecked, because set reads only pixels of the image.
//
//quern:kernel block=32x8 unchecked
func cannyClasses(t kernel.Thread, low, high float32, w, h int, magnitude []float32, direction []uint8, classes []uint8) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	near := func(dx, dy int) float32 {
		if u, v := x+dx, y+dy; u >= 0 && u < w && v >= 0 && v < h {
			return magnitude[v*w+u]
		}
		return 0
	}
	m := magnitude[y*w+x]
	class := uint8(0)
	if m > low {
		var before, after float32
		switch direction[y*w+x] {
		case 0:
			before, after = near(-1, 0), near(1, 0)
		case 1:
			before, after = near(0, -1), near(0, 1)
		case 2:
			before, after = near(-1, -1), near(1, 1)
		default:
			before, after = near(1, -1), near(-1, 1)
		}
		if m > before && m >= after {
			class = 1
			if m > high {
				class = 2
			}
		}
	}
	classes[y*w+x] = class
}

// cannyMark marks the roots of components that have a pixel of class 2.
//
// Unchecked, because roots are pixels.
//
//quern:kernel unchecked
func cannyMark(t kernel.Thread, classes []uint8, labels, marks []int32) {
	if i := t.Global(); i < len(classes) && classes[i] == 2 {
		kernel.StoreRelaxed(&marks[labels[i]], 1)
	}
}

// cannyWrite writes 255 for the pixels of marked components.
//
// Unchecked, because roots are pixels.
//
//quern:kernel block=32x8 unchecked
func cannyWrite(t kernel.Thread, w, h, stride int, labels, marks []int32, dst []uint8) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	v := uint8(0)
	if r := labels[y*w+x]; r >= 0 && marks[r] != 0 {
		v = 255
	}
	dst[y*stride+x] = v
}
