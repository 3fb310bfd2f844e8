package main

import (
	"math"

	"quern.dev/kernel"
)

// rgb is a color in linear light.
type rgb struct{ R, G, B float32 }

func (c rgb) scale(s float32) rgb { return rgb{s * c.R, s * c.G, s * c.B} }

func (c rgb) add(d rgb) rgb { return rgb{c.R + d.R, c.G + d.G, c.B + d.B} }

// mix interpolates between c and d. It returns exactly c for t = 0 and d for t = 1.
func (c rgb) mix(d rgb, t float32) rgb {
	u := 1 - t
	return rgb{u*c.R + t*d.R, u*c.G + t*d.G, u*c.B + t*d.B}
}

// luminance returns the relative luminance Y of the color (ITU-R BT.709).
func (c rgb) luminance() float32 {
	return 0.2126*c.R + 0.7152*c.G + 0.0722*c.B
}

// encodeSRGB returns the sRGB value of an intensity, both from 0 to 1
// (IEC 61966-2-1).
func encodeSRGB(linear float32) float32 {
	v := kernel.Saturate(linear)
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*power(v, 1/2.4) - 0.055
}

// decodeSRGB is the inverse of encodeSRGB.
func decodeSRGB(encoded float32) float32 {
	v := kernel.Saturate(encoded)
	if v <= 0.04045 {
		return v * (1 / 12.92)
	}
	return power((v+0.055)*(1/1.055), 2.4)
}

// power returns x**y for x above 0. It omits Pow's handling of special cases,
// which costs more than the rest.
func power(x, y float32) float32 {
	return kernel.Exp(y * kernel.Log(x))
}

// srgbTable returns the intensity of each of the 256 sRGB values.
func srgbTable() []float32 {
	table := make([]float32, 256)
	for i := range table {
		v := float64(i) / 255
		if v <= 0.04045 {
			table[i] = float32(v / 12.92)
		} else {
			table[i] = float32(math.Pow((v+0.055)/1.055, 2.4))
		}
	}
	return table
}

// pack returns an opaque sRGB pixel: R in the low byte, then G, B and A, the byte
// order of image.RGBA.
func pack(c rgb) uint32 {
	return quantise(c.R) | quantise(c.G)<<8 | quantise(c.B)<<16 | 0xff<<24
}

func quantise(linear float32) uint32 {
	return uint32(encodeSRGB(linear)*255 + 0.5)
}
