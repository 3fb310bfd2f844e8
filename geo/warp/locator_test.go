package warp

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

func readAll(t *testing.T, w *Warper, source int) []byte {
	t.Helper()
	h := w.Header()
	words := make([]complex128, (h.Width*h.Height*h.Bands*h.Type.Size()+15)/16)
	pixels := tiff.Bytes(words)[:h.Width*h.Height*h.Bands*h.Type.Size()]
	r := tiff.Region{Width: h.Width, Height: h.Height}
	err := w.Read(t.Context(), r, pixels, nil)
	if source != all {
		err = w.ReadSource(t.Context(), source, r, pixels, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pixels
}

// TestLocatedSourcesAreWarpedLikeOthers compares a locator with the place of the file.
func TestLocatedSourcesAreWarpedLikeOthers(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	name := filepath.Join(t.TempDir(), "scene.tif")
	sceneOf(t, tiff.Uint8, name, 61, 47, 2, "plain", tiff.Options{})
	im := openImages(t, name)[0]
	from, _ := im.Geo.Affine()
	g := Grid{CRS: epsg(t, 32633), Affine: tiff.Affine{from[0] - 3*from[1], from[1] * 0.8, 0, from[3], 0, from[5] * 1.1}, Width: 70, Height: 40}
	if code, ok := im.Geo.Keys.EPSG(); ok {
		g.CRS = epsg(t, code)
	}
	for _, r := range []Resampling{Nearest, Cubic, Lanczos, Average} {
		o := Options{Grid: &g, Resampling: r, XScale: 1, YScale: 1, Alpha: true, TileWidth: 17, TileHeight: 23}
		placed, err := New(dev, []*tiff.Image{im}, o)
		if err != nil {
			t.Fatal(err)
		}
		s := placed.sources[0]
		// The place's two maps are applied one after the other.
		l := locatorOf(func(x, y float64) (float64, float64) {
			return s.place.Position(s.grids.Subgrids, s.grids.Nodes, s.spline, x, y)
		})
		reach := placed.Reach(0)
		located, err := NewLocated(dev, []Located{{Image: im, Locator: l, Reach: reach}}, o)
		if err != nil {
			t.Fatal(err)
		}
		want := readAll(t, placed, all)
		if !bytes.Equal(readAll(t, located, all), want) {
			t.Errorf("%v: the pixels differ", r)
		}
		x, y := placed.Center(0)
		if px, py := s.place.Position(nil, nil, nil, x, y); px < 30.49 || px > 30.51 || py < 23.49 || py > 23.51 {
			t.Errorf("the center is %v, %v of the source", px, py)
		}
		placed.Close()
		located.Close()
	}
	for title, o := range map[string]Options{
		"no grid":            {},
		"a grid and a size":  {Grid: &g, Width: 3},
		"an empty grid":      {Grid: &Grid{CRS: g.CRS}},
		"a system of source": {Grid: &g, SourceCRS: g.CRS},
	} {
		if _, err := NewLocated(dev, []Located{{Image: im, Locator: locatorOf(nil)}}, o); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", title, err)
		}
	}
	if _, err := NewLocated(dev, []Located{{Image: im}}, Options{Grid: &g}); !errors.Is(err, ErrArgument) {
		t.Errorf("no locator: %v", err)
	}
}

// locatorOf is a function as a Locator.
type locatorOf func(x, y float64) (float64, float64)

func (f locatorOf) Locate(_ context.Context, s *gpu.Stream, r tiff.Region, half float64, xs, ys *gpu.Buffer[float64]) error {
	x, y := make([]float64, xs.Len()), make([]float64, ys.Len())
	for i := range x {
		x[i], y[i] = f(float64(r.X+i%r.Width)+half, float64(r.Y+i/r.Width)+half)
	}
	return errors.Join(gpu.CopyIn(s, xs, x), gpu.CopyIn(s, ys, y))
}

func TestOneOfSeveralSourcesIsRead(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	folder := t.TempDir()
	a, b := filepath.Join(folder, "a.tif"), filepath.Join(folder, "b.tif")
	sceneOf(t, tiff.Uint8, a, 61, 47, 2, "plain", tiff.Options{})
	sceneOf(t, tiff.Uint8, b, 33, 29, 2, "plain", tiff.Options{})
	images := openImages(t, a, b)
	both, err := New(dev, images, Options{Alpha: true})
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	g := both.Grid()
	for i, im := range images {
		one, err := New(dev, []*tiff.Image{im}, Options{Alpha: true, Grid: &g})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(readAll(t, both, i), readAll(t, one, all)) {
			t.Errorf("source %d: the pixels differ", i)
		}
		one.Close()
	}
	if err := both.ReadSource(t.Context(), 2, tiff.Region{Width: 1, Height: 1}, make([]byte, 3), nil); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
