package proj_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/proj"
	"quern.dev/geo/tiff"
)

// library returns PROJ, or skips the test.
func library(t testing.TB) *proj.Library {
	t.Helper()
	l, err := proj.Open("")
	if err != nil {
		t.Skip(err)
	}
	if l.Version() == "" {
		t.Skipf("%s does not find its database; PROJ_DATA names its folder", l)
	}
	return l
}

func transform(t testing.TB, from, to string, o proj.Options) *proj.Transform {
	t.Helper()
	tr, err := library(t).NewTransform(from, to, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func TestSystemsOfBothPackagesAgree(t *testing.T) {
	t.Log(library(t))
	for _, c := range []struct {
		from, to   string
		x, y, size float64
		meters     float64
	}{
		{"EPSG:4326", "EPSG:32633", 10, 45, 10, 1e-7}, {"EPSG:4326", "EPSG:3857", 10, 45, 10, 1e-7}, {"EPSG:4258", "EPSG:3035", 10, 45, 10, 1e-7},
		{"EPSG:32633", "EPSG:4326", 4e5, 5e6, 1e6, 1e-7}, {"EPSG:4156", "EPSG:5514", 13, 48.5, 4, 1e-5}, {"EPSG:4156", "EPSG:5513", 13, 48.5, 4, 1e-5},
		{"EPSG:4272", "EPSG:27200", 168, -46, 9, 1e-7}, {"EPSG:4157", "EPSG:2066", -60.9, 11, 0.5, 1e-7}, {"EPSG:5527", "EPSG:5530", -70, -30, 30, 1e-7},
		{"EPSG:4326", "+proj=aeqd +lat_0=8.5 +lon_0=21.5 +datum=WGS84", -10, -30, 60, 2e-4}, {"EPSG:4326", "+proj=ortho +lat_0=40 +lon_0=10 +datum=WGS84", -10, 10, 50, 1e-7},
		{"EPSG:4326", "+proj=eqdc +lat_1=30 +lat_2=50 +datum=WGS84", -60, 10, 60, 1e-5}, {"EPSG:4326", "+proj=bonne +lat_1=45 +datum=WGS84", -60, 10, 60, 1e-5},
	} {
		tr := transform(t, c.from, c.to, proj.Options{})
		from, err := crs.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := crs.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		own, err := crs.NewTransform(from, to)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			x, y := c.x+c.size*r.Float64(), c.y+c.size*r.Float64()
			x1, y1, err := tr.Forward(x, y)
			x2, y2, err2 := own.Forward(x, y)
			if d := math.Hypot(x1-x2, y1-y2); !(d < c.meters) || err != nil || err2 != nil {
				t.Errorf("%v: (%v, %v): %v %v, not %v %v (%v, %v)", tr, x, y, x1, y1, x2, y2, err, err2)
			}
			if x3, y3, err := tr.Inverse(x1, y1); !(math.Hypot(x3-x, y3-y) < 2e-6) || err != nil {
				t.Errorf("%v: the inverse of (%v, %v) is (%v, %v), not (%v, %v): %v", tr, x1, y1, x3, y3, x, y, err)
			}
		}
	}
}

// The program cs2cs belongs to the same PROJ.
func TestResultsAreThoseOfCs2cs(t *testing.T) {
	library(t)
	if os.Getenv("QUERN_PROJ") != "" {
		t.Skip("QUERN_PROJ names a PROJ that may differ from that of cs2cs")
	}
	if _, err := exec.LookPath("cs2cs"); err != nil {
		t.Skip("the program cs2cs is not installed")
	}
	for _, c := range []struct {
		from, to                 string
		west, south, east, north float64
	}{
		{"EPSG:4258", "EPSG:5514", 12, 48, 18, 51},      // Krovak
		{"EPSG:4258", "EPSG:5513", 12, 48, 18, 51},      // with axes to the south and the west
		{"EPSG:4326", "ESRI:54030", -170, -80, 170, 80}, // Robinson
		{"EPSG:4326", "EPSG:27200", 167, -47, 178, -35}, // New Zealand Map Grid
		{"EPSG:4267", "EPSG:4269", -100, 30, -90, 40},   // NADCON
		{"+proj=longlat +datum=WGS84", "+proj=aeqd +lat_0=40 +lon_0=10 +datum=WGS84", -20, 10, 50, 70},
	} {
		o := proj.Options{AuthorityOrder: true}
		tr, err := library(t).NewTransform(c.from, c.to, o)
		if err != nil {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
			continue
		}
		defer tr.Close()
		r := rand.New(rand.NewPCG(3, 4))
		var in bytes.Buffer
		var points [][2]float64
		for range 50 {
			p := [2]float64{c.south + (c.north-c.south)*r.Float64(), c.west + (c.east-c.west)*r.Float64()}
			if strings.HasPrefix(c.from, "+") {
				p[0], p[1] = p[1], p[0]
			}
			points = append(points, p)
			fmt.Fprintf(&in, "%.15g %.15g\n", p[0], p[1])
		}
		args := append([]string{"--no-ballpark", "-f", "%.10f"}, strings.Fields(c.from)...)
		cmd := exec.Command("cs2cs", append(append(args, "+to"), strings.Fields(c.to)...)...)
		cmd.Stdin = &in
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("cs2cs %s %s: %v", c.from, c.to, err)
			continue
		}
		lines := bufio.NewScanner(bytes.NewReader(out))
		for _, p := range points {
			var x, y float64
			lines.Scan()
			if strings.Contains(lines.Text(), "*") {
				x, y = math.NaN(), math.NaN()
			} else if _, err := fmt.Sscan(lines.Text(), &x, &y); err != nil {
				t.Fatalf("cs2cs: %q: %v", lines.Text(), err)
			}
			gx, gy, err := tr.Forward(p[0], p[1])
			if math.IsNaN(x) != (err != nil) || math.Hypot(gx-x, gy-y) > 1e-6 {
				t.Errorf("%v: %v is (%v, %v), not (%v, %v): %v", tr, p, gx, gy, x, y, err)
			}
		}
	}
}

