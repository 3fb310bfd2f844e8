package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/geo/internal/relief"
	"quern.dev/kernel"
)

// heights writes the first band of a window. What has no data is NaN.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func heights[T Sample](t kernel.Thread, p Paint, src []T, mask []uint8, out []float32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	v := float64(src[i*p.Stride+p.Bands[0]])
	if p.Masked && mask[i] == 0 || p.NoData && v == p.None || p.Alpha >= 0 && src[i*p.Stride+p.Alpha] == 0 {
		v = math.NaN()
	}
	out[i] = float32(v)
}

// What shade shows.
const (
	Hillshade = iota + 1 // the brightness from 1 to 255
	Slope                // the angle in degrees
	Relief               // the height under the light
)

// shade writes a page of the shape of a surface: the ramp's colors of brightness, slope or height. sizes has 1/width and 1/height
// of the pixels of each row of the page. The window w is the one of p, with the neighbors of the page's pixels.
//
//quern:kernel
func shade(t kernel.Thread, p Paint, kind int, w relief.Window, l relief.Light, sizes []float64, heights []float32, ramp, pages []uint32) {
	x, y := t.Global2()
	if x >= PageStride || y >= PageStride {
		return
	}
	to := p.First + y*PageStride + x
	column, row := min(max(p.X+x, 0), p.Width-1), min(max(p.Y+y, 0), p.Height-1)
	n, ok := w.Neighbors(heights, column, row)
	if !ok {
		pages[to] = 0
		return
	}
	l.X, l.Y = sizes[2*y], sizes[2*y+1]
	west, south := relief.Slopes(&n)
	v := n[4]
	switch kind {
	case Hillshade:
		v = float64(l.Shade(west, south))
	case Slope:
		a, b := float64(west*l.X), float64(south*l.Y)
		rise := float64(math.Sqrt(math.FMA(a, a, float64(b*b))) * l.Z)
		v = float64(projection.Angle(rise, 1) * (180 / math.Pi))
	}
	c := ramp[int(min(max(float64((v-p.Low[0])*p.Scale[0]), 0), float64(p.Ramp-1)))]
	if kind == Relief {
		c = lit(c, int(l.Shade(west, south)), int(float64(254*l.SinAlt)+1.5))
	}
	pages[to] = c
}

// lit returns a color under a light: darker than level ground is mixed with black, brighter with white.
func lit(c uint32, shade, level int) uint32 {
	out := uint32(0xff000000)
	for shift := uint32(0); shift < 24; shift += 8 {
		v := int(c >> shift & 0xff)
		if shade < level {
			v = v * (level + 3*shade) / (4 * level)
		} else {
			v += (255 - v) * (shade - level) / (2 * (256 - level))
		}
		out |= uint32(v) << shift
	}
	return out
}
