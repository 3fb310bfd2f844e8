package ortho

import (
	"math"
	"path/filepath"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

// The known scene: a hilly ground in UTM zone 33 with a texture, both as functions.
const (
	originX, originY = 500000.0, 5300000.0
	groundSize       = 240.0 // meters
)

func hills(x, y float64) float64 {
	x, y = x-originX, y-originY
	return 300 + 12*math.Sin(x/31)*math.Cos(y/27) + 6*math.Sin((x+y)/17)
}

func texture(x, y float64) float64 {
	x, y = x-originX, y-originY
	return 128 + 40*math.Sin(x*0.9+3*math.Sin(y/9)) + 40*math.Cos(y*0.8+2*math.Cos(x/7)) + 20*math.Sin((x-y)/5)
}

// tower is the hills with a box on them.
func tower(x, y float64) float64 {
	if math.Abs(x-originX-130) < 12 && math.Abs(y-originY-120) < 9 {
		return 345
	}
	return 300 + 0.02*(x-originX)
}

func epsg(t testing.TB, code int) *crs.CRS {
	t.Helper()
	c, err := crs.EPSG(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// write writes an image and opens it.
func write[T tiff.Sample](t testing.TB, name string, h tiff.Header, pixels []T, o tiff.Options) *tiff.Image {
	t.Helper()
	h.Type = tiff.TypeOf[T]()
	w, err := tiff.Create(name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: tiff.Bytes(pixels)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, name)
}

func open(t testing.TB, name string) *tiff.Image {
	t.Helper()
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Image()
}

// placed returns a header with a place in a system.
func placed(code, width, height, bands int, a tiff.Affine) tiff.Header {
	h := tiff.Header{Width: width, Height: height, Bands: bands, Photometric: tiff.MinIsBlack}
	key, model := tiff.ProjectedCRS, uint16(tiff.ModelProjected)
	if code == 4326 {
		key, model = tiff.GeodeticCRS, tiff.ModelGeographic
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: model})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: key, Code: uint16(code)})
	h.Geo.SetAffine(a)
	return h
}

// surfaceFile samples a ground at points a given distance apart, which is fine compared with the hills.
func surfaceFile(t testing.TB, ground func(x, y float64) float64, step float64) *tiff.Image {
	t.Helper()
	n := int(groundSize / step)
	heights := make([]float32, n*n)
	for j := range n {
		for i := range n {
			heights[j*n+i] = float32(ground(originX+(float64(i)+0.5)*step, originY+groundSize-(float64(j)+0.5)*step))
		}
	}
	h := placed(32633, n, n, 1, tiff.Affine{originX, step, 0, originY + groundSize, 0, -step})
	return write(t, filepath.Join(t.TempDir(), "surface.tif"), h, heights, tiff.Options{BlockWidth: 64, BlockHeight: 64})
}

func surface(t testing.TB, ground func(x, y float64) float64, step float64) *Surface {
	t.Helper()
	s, err := NewSurface(t.Context(), surfaceFile(t, ground, step), SurfaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// line is a line of sight in coordinates of the scene: the point at a height.
type line func(h float64) (x, y float64)

// trace returns where a line meets a ground first, from above.
func trace(l line, ground func(x, y float64) float64, top, bottom float64) (x, y float64, ok bool) {
	const steps = 40 // finer than the hills
	last := top
	for i := range steps + 1 {
		h := top + (bottom-top)*float64(i)/steps
		x, y = l(h)
		if ground(x, y) >= h {
			low, high := h, last
			for range 14 {
				m := (low + high) / 2
				if x, y = l(m); ground(x, y) >= m {
					low = m
				} else {
					high = m
				}
			}
			return x, y, true
		}
		last = h
	}
	return 0, 0, false
}

// render takes a picture: the texture, sampled 3 x 3 times per pixel, where the lines of sight of the image meet the ground.
func render(t testing.TB, width, height, samples int, ground func(x, y float64) float64, top, bottom float64, sight func(u, v float64) line) *tiff.Image {
	t.Helper()
	pixels := make([]uint8, width*height)
	for j := range height {
		for i := range width {
			sum := 0.0
			for k := range samples * samples {
				u := float64(i) + (float64(k%samples)+0.5)/float64(samples)
				v := float64(j) + (float64(k/samples)+0.5)/float64(samples)
				x, y, _ := trace(sight(u, v), ground, top, bottom)
				sum += texture(x, y)
			}
			pixels[j*width+i] = uint8(math.Round(sum / float64(samples*samples)))
		}
	}
	h := tiff.Header{Width: width, Height: height, Bands: 1, Photometric: tiff.MinIsBlack}
	return write(t, filepath.Join(t.TempDir(), "frame.tif"), h, pixels, tiff.Options{Compression: tiff.None})
}

// pinhole returns the lines of sight of a camera in map coordinates, by its own arithmetic: distortion is inverted by fixed-point
// iteration, and the rotation is made of three turns.
func pinhole(c Camera, center [3]float64, omega, phi, kappa float64) func(u, v float64) line {
	turn := func(p [3]float64, axis int, degrees float64) [3]float64 {
		s, k := math.Sin(degrees*math.Pi/180), math.Cos(degrees*math.Pi/180)
		a, b := (axis+1)%3, (axis+2)%3
		q := p
		q[a], q[b] = k*p[a]-s*p[b], s*p[a]+k*p[b]
		return q
	}
	return func(u, v float64) line {
		dx, dy := (u-0.5-c.CX)/c.FX, (v-0.5-c.CY)/c.FY
		x, y, z := dx, dy, 1.0
		if c.Model == Fisheye {
			d := math.Hypot(dx, dy)
			angle := d
			for range 30 {
				a := angle * angle
				angle = d / (1 + a*(c.K[0]+a*(c.K[1]+a*(c.K[2]+a*c.K[3]))))
			}
			x, y, z = dx/d*math.Sin(angle), dy/d*math.Sin(angle), math.Cos(angle)
		} else {
			for range 30 {
				r := x*x + y*y
				radial := 1 + r*(c.K[0]+r*(c.K[1]+r*c.K[2]))
				x, y = (dx-2*c.P1*x*y-c.P2*(r+2*x*x))/radial, (dy-2*c.P2*x*y-c.P1*(r+2*y*y))/radial
			}
		}
		d := turn(turn(turn([3]float64{x, -y, -z}, 2, kappa), 1, phi), 0, omega)
		return func(h float64) (float64, float64) {
			t := (h - center[2]) / d[2]
			return center[0] + t*d[0], center[1] + t*d[1]
		}
	}
}