func TestManyPointsAreConvertedLikeOne(t *testing.T) {
	tr := transform(t, "EPSG:4326", "EPSG:27200", proj.Options{})
	const n = 10000
	r := rand.New(rand.NewPCG(5, 6))
	xs, ys, zs := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		xs[i], ys[i] = 160+20*r.Float64(), -50+20*r.Float64()
		if i%100 == 7 {
			ys[i] = []float64{math.NaN(), math.Inf(1), 91}[i/100%3]
		}
	}
	x, y := append([]float64(nil), xs...), append([]float64(nil), ys...)
	failed, err := tr.ForwardAll(x, y, zs)
	if err != nil || failed < 100 || failed > n/2 {
		t.Fatalf("%d of %d points have no coordinates: %v", failed, n, err)
	}
	var wait sync.WaitGroup
	for w := range 8 {
		wait.Go(func() {
			for i := w; i < n; i += 8 {
				gx, gy, err := tr.Forward(xs[i], ys[i])
				if math.IsNaN(x[i]) != (err != nil) || err == nil && (gx != x[i] || gy != y[i]) {
					t.Errorf("(%v, %v): %v %v, not %v %v: %v", xs[i], ys[i], gx, gy, x[i], y[i], err)
					return
				}
				if err != nil && !errors.Is(err, crs.ErrDomain) {
					t.Error(err)
				}
			}
		})
	}
	// The same in parts of other sizes.
	for at := 0; at < n; at += 777 {
		to := min(at+777, n)
		px, py := append([]float64(nil), xs[at:to]...), append([]float64(nil), ys[at:to]...)
		if _, err := tr.ForwardAll(px, py, nil); err != nil {
			t.Fatal(err)
		}
		for i := range px {
			if px[i] != x[at+i] && !math.IsNaN(px[i]) || math.IsNaN(px[i]) != math.IsNaN(x[at+i]) {
				t.Fatalf("point %d: %v, not %v", at+i, px[i], x[at+i])
			}
		}
	}
	wait.Wait()
}

func TestADatumShiftIsNotSkipped(t *testing.T) {
	l := library(t)
	// Mars has no shift to the Earth.
	_, err := l.NewTransform("EPSG:4326", "+proj=longlat +a=3396190 +b=3376200 +no_defs", proj.Options{})
	if err == nil {
		_, err = l.NewTransform("EPSG:4326", "IAU_2015:49900", proj.Options{})
	}
	if !errors.Is(err, proj.ErrOperation) {
		t.Errorf("%v", err)
	}
	t.Log(err)
}

