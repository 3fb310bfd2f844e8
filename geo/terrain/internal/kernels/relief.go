package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/geo/internal/relief"
	"quern.dev/kernel"
)

// shade writes the brightness of pixels from 1 to 255; 0 where there is none.
//
//quern:kernel
func shade(t kernel.Thread, r relief.Window, y0, n int, l relief.Light, heights []float32, out []uint8) {
	x, row := t.Global2()
	if x >= r.Width || row >= n {
		return
	}
	w, ok := r.Neighbors(heights, x, y0+row)
	if !ok {
		out[row*r.Width+x] = 0
		return
	}
	west, south := relief.Slopes(&w)
	out[row*r.Width+x] = l.Shade(west, south)
}

// What derive computes.
const (
	SlopeDegrees = iota
	SlopePercent
	Aspect
	AspectTrigonometric
)

// derive writes slopes or aspects, and none where there is none.
//
//quern:kernel
func derive(t kernel.Thread, r relief.Window, y0, n, kind int, dx, dy, scale float64, none float32, heights, out []float32) {
	x, row := t.Global2()
	if x >= r.Width || row >= n {
		return
	}
	i := row*r.Width + x
	w, ok := r.Neighbors(heights, x, y0+row)
	if !ok {
		out[i] = none
		return
	}
	west, south := relief.Slopes(&w)
	const degrees = 180 / math.Pi
	if kind == SlopeDegrees || kind == SlopePercent {
		a, b := float64(west*dx), float64(south*dy)
		rise := math.Sqrt(math.FMA(a, a, float64(b*b))) / float64(8*scale)
		if kind == SlopePercent {
			out[i] = float32(float64(100 * rise))
		} else {
			out[i] = float32(float64(projection.Angle(rise, 1) * degrees))
		}
		return
	}
	if west == 0 && south == 0 {
		out[i] = none
		return
	}
	angle := float64(projection.Angle(south, west) * degrees) // from the east, of the way down
	switch {
	case kind == AspectTrigonometric:
		if angle < 0 {
			angle += 360
		}
	case angle > 90:
		angle = 450 - angle
	default:
		angle = 90 - angle
	}
	if angle == 360 {
		angle = 0
	}
	out[i] = float32(angle)
}
