package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
)

const (
	pictureWidth  = 1000
	pictureHeight = 600
	margin        = 20
)

var (
	gray   = color.RGBA{170, 170, 170, 255}
	blue   = color.RGBA{20, 90, 200, 255}
	orange = color.RGBA{220, 110, 0, 255}
)

// draw writes a picture: above, the start of the signal with noise (gray) and restored
// (blue); below, the amplitudes of the spectrum in decibels.
func draw(path string, signal []float32, a *analysis) error {
	m := image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	const shown = 400 // points of the signal
	top := image.Rect(margin, margin, pictureWidth-margin, pictureHeight/2-margin)
	curve(m, top, gray, signal[:shown], -3, 3)
	curve(m, top, blue, a.restored[:shown], -3, 3)
	level := make([]float32, len(a.amplitude))
	for i, v := range a.amplitude {
		level[i] = float32(20 * math.Log10(max(float64(v), 1e-5)))
	}
	curve(m, top.Add(image.Pt(0, pictureHeight/2)), orange, level, -100, 5)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, m); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// curve draws values as a line. Columns of the picture that several values share show their
// range.
func curve(m *image.RGBA, r image.Rectangle, c color.RGBA, values []float32, low, high float64) {
	row := func(v float32) int {
		y := (high - float64(v)) / (high - low) * float64(r.Dy()-1)
		return r.Min.Y + int(min(max(y, 0), float64(r.Dy()-1)))
	}
	between := func(at float64) int {
		k := min(int(at), len(values)-2)
		share := float32(at - float64(k))
		return row(values[k]*(1-share) + values[k+1]*share)
	}
	perColumn := float64(len(values)-1) / float64(r.Dx())
	for x := range r.Dx() {
		from, to := float64(x)*perColumn, float64(x+1)*perColumn
		first := min(between(from), between(to))
		last := max(between(from), between(to))
		for i := int(math.Ceil(from)); float64(i) < to; i++ {
			first, last = min(first, row(values[i])), max(last, row(values[i]))
		}
		for y := first; y <= last+1; y++ {
			m.SetRGBA(r.Min.X+x, y, c)
		}
	}
}