func TestBadInputIsAnErrorThatNamesTheThing(t *testing.T) {
	l := library(t)
	for _, c := range []struct {
		from, to string
		o        proj.Options
		kind     error
		want     string
	}{
		{"EPSG:99999", "EPSG:4326", proj.Options{}, proj.ErrSystem, "EPSG:99999"},
		{"EPSG:4326", "", proj.Options{}, proj.ErrSystem, "does not know"},
		{"EPSG:4326", "EPSG:4326\x00", proj.Options{}, proj.ErrSystem, "zero byte"},
		{"EPSG:4326", "+proj=nothing", proj.Options{}, proj.ErrSystem, "+proj=nothing"},
		{"EPSG:4326", "EPSG:3857", proj.Options{Epoch: 5}, proj.ErrParameter, "epoch"},
		{"EPSG:4326", "EPSG:3857", proj.Options{Area: &crs.Extent{South: 10, North: -10}}, proj.ErrParameter, "area"},
	} {
		_, err := l.NewTransform(c.from, c.to, c.o)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q to %q: %v", c.from, c.to, err)
		}
	}
	if _, err := proj.Open("/nonexistent/libproj.so"); !errors.Is(err, proj.ErrMissing) || !strings.Contains(err.Error(), "/nonexistent/libproj.so") {
		t.Error(err)
	}
	tr := transform(t, "EPSG:4326", "EPSG:3857", proj.Options{})
	if _, err := tr.ForwardAll(make([]float64, 2), make([]float64, 3), nil); !errors.Is(err, proj.ErrParameter) {
		t.Error(err)
	}
	if _, _, err := tr.Forward(0, 91); !errors.Is(err, crs.ErrDomain) {
		t.Error(err)
	} else {
		t.Log(err)
	}
}

func TestSystemsOfPROJAreDescribed(t *testing.T) {
	l := library(t)
	for _, c := range []struct {
		text, name string
		code       int
		kind       crs.Kind
		supported  bool
	}{
		{"EPSG:32633", "WGS 84 / UTM zone 33N", 32633, crs.Projected, true},
		{"ESRI:54030", "World_Robinson", 0, crs.Projected, false},
		{"ESRI:104905", "GCS_Mars_2000", 0, crs.Geographic, true},
	} {
		s, err := l.CRS(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name() != c.name || s.Code() != c.code || s.Kind() != c.kind || (s.Supported() == nil) != c.supported || s.Definition() == "" {
			t.Errorf("%s: %q, code %d, %v, supported: %v, definition %.40q", c.text, s.Name(), s.Code(), s.Kind(), s.Supported(), s.Definition())
		}
	}
	if _, err := l.CRS("EPSG:1671"); err == nil { // a transformation
		t.Error("an operation is not a system")
	}
}

func BenchmarkForwardAll(b *testing.B) {
	tr := transform(b, "EPSG:4326", "EPSG:32633", proj.Options{})
	const n = 1 << 16
	x, y := make([]float64, n), make([]float64, n)
	b.ReportAllocs()
	for b.Loop() {
		for i := range n {
			x[i], y[i] = 12+float64(i%256)/50, 45+float64(i/256)/50
		}
		if _, err := tr.ForwardAll(x, y, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoint/s")
}

func TestSystemsWithoutGeoKeysAreCited(t *testing.T) {
	l := library(t)
	for _, text := range []string{"ESRI:54030", "ESRI:54009", "ESRI:54042", "+proj=aitoff +datum=WGS84"} {
		s, err := l.CRS(text)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := s.GeoKeys()
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		cited, _ := keys.Text(tiff.ProjectedCitation)
		if model, _ := keys.Code(tiff.GTModelType); model != tiff.UserDefined || !strings.HasPrefix(cited, `ESRI PE String = PROJCS["`) || strings.ContainsAny(cited, "\n|") {
			t.Errorf("%s: model %d, %s", text, model, cited)
		}
		read, err := crs.DescribeGeoKeys(keys)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := read.GeoKeys(); err != nil || !slices.EqualFunc(again, keys, func(a, b tiff.GeoValue) bool { return a.Key == b.Key && a.Code == b.Code && a.Text == b.Text }) {
			t.Errorf("%s: other keys than before: %v, %v", text, again, err)
		}
		a, b := transform(t, "EPSG:4326", text, proj.Options{}), transform(t, "EPSG:4326", read.Definition(), proj.Options{})
		x, y, err := a.Forward(15, 45)
		u, v, err2 := b.Forward(15, 45)
		if err != nil || err2 != nil || math.Hypot(x-u, y-v) > 1e-3 {
			t.Errorf("%s: %v,%v and %v,%v; %v, %v", text, x, y, u, v, err, err2)
		}
	}
	s, err := l.CRS("+proj=isea +datum=WGS84") // Esri has no name for it
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.GeoKeys(); !errors.Is(err, crs.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
