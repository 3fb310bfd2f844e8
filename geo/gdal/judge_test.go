package gdal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/gdal"
	"quern.dev/geo/tiff"
)

// described is what judge.py says of a file.
type described struct {
	File, Driver, Type   string
	Width, Height, Bands int
	NoData               *string
	EPSG                 *int
	CRS                  bool
	Transform            []float64
	Interpretation       []string
	Subdatasets          []string
	Scales, Offsets      []float64
	Units, Descriptions  []string
	Tags                 map[string]string
	BandTags             []map[string]string `json:"band_tags"`
	Overviews            []struct {
		Width, Height int
		Sum           string
	}
	Mask        *string
	Palette     [][3]uint16
	Points      [][5]float64
	RPC         []float64
	Sum, Window string
}

// need skips a test without GDAL.
func need(t testing.TB) string {
	t.Helper()
	version, err := gdal.Version()
	if err != nil {
		t.Skip("GDAL is missing: ", err)
	}
	return version
}

// judge runs judge.py and returns what it says.
func judge(t testing.TB, arguments ...string) []described {
	t.Helper()
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio").Run(); err != nil {
		t.Skip("the judge is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio")
	}
	cmd := exec.Command(python, append([]string{"testdata/judge.py"}, arguments...)...)
	// rasterio has its own files of GDAL and PROJ.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GDAL_DATA=") || strings.HasPrefix(v, "PROJ_DATA=") })
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("judge.py %s: %v\n%s", arguments[0], err, stderr.Bytes())
	}
	var all struct{ Files []described }
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all.Files
}

// folder has the files of judge.py, which are written once for all tests.
var folder string

