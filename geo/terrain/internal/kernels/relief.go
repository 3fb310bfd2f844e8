package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/kernel"
)

func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }

// Rows are rows of a surface of Width x Height pixels, from Y on.
type Rows struct {
	Width, Height int
	Y, N          int
	Edges         bool // pixels at the edge, and next to pixels without data, are computed too
}

// at returns the height of a pixel, which is in the rows.
func (r *Rows) at(heights []float32, x, y int) float64 {
	return float64(heights[(y-r.Y)*r.Width+x])
}

// beyond continues from b over a.
func beyond(a, b float64) float64 { return fma(2, a, -b) }

// neighbor returns the height of a pixel that may be outside by one in x or y. Heights continue linearly there.
func (r *Rows) neighbor(heights []float32, x, y int) float64 {
	switch {
	case y < 0:
		return beyond(r.at(heights, x, 0), r.at(heights, x, min(1, r.Height-1)))
	case y >= r.Height:
		return beyond(r.at(heights, x, r.Height-1), r.at(heights, x, max(r.Height-2, 0)))
	case x < 0:
		return beyond(r.at(heights, 0, y), r.at(heights, min(1, r.Width-1), y))
	case x >= r.Width:
		return beyond(r.at(heights, r.Width-1, y), r.at(heights, max(r.Width-2, 0), y))
	}
	return r.at(heights, x, y)
}

// window returns the heights of a pixel and its neighbors, row by row. It is false if one that counts is missing.
func (r *Rows) window(heights []float32, x, y int) (w [9]float64, ok bool) {
	edge := x == 0 || y == 0 || x == r.Width-1 || y == r.Height-1
	if edge && !r.Edges {
		return w, false
	}
	center := r.at(heights, x, y)
	if center != center {
		return w, false
	}
	for k := range 9 {
		i, j := x+k%3-1, y+k/3-1
		if y == 0 || y == r.Height-1 {
			i = min(max(i, 0), r.Width-1) // columns of corners are repeated
		}
		v := r.neighbor(heights, i, j)
		if v != v {
			if !r.Edges {
				return w, false
			}
			v = center
		}
		w[k] = v
	}
	return w, true
}

// slopes returns Horn's sums of differences to the west and to the south: eight times the rise per pixel.
func slopes(w *[9]float64) (west, south float64) {
	return (w[0] + w[3] + w[3] + w[6]) - (w[2] + w[5] + w[5] + w[8]), (w[6] + w[7] + w[7] + w[8]) - (w[0] + w[1] + w[1] + w[2])
}

// Light is a light and the size of pixels: X and Y are 1/width and 1/height of a pixel, the latter negative if rows go south, and Z
// is the factor of heights divided by 8.
type Light struct {
	X, Y, Z          float64
	SinAlt, CosAlt   float64
	SinAzim, CosAzim float64
}

// shade writes the brightness of pixels from 1 to 255; 0 where there is none.
//
//quern:kernel
func shade(t kernel.Thread, r Rows, y0, n int, l Light, heights []float32, out []uint8) {
	x, row := t.Global2()
	if x >= r.Width || row >= n {
		return
	}
	w, ok := r.window(heights, x, y0+row)
	if !ok {
		out[row*r.Width+x] = 0
		return
	}
	west, south := slopes(&w)
	a, b := float64(west*l.X), float64(south*l.Y)
	toLight := fma(float64(float64(a*l.SinAzim)*l.CosAlt), l.Z, fma(-float64(float64(b*l.CosAzim)*l.CosAlt), l.Z, l.SinAlt))
	length := math.Sqrt(fma(float64(l.Z*l.Z), fma(a, a, float64(b*b)), 1))
	v := float64(254*toLight) / length
	out[row*r.Width+x] = uint8(max(v, 0) + 1.5)
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
func derive(t kernel.Thread, r Rows, y0, n, kind int, dx, dy, scale float64, none float32, heights, out []float32) {
	x, row := t.Global2()
	if x >= r.Width || row >= n {
		return
	}
	i := row*r.Width + x
	w, ok := r.window(heights, x, y0+row)
	if !ok {
		out[i] = none
		return
	}
	west, south := slopes(&w)
	const degrees = 180 / math.Pi
	if kind == SlopeDegrees || kind == SlopePercent {
		a, b := float64(west*dx), float64(south*dy)
		rise := math.Sqrt(fma(a, a, float64(b*b))) / float64(8*scale)
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
