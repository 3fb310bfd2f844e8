package main

import (
	"image"
	"image/color"
	"math"

	"quern.dev/examples/internal/example"
)

// plate is a plate before the first step. Temperatures are between 0 and 1.
type plate struct {
	width, height int
	temperature   []float32
	held          []uint8 // 1 where the temperature stays as it is
}

// newPlate returns a plate with a hot spiral and three cold discs.
func newPlate(width, height int) *plate {
	p := &plate{width, height, make([]float32, width*height), make([]uint8, width*height)}
	unit := float64(height)
	for i := range p.held {
		x, y := (float64(i%width)+0.5-float64(width)/2)/unit, (float64(i/width)+0.5)/unit-0.5
		p.temperature[i] = 0.15
		if onSpiral(x, y) {
			p.temperature[i], p.held[i] = 1, 1
		}
		for _, disc := range [][3]float64{{-0.58, -0.28, 0.07}, {0.6, 0.26, 0.1}, {-0.52, 0.3, 0.05}} {
			if math.Hypot(x-disc[0], y-disc[1]) < disc[2] {
				p.temperature[i], p.held[i] = 0, 1
			}
		}
	}
	return p
}

// onSpiral reports whether a point is on the wire, which winds three times around (0,0).
func onSpiral(x, y float64) bool {
	const growth, thickness = 0.12, 0.008 // per turn, and half of the wire's
	r, turn := math.Hypot(x, y), math.Atan2(y, x)/(2*math.Pi)
	n := math.Round(r/growth - turn) // the nearest turn of the wire at this angle
	return n >= 0 && n+turn >= 0.4 && n+turn <= 3.4 && math.Abs(r-growth*(n+turn)) < thickness
}

// reference computes steps in plain Go.
func (p *plate) reference(steps int) []float32 {
	from, to := append([]float32(nil), p.temperature...), make([]float32, len(p.temperature))
	at := func(x, y int) float32 {
		if x < 0 || y < 0 || x >= p.width || y >= p.height {
			return 0
		}
		return from[y*p.width+x]
	}
	for range steps {
		for i := range to {
			x, y := i%p.width, i/p.width
			if to[i] = from[i]; p.held[i] == 0 {
				to[i] = diffused(from[i], at(x-1, y), at(x+1, y), at(x, y-1), at(x, y+1))
			}
		}
		from, to = to, from
	}
	return from
}

// draw writes a picture of temperatures, at most 1152 pixels wide, with lines at each tenth.
func (p *plate) draw(path string, temperature []float32) error {
	width := min(1152, max(p.width, 576))
	height := width * p.height / p.width
	at := func(px, py int) float64 {
		x := (float64(px)+0.5)*float64(p.width)/float64(width) - 0.5
		y := (float64(py)+0.5)*float64(p.height)/float64(height) - 0.5
		x, y = min(max(x, 0), float64(p.width-1)), min(max(y, 0), float64(p.height-1))
		x0, y0 := min(int(x), p.width-2), min(int(y), p.height-2)
		dx, dy := x-float64(x0), y-float64(y0)
		row := func(y int) float64 {
			return float64(temperature[y*p.width+x0])*(1-dx) + float64(temperature[y*p.width+x0+1])*dx
		}
		return row(y0)*(1-dy) + row(y0+1)*dy
	}
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for py := range height {
		for px := range width {
			v := at(px, py)
			c := example.Hot.At(v)
			if band := math.Floor(10 * v); band != math.Floor(10*at(px+1, py)) || band != math.Floor(10*at(px, py+1)) {
				c = color.RGBA{c.R/2 + 90, c.G/2 + 90, c.B/2 + 90, 255}
			}
			m.SetRGBA(px, py, c)
		}
	}
	return example.WritePNG(path, m)
}
