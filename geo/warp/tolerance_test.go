package warp

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// randomPlace returns a source of a random system, size of pixels and place, and a grid around it in another one. It is false
// if there are no coordinates there.
func randomPlace(t testing.TB, r *rand.Rand, im *tiff.Image, codes []int) (*source, Grid, bool) {
	t.Helper()
	system := func() *crs.CRS {
		c, err := crs.EPSG(codes[r.IntN(len(codes))])
		if err != nil || c.Kind() == crs.Geocentric {
			return nil
		}
		return c
	}
	from, to := system(), system()
	if from == nil || to == nil {
		return nil, Grid{}, false
	}
	if r.IntN(2) == 0 {
		to = epsg(t, []int{3857, 4326, 3035, 3995, 3031, 32633, 6933}[r.IntN(7)])
	}
	extents := from.Extents()
	if len(extents) == 0 {
		return nil, Grid{}, false
	}
	e := extents[r.IntN(len(extents))]
	if e.East < e.West {
		e.East += 360
	}
	at := func(c *crs.CRS, lon, lat float64) (x, y float64, ok bool) {
		tr, err := crs.NewTransform(epsg(t, 4326), c, crs.Ballpark())
		if err != nil {
			return 0, 0, false
		}
		x, y, err = tr.Forward(lon, lat)
		return x, y, err == nil
	}
	lon, lat := e.West+r.Float64()*(e.East-e.West), e.South+r.Float64()*(e.North-e.South)
	x, y, ok := at(from, lon, lat)
	u, v, ok2 := at(to, lon, lat)
	if !ok || !ok2 {
		return nil, Grid{}, false
	}
	meters := math.Pow(10, -1+5*r.Float64()) // the size of a pixel
	size := func(c *crs.CRS) float64 {
		if c.Kind() == crs.Geographic {
			return meters / 111e3
		}
		return meters
	}
	im.Geo.SetAffine(tiff.Affine{x, size(from), 0, y, 0, -size(from)})
	s, err := newSource(im, &Options{SourceCRS: from, Shift: []crs.Option{crs.Ballpark()}}, to, blocks.New(1<<20))
	if err != nil {
		return nil, Grid{}, false
	}
	turn := float64(r.IntN(2)) * 0.3
	p := size(to) * (0.5 + r.Float64())
	g := Grid{CRS: to, Affine: tiff.Affine{u - 1000*p, p, turn * p, v + 1000*p, turn * p, -p}, Width: 2000, Height: 2000}
	s.place.Output = kernels.Affine(g.Affine)
	return s, g, true
}

// TestErrorsStayBelowTheTolerance compares interpolated positions with exact ones.
func TestErrorsStayBelowTheTolerance(t *testing.T) {
	dev := cpu(t)
	name := filepath.Join(t.TempDir(), "scene.tif")
	sceneOf(t, tiff.Uint8, name, 20, 20, 1, "plain", tiff.Options{})
	im := openImages(t, name)[0]
	r := rand.New(rand.NewPCG(1, 2))
	codes := crs.Codes()
	tries := 3000
	if testing.Short() {
		tries = 300
	}
	places, points, interpolated, worst := 0, 0, 0, 0.0
	for range tries {
		s, g, ok := randomPlace(t, r, im, codes)
		if !ok {
			continue
		}
		places++
		tolerance := []float64{0.125, 1, 0.01, 1e-4}[r.IntN(4)]
		half := float64(r.IntN(2)) / 2
		w := &Warper{dev: dev, opt: Options{Tolerance: tolerance, TileWidth: 70, TileHeight: 60}, grid: g, sources: []*source{s}, table: [][]kernels.Table{{{}}}, header: tiff.Header{Type: tiff.Uint8}, working: tiff.Uint8}
		e, err := newEngine(w)
		if err != nil {
			t.Fatal(err)
		}
		one, err := e.newLane()
		if err != nil {
			t.Fatal(err)
		}
		l := one.(*laneOf[uint8])
		region := tiff.Region{X: r.IntN(1900), Y: r.IntN(1900), Width: 71, Height: 61}
		if err := l.locate(t.Context(), s, &l.e.constants[0], region, half); err != nil {
			t.Fatal(err)
		}
		n := region.Width * region.Height
		xs, ys := make([]float64, n), make([]float64, n)
		if err := gpu.Download(t.Context(), l.s, xs, l.xs.Slice(0, n)); err != nil {
			t.Fatal(err)
		}
		if err := gpu.Download(t.Context(), l.s, ys, l.ys.Slice(0, n)); err != nil {
			t.Fatal(err)
		}
		for i := range xs {
			x, y := s.place.Position(s.grids.Subgrids, s.grids.Nodes, s.spline, float64(region.X+i%region.Width)+half, float64(region.Y+i/region.Width)+half)
			d := math.Abs(x-xs[i]) + math.Abs(y-ys[i])
			points++
			if d != 0 {
				interpolated++
			}
			if d > tolerance || math.IsNaN(x+y) != math.IsNaN(xs[i]+ys[i]) {
				t.Errorf("%v to %v, %v: point %d is at %v, %v, not at %v, %v; tolerance %v", s.crs, s.target, g.Affine, i, xs[i], ys[i], x, y, tolerance)
				break
			}
			if d == d {
				worst = max(worst, d/tolerance)
			}
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
		if err := e.close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d places, %d of %d points interpolated, the greatest error is %.3f of the tolerance", places, interpolated, points, worst)
	if places < tries/10 || interpolated < points/4 || worst < 0.01 {
		t.Error("too little was tested")
	}
}

func TestInterpolatedPixelsDoNotDependOnTilesMemoryAndDevice(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "scene.tif")
	sceneOf(t, tiff.Uint8, name, 61, 57, 2, "nodata", tiff.Options{Compression: tiff.None})
	images := openImages(t, name)
	options := func(r Resampling) Options {
		o := small(t, r, 0.7)
		o.Tolerance = 0.125
		if r == Cubic {
			o.Tolerance = 2e-6 // some cells are exact
		}
		return o
	}
	for _, r := range []Resampling{Nearest, Bilinear, Cubic, Average} {
		var first []byte
		gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
			o := options(r)
			if dev.Backend() == gpu.Sim {
				o.Resolution = [2]float64{60, 60}
				if r != Cubic {
					return
				}
			}
			pixels, _, _ := whole(t, dev, images, o)
			if dev.Backend() != gpu.Sim {
				if first == nil {
					first = pixels
				} else if !bytes.Equal(first, pixels) {
					t.Errorf("%v: the bits differ between devices", r)
				}
			} else if p, _, _ := whole(t, cpu(t), images, o); !bytes.Equal(p, pixels) {
				t.Errorf("%v: the bits differ from those of the CPU", r)
			}
			if dev.Backend() == gpu.Sim {
				return
			}
			for _, tile := range [][2]int{{7, 11}, {33, 3}, {5, 40}} {
				o.TileWidth, o.TileHeight = tile[0], tile[1]
				if p, _, _ := whole(t, dev, images, o); !bytes.Equal(p, pixels) {
					t.Errorf("%v, tiles of %v: the bits differ", r, tile)
				}
			}
			o.TileWidth, o.TileHeight, o.Memory = 0, 0, 20000
			if p, _, _ := whole(t, dev, images, o); !bytes.Equal(p, pixels) {
				t.Errorf("%v, little memory: the bits differ", r)
			}
		})
	}
}
