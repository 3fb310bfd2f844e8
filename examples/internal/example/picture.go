package example

import (
	"image"
	"image/color"
	"image/png"
	"os"
)

// Ramp is a scale of colors at equal distances, for numbers from 0 to 1.
type Ramp []color.RGBA

var (
	// Hot is a scale from cold and dark to hot and bright.
	Hot = Ramp{{0, 0, 8, 255}, {38, 12, 82, 255}, {106, 23, 110, 255}, {165, 44, 96, 255},
		{216, 70, 58, 255}, {246, 125, 21, 255}, {250, 193, 45, 255}, {252, 253, 200, 255}}
	// Diverging is a scale for signed numbers. Its middle is nearly black.
	Diverging = Ramp{{190, 250, 255, 255}, {60, 190, 240, 255}, {20, 90, 180, 255}, {12, 36, 84, 255},
		{8, 8, 16, 255}, {88, 20, 28, 255}, {190, 50, 30, 255}, {250, 150, 50, 255}, {255, 245, 190, 255}}
)

// At returns the color of v, between the two nearest ones of the scale. Numbers below 0
// have the first color, numbers above 1 and NaN the last.
func (r Ramp) At(v float64) color.RGBA {
	last := len(r) - 1
	switch {
	case v <= 0:
		return r[0]
	case !(v < 1):
		return r[last]
	}
	at := v * float64(last)
	i := int(at)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*(at-float64(i)) + 0.5) }
	a, b := r[i], r[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// WritePNG writes a picture to a file.
func WritePNG(path string, m image.Image) error {
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