func TestMain(m *testing.M) {
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// written is what judge.py says of the files.
var written []described

// files writes the files with the first call.
func files(t testing.TB) []described {
	t.Helper()
	if written != nil {
		return written
	}
	need(t)
	name, err := os.MkdirTemp("", "gdal")
	if err != nil {
		t.Fatal(err)
	}
	folder = name
	written = judge(t, "write", folder, "7")
	return written
}

func TestFilesAreReadAsGDALReadsThem(t *testing.T) {
	version := need(t)
	for _, want := range files(t) {
		t.Run(filepath.Base(want.File), func(t *testing.T) {
			if want.Type == "int8" && older(version, 3, 7) {
				t.Skip("GDAL before 3.7 has no type int8")
			}
			f, err := gdal.Open(want.File, gdal.Options{Handles: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			compareHeader(t, f, want)
			comparePixels(t, f.Image(), want)
		})
	}
}

// older reports whether a version is before another one.
func older(version string, major, minor int) bool {
	var a, b int
	_, _ = fmt.Sscanf(version, "%d.%d", &a, &b)
	return a < major || a == major && b < minor
}

func compareHeader(t *testing.T, f *gdal.File, want described) {
	im := f.Image()
	equal := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	driver, _ := f.Driver()
	equal("driver", driver, want.Driver)
	equal("size", []int{im.Width, im.Height, im.Bands}, []int{want.Width, want.Height, want.Bands})
	equal("type", im.Type.String(), want.Type)
	if want.NoData == nil {
		equal("NoData", im.NoData, "")
	} else {
		got, ok := im.NoDataValue()
		v, err := strconv.ParseFloat(*want.NoData, 64)
		if !ok || err != nil || got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("NoData %q, want %s", im.NoData, *want.NoData)
		}
	}
	code, known := im.Geo.Keys.EPSG()
	switch {
	case want.EPSG != nil && f.CRSError() == nil && !known:
		sameSystem(t, im.Geo.Keys, *want.EPSG)
	case want.EPSG != nil && f.CRSError() == nil:
		equal("EPSG", code, *want.EPSG)
	case known:
		t.Errorf("EPSG:%d, want none", code)
	}
	equal("a system", len(im.Geo.Keys) > 0, want.CRS)
	equal("WKT", f.WKT() != "", want.CRS)
	var transform []float64
	if a, ok := im.Geo.Affine(); ok {
		transform = a[:]
	}
	if len(transform) != len(want.Transform) {
		t.Errorf("transform %v, want %v", transform, want.Transform)
	}
	for i, v := range want.Transform {
		if math.Abs(transform[i]-v) > 1e-14*math.Abs(v) {
			t.Errorf("transform %v, want %v", transform, want.Transform)
		}
	}
	equal("AREA_OR_POINT", im.Geo.PixelIsPoint(), want.Tags["AREA_OR_POINT"] == "Point")
	compareColors(t, im, want)
	var points [][5]float64
	for _, p := range im.Geo.ControlPoints() {
		points = append(points, [5]float64{p.Column, p.Row, p.X, p.Y, p.Z})
	}
	if want.Transform == nil {
		equal("control points", len(points), len(want.Points))
		for i, p := range points {
			equal("control point", p, want.Points[i])
		}
	}
	var rpc []float64
	if im.RPC != nil {
		rpc = append([]float64{im.RPC.LineOff, im.RPC.LatScale}, im.RPC.SampDen[:]...)
	}
	equal("RPC", rpc, want.RPC)
	compareMetadata(t, im, want)
}

func compareColors(t *testing.T, im *tiff.Image, want described) {
	photometric := tiff.MinIsBlack
	colors := 1
	switch {
	case len(want.Interpretation) > 2 && slices.Equal(want.Interpretation[:3], []string{"red", "green", "blue"}):
		photometric, colors = tiff.RGB, 3
	case want.Palette != nil:
		photometric = tiff.Palette
	}
	if im.Photometric != photometric {
		t.Errorf("photometric %v, want %v", im.Photometric, photometric)
	}
	if i := slices.Index(want.Interpretation, "alpha"); i > 0 {
		if len(im.Extra) <= i-colors || im.Extra[i-colors] != tiff.StraightAlpha {
			t.Errorf("extra bands %v, want alpha in band %d", im.Extra, i)
		}
	} else if slices.Contains(im.Extra, tiff.StraightAlpha) {
		t.Error("a band is alpha")
	}
	for i, c := range want.Palette {
		if got := im.Palette[i]; got != (tiff.Color{R: c[0] * 257, G: c[1] * 257, B: c[2] * 257}) {
			t.Fatalf("color %d is %v, want %v", i, got, c)
		}
	}
}

func compareMetadata(t *testing.T, im *tiff.Image, want described) {
	got := map[string]string{}
	for _, item := range im.Metadata {
		if item.Domain == "" {
			got[fmt.Sprint(item.Band, item.Role, item.Name)] = item.Value
		}
	}
	expect := func(band int, role, name, value string) {
		t.Helper()
		if v, ok := got[fmt.Sprint(band, role, name)]; !ok || v != value {
			t.Errorf("metadata of band %d, %s: %q, want %q", band, name, v, value)
		}
		delete(got, fmt.Sprint(band, role, name))
	}
	for name, value := range want.Tags {
		if name != "AREA_OR_POINT" {
			expect(-1, "", name, value)
		}
	}
	for i := range want.Bands {
		for name, value := range want.BandTags[i] {
			expect(i, "", name, value)
		}
		if want.Scales[i] != 1 {
			expect(i, "scale", "SCALE", fmt.Sprint(want.Scales[i]))
		}
		if want.Offsets[i] != 0 {
			expect(i, "offset", "OFFSET", fmt.Sprint(want.Offsets[i]))
		}
		if want.Units[i] != "" {
			expect(i, "unittype", "UNITTYPE", want.Units[i])
		}
		if want.Descriptions[i] != "" {
			expect(i, "description", "DESCRIPTION", want.Descriptions[i])
		}
	}
	for name, value := range got {
		if !strings.Contains(name, "COLORINTERP") {
			t.Errorf("metadata that GDAL does not have: %s = %s", name, value)
		}
	}
}

// sum reads a region, band after band, and returns its SHA-256.
func sum(t *testing.T, im *tiff.Image, r tiff.Region) string {
	t.Helper()
	r.Layout = tiff.ByBand
	dst := make([]byte, r.Width*r.Height*im.Bands*im.Type.Size())
	for i := range dst {
		dst[i] = 0xa5
	}
	if err := im.ReadRegion(t.Context(), dst, r); err != nil {
		t.Fatal(err)
	}
	s := sha256.Sum256(dst)
	return hex.EncodeToString(s[:])
}

func comparePixels(t *testing.T, im *tiff.Image, want described) {
	if got := sum(t, im, im.All()); got != want.Sum {
		t.Error("other pixels")
	}
	if got := sum(t, im, tiff.Region{X: im.Width / 5, Y: im.Height / 3, Width: im.Width / 2, Height: im.Height / 2}); got != want.Window {
		t.Error("other pixels in a part of the image")
	}
	if (im.Mask() != nil) != (want.Mask != nil) {
		t.Errorf("mask: %v, want %v", im.Mask() != nil, want.Mask != nil)
	} else if want.Mask != nil && sum(t, im.Mask(), im.All()) != *want.Mask {
		t.Error("another mask")
	}
	if len(im.Overviews()) != len(want.Overviews) {
		t.Fatalf("%d overviews, want %d", len(im.Overviews()), len(want.Overviews))
	}
	for i, o := range im.Overviews() {
		if w := want.Overviews[i]; o.Width != w.Width || o.Height != w.Height || sum(t, o, o.All()) != w.Sum {
			t.Errorf("overview %d is another one: %v", i, o)
		}
	}
}

// sameSystem compares a system that keys define with one of EPSG, at a place in Bohemia.
func sameSystem(t *testing.T, keys tiff.GeoKeys, code int) {
	t.Helper()
	a, err := crs.FromGeoKeys(keys)
	if err != nil {
		t.Fatal(err)
	}
	b, err := crs.EPSG(code)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := crs.NewTransform(a, b, crs.Ballpark())
	if err != nil {
		t.Fatal(err)
	}
	if x, y, err := tr.Forward(-740000, -1050000); err != nil || math.Hypot(x+740000, y+1050000) > 1e-3 {
		t.Errorf("the keys are not those of EPSG:%d: %v, %v, %v", code, x, y, err)
	}
}

func TestSystemsThatCannotBeUsedAreNamed(t *testing.T) {
	need(t)
	files(t)
	f, err := gdal.Open(filepath.Join(folder, "robinson.img"), gdal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.CRSError(); !errors.Is(err, crs.ErrUnsupported) || !strings.Contains(err.Error(), "obinson") {
		t.Errorf("the error of a system that package crs does not have: %v", err)
	}
	if w := f.Warnings(); len(w) != 1 || w[0] != f.CRSError().Error() {
		t.Errorf("warnings %q", w)
	}
	g, err := gdal.Open(filepath.Join(folder, "albers.img"), gdal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c, err := crs.FromGeoKeys(g.Image().Geo.Keys)
	if err != nil || g.CRSError() != nil {
		t.Fatal(err, g.CRSError())
	}
	geographic, _ := crs.EPSG(4269)
	tr, err := crs.NewTransform(geographic, c)
	if err != nil {
		t.Fatal(err)
	}
	if x, y, err := tr.Forward(-96, 23); err != nil || math.Abs(x-1) > 1e-6 || math.Abs(y-2) > 1e-6 {
		t.Errorf("the origin is at %v, %v, %v", x, y, err)
	}
}

func TestContainersListTheirDatasets(t *testing.T) {
	need(t)
	files(t)
	name := filepath.Join(folder, "variables.nc")
	_, err := gdal.Open(name, gdal.Options{})
	var several *gdal.SubdatasetsError
	if !errors.As(err, &several) || !errors.Is(err, gdal.ErrSubdatasets) || len(several.Subdatasets) != 2 || !strings.Contains(err.Error(), `:Band2`) {
		t.Fatalf("%v", err)
	}
	all, err := gdal.Subdatasets(name, gdal.Options{})
	if err != nil || !reflect.DeepEqual(all, several.Subdatasets) || !strings.Contains(all[1].Description, "Band2") {
		t.Errorf("%v, %v", all, err)
	}
	f, err := gdal.Open(all[1].Name, gdal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadersDoNotDisturbEachOther(t *testing.T) {
	files(t)
	for _, name := range []string{"rotated.vrt", "pyramid.img", "cube.dat"} {
		f, err := gdal.Open(filepath.Join(folder, name), gdal.Options{Handles: 4})
		if err != nil {
			t.Fatal(err)
		}
		im := f.Image()
		want := sum(t, im, im.All())
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				dst := make([]byte, im.Width*im.Height*im.Bands*im.Type.Size())
				for range 3 {
					clear(dst)
					r := im.All()
					r.Layout = tiff.ByBand
					if err := im.ReadRegion(t.Context(), dst, r); err != nil {
						t.Error(err)
					} else if s := sha256.Sum256(dst); hex.EncodeToString(s[:]) != want {
						t.Errorf("%s: other pixels", name)
					}
				}
			})
		}
		wg.Wait()
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
		if err := im.ReadRegion(t.Context(), make([]byte, 16*im.Bands), tiff.Region{Width: 1, Height: 1}); !errors.Is(err, gdal.ErrClosed) {
			t.Errorf("reading a closed file: %v", err)
		}
	}
}

func TestAContextEndsReading(t *testing.T) {
	files(t)
	f, err := gdal.Open(filepath.Join(folder, "u16.img"), gdal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tiff.Read[uint16](ctx, f.Image(), f.Image().All()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	files(t)
	work := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"field.nc", "variables.nc", "pyramid.img", "deep.jp2", "gray.png", "gray.bmp", "rgba.gpkg", "rotated.vrt", "grid.asc"} {
		whole, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		n := 12
		if name == "field.nc" && !testing.Short() {
			n = 40 // the netCDF library crashes on one of these
		}
		for i := range n {
			damaged := bytes.Clone(whole)
			if i%2 == 0 {
				damaged = damaged[:rng.IntN(len(damaged))]
			}
			for range i {
				if len(damaged) > 0 {
					damaged[rng.IntN(min(len(damaged), 4000))] ^= byte(1 << rng.IntN(8))
				}
			}
			file := filepath.Join(work, fmt.Sprint(i)+name)
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := gdal.Open(file, gdal.Options{Handles: 1})
			if err != nil {
				if !errors.Is(err, gdal.ErrFormat) && !errors.Is(err, gdal.ErrSubdatasets) {
					t.Errorf("%s: %v", file, err)
				}
				continue
			}
			im := f.Image()
			if im.Width < 5000 && im.Height < 5000 && im.Bands < 10 {
				dst := make([]byte, im.Width*im.Height*im.Bands*im.Type.Size())
				if err := im.ReadRegion(t.Context(), dst, im.All()); err != nil && !errors.Is(err, gdal.ErrFormat) {
					t.Errorf("%s: %v", file, err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNamesThatAreNoFiles(t *testing.T) {
	need(t)
	missing := filepath.Join(t.TempDir(), "missing.jp2")
	for name, kind := range map[string]error{"": gdal.ErrArgument, "a\x00b": gdal.ErrArgument, missing: gdal.ErrFormat} {
		_, err := gdal.Open(name, gdal.Options{})
		var e *gdal.Error
		if !errors.Is(err, kind) || !errors.As(err, &e) || e.Op != "open" {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := gdal.Subdatasets(name, gdal.Options{}); !errors.Is(err, kind) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := gdal.Open(missing, gdal.Options{}); !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("%v", err)
	}
}

func TestOptionsReachTheDriver(t *testing.T) {
	files(t)
	name := filepath.Join(folder, "pyramid.img")
	f, err := gdal.Open(name, gdal.Options{Open: []string{"OVERVIEW_LEVEL=0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if im := f.Image(); im.Width != 450 {
		t.Errorf("the first overview is %v", im)
	}
	if _, err := gdal.Open(name, gdal.Options{Drivers: []string{"netCDF", "PNG"}}); !errors.Is(err, gdal.ErrFormat) {
		t.Errorf("other drivers: %v", err)
	}
}

func TestAProcessThatOpensAFileEnds(t *testing.T) {
	need(t)
	for text, want := range map[string]string{"{": "gdal: the environment variable QUERN_GDAL_PROBE", "{}": "gdal: the environment variable QUERN_GDAL_PROBE", `{"Name":"missing.nc"}`: ""} {
		cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.v")
		cmd.Env = append(os.Environ(), "QUERN_GDAL_PROBE="+text)
		out, err := cmd.CombinedOutput()
		if (err != nil) != (want != "") || !strings.HasPrefix(string(out), want) || strings.Contains(string(out), "PASS") {
			t.Errorf("%s: %v, %s", text, err, out)
		}
	}
}

func TestALibraryThatIsMissingIsExplained(t *testing.T) {
	if os.Getenv("QUERN_GDAL") == "/nonexistent/libgdal.so" {
		_, err := gdal.Open("x.jp2", gdal.Options{})
		fmt.Println(errors.Is(err, gdal.ErrMissing), err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestALibraryThatIsMissingIsExplained$", "-test.v")
	cmd.Env = append(os.Environ(), "QUERN_GDAL=/nonexistent/libgdal.so")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "true gdal: load: QUERN_GDAL=/nonexistent/libgdal.so") || !strings.Contains(string(out), "install GDAL") {
		t.Errorf("%v\n%s", err, out)
	}
}
