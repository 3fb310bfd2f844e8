package warp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"quern.dev/geo/tiff"
)

// controlled copies an image, with control points instead of an affine map. Their places are distorted.
func controlled(t testing.TB, from *tiff.Image, name string, points int, opt tiff.Options) {
	t.Helper()
	h := from.Header
	a, _ := h.Geo.Affine()
	h.Geo.Scale, h.Geo.Matrix, h.Geo.Tiepoints = nil, nil, nil
	r := rand.New(rand.NewPCG(3, uint64(points)))
	for range points {
		c, l := r.Float64()*float64(h.Width), r.Float64()*float64(h.Height)
		u, v := c/float64(h.Width)-0.5, l/float64(h.Height)-0.5
		c2, l2 := c+9*u*v+6*u*u*v-4*v*v+0.5*r.Float64(), l+8*u*u-5*u*v*v+0.5*r.Float64()
		h.Geo.Tiepoints = append(h.Geo.Tiepoints, tiff.Tiepoint{Column: c, Row: l, X: a[0] + c2*a[1] + 3*l2, Y: a[3] + l2*a[5] + 2*c2})
	}
	w, err := tiff.Create(name, h, opt)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]byte, h.Width*h.Height*h.Bands*h.Type.Size())
	if err := from.ReadRegion(t.Context(), pixels, from.All()); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: pixels}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestControlPointsPlaceImagesAsInGDAL(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain.tif")
	sceneOf(t, tiff.Uint8, plain, 171, 143, 2, "plain", tiff.Options{})
	im := openImages(t, plain)[0]
	var all []*job
	for _, points := range []int{3, 4, 6, 10, 25, 60} {
		name := filepath.Join(folder, fmt.Sprintf("points%d.tif", points))
		controlled(t, im, name, points, tiff.Options{Compression: tiff.None})
		for fit, arguments := range map[Fit][]string{FitAuto: nil, FitOrder1: {"-order", "1"}, FitOrder2: {"-order", "2"}, FitOrder3: {"-order", "3"}} {
			if points < map[Fit]int{FitOrder2: 6, FitOrder3: 10}[fit] {
				continue
			}
			for _, r := range []Resampling{Nearest, Bilinear, Cubic} {
				for _, target := range targets[:2] {
					j := newJob(folder, name, tiff.Uint8, "plain", target, r, len(all))
					j.name += fmt.Sprintf(", %d points, fit %d", points, fit)
					j.options.Fit = fit
					j.Arguments = append(j.Arguments, arguments...)
					all = append(all, j)
				}
			}
		}
	}
	runJobs(t, all)
	dev := cpu(t)
	for _, j := range all {
		j.options.Target = epsg(t, j.code)
		name := j.Result + ".quern.tif"
		if err := File(t.Context(), dev, name, openImages(t, j.Sources...), j.options); err != nil {
			t.Errorf("%s: %v", j.name, err)
			continue
		}
		if d := compare(t, openImages(t, name)[0], openImages(t, j.Result)[0]); d.pixels > 0 {
			t.Errorf("%s: %d of %d samples differ, by up to %g", j.name, d.pixels, d.of, d.most)
		}
	}
	t.Logf("%d images", len(all))
}

// TestSplinesAreThoseOfGDAL warps an image whose values are columns and rows, so that the result has positions. GDAL
// 3.10 is up to 0.06 pixels from a spline that NumPy computes.
func TestSplinesAreThoseOfGDAL(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	name, plain := filepath.Join(folder, "points.tif"), filepath.Join(folder, "plain.tif")
	sceneOf(t, tiff.Float64, plain, 171, 143, 2, "ramp", tiff.Options{})
	controlled(t, openImages(t, plain)[0], name, 40, tiff.Options{Compression: tiff.None})
	j := newJob(folder, name, tiff.Float64, "plain", targets[0], Bilinear, 0)
	j.Arguments = append(j.Arguments, "-tps")
	j.options.Fit, j.options.Target = FitSpline, epsg(t, j.code)
	runJobs(t, []*job{j})
	result := filepath.Join(folder, "quern.tif")
	if err := File(t.Context(), cpu(t), result, openImages(t, name), j.options); err != nil {
		t.Fatal(err)
	}
	got, want := values(t, openImages(t, result)[0]), values(t, openImages(t, j.Result)[0])
	inside, worst := 0, 0.0
	for i := range got {
		if got[i] > 0 && want[i] > 0 {
			inside++
			worst = max(worst, math.Abs(got[i]-want[i]))
		}
	}
	t.Logf("%d positions differ by up to %g pixels", inside, worst)
	if worst > 0.1 || inside < len(got)/4 {
		t.Error("the positions differ")
	}
}

func TestSplinesPassThroughTheirPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var from, to [][2]float64
	for range 300 {
		from = append(from, [2]float64{500000 + 9000*r.Float64(), 5.3e6 + 5000*r.Float64()})
		to = append(to, [2]float64{4000 * r.Float64(), 3000 * r.Float64()})
	}
	f, spline, ok := fitSpline(from, to)
	for i, p := range from {
		if x, y := f.Apply(spline, p[0], p[1]); !ok || math.Abs(x-to[i][0])+math.Abs(y-to[i][1]) > 1e-6 {
			t.Errorf("%v is at %v, %v, not at %v", p, x, y, to[i])
		}
	}
}

func TestTheGridOfControlPointsIsThatOfGDAL(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain.tif")
	sceneOf(t, tiff.Uint8, plain, 171, 143, 1, "plain", tiff.Options{})
	name := filepath.Join(folder, "points.tif")
	controlled(t, openImages(t, plain)[0], name, 25, tiff.Options{Compression: tiff.None})
	var all []*job
	for _, code := range []int{32633, 3857, 4326} {
		for fit, arguments := range [][]string{nil, {"-order", "1"}, {"-order", "2"}, {"-order", "3"}, {"-tps"}} {
			j := &job{Sources: []string{name}, Result: filepath.Join(folder, fmt.Sprintf("out%d.tif", len(all))), name: fmt.Sprintf("fit %d, EPSG:%d", fit, code), code: code}
			j.Arguments = append([]string{"-et", "0", "-t_srs", fmt.Sprintf("EPSG:%d", code)}, arguments...)
			j.options.Fit = Fit(fit)
			all = append(all, j)
		}
	}
	runJobs(t, all)
	dev := cpu(t)
	for _, j := range all {
		j.options.Target = epsg(t, j.code)
		w, err := New(dev, openImages(t, name), j.options)
		if err != nil {
			t.Errorf("%s: %v", j.name, err)
			continue
		}
		g, want := w.Grid(), openImages(t, j.Result)[0]
		a, _ := want.Geo.Affine()
		for i := range a {
			if math.Abs(a[i]-g.Affine[i]) > 1e-6*a[1] || g.Width != want.Width || g.Height != want.Height {
				t.Errorf("%s: %d x %d, %v; GDAL has %d x %d, %v", j.name, g.Width, g.Height, g.Affine, want.Width, want.Height, a)
				break
			}
		}
		w.Close()
	}
}

func TestControlPointsThatDetermineNoFitAreAnError(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain.tif")
	sceneOf(t, tiff.Uint8, plain, 40, 30, 1, "plain", tiff.Options{})
	im := openImages(t, plain)[0]
	dev := cpu(t)
	keys := im.Geo.Keys
	for title, test := range map[string]struct {
		fit    Fit
		points []tiff.Tiepoint
		kind   error
	}{
		"two points":           {FitAuto, []tiff.Tiepoint{{X: 1}, {Column: 3, Y: 4}}, ErrArgument},
		"points on a line":     {FitOrder1, []tiff.Tiepoint{{}, {Column: 1, X: 1}, {Column: 2, X: 2}, {Column: 3, X: 3}}, ErrArgument},
		"a spline on a line":   {FitSpline, []tiff.Tiepoint{{}, {Column: 1, X: 1}, {Column: 2, X: 2}, {Column: 3, X: 3}}, ErrArgument},
		"one place":            {FitOrder1, []tiff.Tiepoint{{Column: 5}, {Column: 5}, {Column: 5}}, ErrArgument},
		"too few for order 3":  {FitOrder3, []tiff.Tiepoint{{}, {Column: 1, X: 1}, {Row: 2, Y: 2}, {Column: 3, Row: 1, X: 3, Y: 1}}, ErrArgument},
		"NaN":                  {FitOrder1, []tiff.Tiepoint{{}, {Column: 1, X: math.NaN()}, {Row: 2, Y: 2}}, ErrArgument},
		"no points":            {FitAuto, nil, ErrNoCRS},
		"no points for a fit":  {FitSpline, nil, ErrArgument},
		"two places, one name": {FitSpline, []tiff.Tiepoint{{}, {Column: 1, X: 1}, {Row: 2, Y: 2}, {Row: 2, Y: 3}}, ErrArgument},
	} {
		im.Geo = tiff.Georeference{Keys: keys, Tiepoints: test.points}
		if _, err := New(dev, []*tiff.Image{im}, Options{Fit: test.fit}); !errors.Is(err, test.kind) {
			t.Errorf("%s: %v", title, err)
		}
	}
	if _, err := New(dev, []*tiff.Image{im}, Options{Fit: FitSpline + 1}); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
