package wms

import (
	"cmp"
	"math"
	"sort"
	"strconv"
	"strings"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/relief"
	"quern.dev/geo/terrain"
	"quern.dev/geo/wms/internal/render"
)

// Rendering says how the values of an image become colors. Zero fields follow from the image.
type Rendering struct {
	// Bands are one band or three, from 1.
	Bands []int
	// Low and High are the values of the first and the last color, one for all bands or one per band.
	Low, High []float64
	// Ramp is the name of a color ramp for one band; see [Ramps].
	Ramp string
	// Shading shows the shape of a surface, whose heights one band has: one of [Shadings]. The image must not be rotated.
	// Low and High are then brightnesses from 1 to 255, degrees, or heights. Those of a layer's default, and its ramp, count for
	// other styles with the same quantity.
	Shading string
	// Light is the light of a shading. Light.ZFactor multiplies heights, also those of slopes, which are meters where coordinates are
	// degrees, and otherwise in the unit of coordinates. Light.Scale is 0, because it follows from that; the scale of Web Mercator
	// too is that of the latitude.
	Light terrain.Hillshade
	// Nearest takes the colors of the nearest pixel instead of interpolating. Images with a palette always do.
	Nearest bool
}

// stops are the colors of a ramp at equal distances.
var ramps = map[string][]uint32{
	"gray":    {0x000000, 0xffffff},
	"heat":    {0x000010, 0x5a0a5e, 0xb5304f, 0xf2742b, 0xfcc23f, 0xffffd8},
	"ocean":   {0x081d38, 0x0d4a7a, 0x1f7fa8, 0x5bb7c4, 0xb5e0d8, 0xf7fbf0},
	"terrain": {0x2c6e49, 0x6fa45a, 0xc9cf84, 0xe3c68b, 0xb58a5c, 0x8a6a55, 0xd8d3cf, 0xffffff},
	"diverge": {0x23497f, 0x5b8fc4, 0xb4d1e6, 0xf5f5f2, 0xf0c0a4, 0xd0704f, 0x8a2430},
	"rainbow": {0x3b3a8f, 0x2a82c8, 0x2ab5a0, 0x6cc24a, 0xe8d33f, 0xf08a2c, 0xc92a2a},
	"green":   {0xf7f4e3, 0xcfe0ab, 0x8fc07a, 0x4a9656, 0x1c6b3c, 0x0a3f24},
}

// Ramps returns the names of the color ramps. Each is also a style of layers with one band.
func Ramps() []string {
	var names []string
	for name := range ramps {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// rampSize is how many colors a ramp has.
const rampSize = 1024

// rampColors returns the colors of a ramp, in the form of package kernels.
func rampColors(name string) []uint32 {
	stops := ramps[name]
	colors := make([]uint32, rampSize)
	for i := range colors {
		at := float64(i) / (rampSize - 1) * float64(len(stops)-1)
		k := min(int(at), len(stops)-2)
		f := at - float64(k)
		mix := func(shift uint) uint32 {
			a, b := float64(stops[k]>>shift&0xff), float64(stops[k+1]>>shift&0xff)
			return uint32(math.Round(a + (b-a)*f))
		}
		colors[i] = mix(16) | mix(8)<<8 | mix(0)<<16 | 0xff000000
	}
	return colors
}

// quantity is what the colors of a ramp stand for.
type quantity int

const (
	heights quantity = iota // also any other values of an image
	brightnesses
	angles
)

// shading is a way to show the shape of a surface.
type shading struct {
	render.Shading
	quantity quantity
	ramp     string  // by default
	high     float64 // of the ramp by default, which begins at 0; that of the image for heights
}

var shadings = map[string]shading{
	"hillshade": {render.Hillshade, brightnesses, "gray", 255},
	"slope":     {render.Slope, angles, "heat", 60},
	"relief":    {render.Relief, heights, "terrain", 0},
}

// Shadings returns the names of the shadings, which are also styles of layers of heights:
//
//	hillshade  the brightness under a light, from the northwest by default
//	slope      the angle of the surface from 0 to 60 degrees
//	relief     the color of the height under the light
//
// Layers of heights are those of one band of more than 8 bits without a palette whose images are not rotated.
func Shadings() []string { return []string{"hillshade", "relief", "slope"} }

// lightOf completes a light from another one.
func lightOf(h, from terrain.Hillshade) (relief.Light, *Exception) {
	if !h.NorthLight && h.Azimuth == 0 {
		h.NorthLight, h.Azimuth = from.NorthLight, from.Azimuth
	}
	h.Altitude, h.ZFactor = cmp.Or(h.Altitude, from.Altitude, 45), cmp.Or(h.ZFactor, from.ZFactor, 1)
	if h.Scale != 0 || from.Scale != 0 {
		return relief.Light{}, exceptf(codeInvalid, "", "the scale of a light follows from the image's coordinates; use the z factor")
	}
	for name, v := range map[string][3]float64{"AZIMUTH": {h.Azimuth, -360, 360}, "ALTITUDE": {h.Altitude, 0, 90}, "ZFACTOR": {h.ZFactor, -1e6, 1e6}} {
		if !(v[0] >= v[1] && v[0] <= v[2]) {
			return relief.Light{}, exceptf(codeInvalid, name, "%v is not from %v to %v", v[0], v[1], v[2])
		}
	}
	azimuth := cmp.Or(h.Azimuth, 315)
	if h.NorthLight {
		azimuth = 0
	}
	return relief.NewLight(azimuth, h.Altitude, h.ZFactor), nil
}

// groundOf returns how many units of height a unit of coordinates has on the ground, to the east and to the north, at a y of a system. It is
// nil for projected systems, whose scale is nearly 1, other than Web Mercator.
func groundOf(c *crs.CRS) func(y float64) (gx, gy float64) {
	if c.Code() == 3857 {
		return func(y float64) (gx, gy float64) {
			scale := 1 / math.Cosh(y/c.Ellipsoid().SemiMajorAxis)
			return scale, scale
		}
	}
	if c.Kind() != crs.Geographic {
		return nil
	}
	e, unit := c.Ellipsoid(), c.Axes()[0].Unit
	e2 := 0.0
	if e.InverseFlattening > 0 {
		e2 = (2 - 1/e.InverseFlattening) / e.InverseFlattening
	}
	return func(y float64) (gx, gy float64) {
		const most = 89.9999 * math.Pi / 180 // at the poles, pixels have no width
		sin, cos := math.Sincos(min(max(y*unit, -most), most))
		w := 1 - e2*sin*sin
		normal := e.SemiMajorAxis / math.Sqrt(w)
		return normal * cos * unit, normal * (1 - e2) / w * unit
	}
}

// parseNumbers parses numbers with commas between them.
func parseNumbers(text string) ([]float64, bool) {
	var all []float64
	for _, field := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
}
