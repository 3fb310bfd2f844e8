package main

import (
	"math"

	"quern.dev/kernel"
)

// rotation maps positions in the result to positions in the source image, in
// pixels. The center of pixel (i, j) is at (i, j).
type rotation struct {
	Cos, Sin   float32
	InX, InY   float32 // the center of the source
	OutX, OutY float32 // the center of the result
}

// source returns the source position that is rotated to pixel (x, y). The
// explicit conversions keep products from being fused with sums, so that every
// device samples at the same positions.
func (r rotation) source(x, y int) (sx, sy float32) {
	dx, dy := float32(x)-r.OutX, float32(y)-r.OutY
	sx = r.InX + (float32(r.Cos*dx) - float32(r.Sin*dy))
	sy = r.InY + (float32(r.Sin*dx) + float32(r.Cos*dy))
	return sx, sy
}

// coverage returns how much of a pixel at (x, y) an image of w x h pixels
// covers, from 0 to 1: the edge is blended over the width of one pixel.
func coverage(x, y float32, w, h int) float32 {
	inside := min(min(x+1, float32(w)-x), min(y+1, float32(h)-y))
	return kernel.Saturate(inside)
}

// rotateBilinear rotates the planes in, with w x h pixels, into the planes out,
// with outW x outH pixels, and blends the edges over the background.
//
//quern:kernel block=32x8
func rotateBilinear(t kernel.Thread, r rotation, background rgb, w, h int, in []float32, outW, outH int, out []float32) {
	x, y := t.Global2()
	if x >= outW || y >= outH {
		return
	}
	o, outN := y*outW+x, outW*outH
	sx, sy := r.source(x, y)
	alpha := coverage(sx, sy, w, h)
	c := background
	if alpha > 0 {
		fx, fy := kernel.Floor(sx), kernel.Floor(sy)
		tx, ty := sx-fx, sy-fy
		x0, x1 := kernel.Clamp(int(fx), 0, w-1), kernel.Clamp(int(fx)+1, 0, w-1)
		y0, y1 := kernel.Clamp(int(fy), 0, h-1)*w, kernel.Clamp(int(fy)+1, 0, h-1)*w
		var v [3]float32
		for p := range 3 {
			plane := p * w * h
			top := kernel.Lerp(in[plane+y0+x0], in[plane+y0+x1], tx)
			bottom := kernel.Lerp(in[plane+y1+x0], in[plane+y1+x1], tx)
			v[p] = kernel.Lerp(top, bottom, ty)
		}
		c = background.mix(rgb{v[0], v[1], v[2]}, alpha)
	}
	out[o] = c.R
	out[outN+o] = c.G
	out[2*outN+o] = c.B
}

// rotateBicubic is rotateBilinear with Catmull-Rom interpolation over 4x4
// pixels.
//
//quern:kernel block=32x8
func rotateBicubic(t kernel.Thread, r rotation, background rgb, w, h int, in []float32, outW, outH int, out []float32) {
	x, y := t.Global2()
	if x >= outW || y >= outH {
		return
	}
	o, outN := y*outW+x, outW*outH
	sx, sy := r.source(x, y)
	alpha := coverage(sx, sy, w, h)
	c := background
	if alpha > 0 {
		fx, fy := kernel.Floor(sx), kernel.Floor(sy)
		wx, wy := catmullRom(sx-fx), catmullRom(sy-fy)
		var columns, rows [4]int
		for k := range 4 {
			columns[k] = kernel.Clamp(int(fx)+k-1, 0, w-1)
			rows[k] = kernel.Clamp(int(fy)+k-1, 0, h-1) * w
		}
		var v [3]float32
		for p := range 3 {
			plane := p * w * h
			var sum float32
			for j := range 4 {
				row := plane + rows[j]
				var line float32
				for k := range 4 {
					line += wx[k] * in[row+columns[k]]
				}
				sum += wy[j] * line
			}
			v[p] = max(0, sum)
		}
		c = background.mix(rgb{v[0], v[1], v[2]}, alpha)
	}
	out[o] = c.R
	out[outN+o] = c.G
	out[2*outN+o] = c.B
}

// catmullRom returns the weights of four neighbors for a position at fraction t
// between the second and the third (Catmull and Rom, A class of local
// interpolating splines, 1974; Keys' cubic convolution with a = -1/2).
func catmullRom(t float32) [4]float32 {
	return [4]float32{
		((-0.5*t+1)*t - 0.5) * t,
		(1.5*t-2.5)*t*t + 1,
		((-1.5*t+2)*t + 0.5) * t,
		(0.5*t - 0.5) * t * t,
	}
}

// newRotation returns the rotation of a w x h image by an angle in degrees,
// counterclockwise, and the size of the result that holds the whole image.
func newRotation(w, h int, degrees float64) (r rotation, outW, outH int) {
	sin, cos := sincosDegrees(degrees)
	// Rounding errors of less than a pixel must not add a pixel.
	const slack = 1e-6
	fw, fh := float64(w), float64(h)
	outW = int(math.Ceil(fw*math.Abs(cos) + fh*math.Abs(sin) - slack))
	outH = int(math.Ceil(fw*math.Abs(sin) + fh*math.Abs(cos) - slack))
	return rotation{
		Cos: float32(cos), Sin: float32(sin),
		InX: float32(w-1) / 2, InY: float32(h-1) / 2,
		OutX: float32(outW-1) / 2, OutY: float32(outH-1) / 2,
	}, outW, outH
}

// sincosDegrees is exact at the multiples of 90 degrees.
func sincosDegrees(degrees float64) (sin, cos float64) {
	turn := math.Mod(degrees, 360)
	if turn < 0 {
		turn += 360
	}
	switch turn {
	case 0, 360:
		return 0, 1
	case 90:
		return 1, 0
	case 180:
		return 0, -1
	case 270:
		return -1, 0
	}
	return math.Sincos(turn * (math.Pi / 180))
}
