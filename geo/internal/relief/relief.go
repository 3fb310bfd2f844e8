// Package relief has the mathematics of the shape of surfaces, for hosts and kernels alike: gradients by Horn's formula,
// as gdaldem computes them. Results have the same bits on every device.
package relief

import "math"

func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }

// Window is a part of a surface of Width x Height pixels: Columns columns from Left on, and rows from Top on.
type Window struct {
	Width, Height int
	Left, Top     int
	Columns       int
	Edges         bool // pixels at the edge, and next to pixels without data, have neighbors too
}

// at returns the height of a pixel of the window, which is NaN without data.
func (w *Window) at(heights []float32, x, y int) float64 {
	return float64(heights[(y-w.Top)*w.Columns+x-w.Left])
}

// beyond continues from b over a.
func beyond(a, b float64) float64 { return fma(2, a, -b) }

// neighbor returns the height of a pixel that may be outside of the surface by one in x or y. Heights continue linearly there.
func (w *Window) neighbor(heights []float32, x, y int) float64 {
	switch {
	case y < 0:
		return beyond(w.at(heights, x, 0), w.at(heights, x, min(1, w.Height-1)))
	case y >= w.Height:
		return beyond(w.at(heights, x, w.Height-1), w.at(heights, x, max(w.Height-2, 0)))
	case x < 0:
		return beyond(w.at(heights, 0, y), w.at(heights, min(1, w.Width-1), y))
	case x >= w.Width:
		return beyond(w.at(heights, w.Width-1, y), w.at(heights, max(w.Width-2, 0), y))
	}
	return w.at(heights, x, y)
}

// Neighbors returns the heights of a pixel and its neighbors, row by row. It is false if one that counts is missing.
// The window has all neighbors that are in the surface.
func (w *Window) Neighbors(heights []float32, x, y int) (n [9]float64, ok bool) {
	edge := x == 0 || y == 0 || x == w.Width-1 || y == w.Height-1
	if edge && !w.Edges {
		return n, false
	}
	center := w.at(heights, x, y)
	if center != center {
		return n, false
	}
	for k := range 9 {
		i, j := x+k%3-1, y+k/3-1
		if y == 0 || y == w.Height-1 {
			i = min(max(i, 0), w.Width-1) // columns of corners are repeated
		}
		v := w.neighbor(heights, i, j)
		if v != v {
			if !w.Edges {
				return n, false
			}
			v = center
		}
		n[k] = v
	}
	return n, true
}

// Slopes returns Horn's sums of differences to the west and to the south: eight times the rise per pixel.
func Slopes(n *[9]float64) (west, south float64) {
	return (n[0] + n[3] + n[3] + n[6]) - (n[2] + n[5] + n[5] + n[8]), (n[6] + n[7] + n[7] + n[8]) - (n[0] + n[1] + n[1] + n[2])
}

// Light is a light and the size of pixels: X and Y are 1/width and 1/height of a pixel, the latter negative if rows go south, and Z
// is the factor of heights divided by 8.
type Light struct {
	X, Y, Z          float64
	SinAlt, CosAlt   float64
	SinAzim, CosAzim float64
}

// NewLight returns a light from an azimuth, clockwise from the north, and at an altitude, both in degrees. X and Y are 0.
func NewLight(azimuth, altitude, z float64) Light {
	l := Light{Z: z / 8}
	l.SinAlt, l.CosAlt = math.Sincos(altitude * math.Pi / 180)
	l.SinAzim, l.CosAzim = math.Sincos(azimuth * math.Pi / 180)
	return l
}

// Shade returns the brightness of a slope, from 1 to 255.
func (l *Light) Shade(west, south float64) uint8 {
	a, b := float64(west*l.X), float64(south*l.Y)
	toLight := fma(float64(float64(a*l.SinAzim)*l.CosAlt), l.Z, fma(-float64(float64(b*l.CosAzim)*l.CosAlt), l.Z, l.SinAlt))
	length := math.Sqrt(fma(float64(l.Z*l.Z), fma(a, a, float64(b*b)), 1))
	v := float64(254*toLight) / length
	return uint8(max(v, 0) + 1.5)
}
