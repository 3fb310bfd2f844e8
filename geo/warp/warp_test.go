package warp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// whole computes the whole output.
func whole(t testing.TB, dev *gpu.Device, sources []*tiff.Image, o Options) (pixels, mask []byte, h tiff.Header) {
	t.Helper()
	w, err := New(dev, sources, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	h = w.Header()
	words := make([]complex128, (h.Width*h.Height*h.Bands*h.Type.Size()+15)/16)
	pixels = tiff.Bytes(words)[:h.Width*h.Height*h.Bands*h.Type.Size()]
	if w.Masked() {
		mask = make([]byte, h.Width*h.Height)
	}
	if err := w.Read(t.Context(), tiff.Region{Width: h.Width, Height: h.Height}, pixels, mask); err != nil {
		t.Fatal(err)
	}
	return pixels, mask, h
}

// kinds are sources of small size that together use all branches of the kernels.
func kinds(t testing.TB, folder string) map[string][]*tiff.Image {
	t.Helper()
	all := map[string][]*tiff.Image{}
	for _, kind := range []struct {
		name  string
		typ   tiff.Type
		bands int
		kind  string
		opt   tiff.Options
	}{
		{"bytes", tiff.Uint8, 2, "plain", tiff.Options{BlockWidth: 16, BlockHeight: 32}},
		{"floats with nodata", tiff.Float32, 1, "nodata", tiff.Options{Layout: tiff.ByBand, Compression: tiff.LZW}},
		{"words with alpha", tiff.Uint16, 2, "alpha", tiff.Options{Compression: tiff.None}},
		{"integers with a mask", tiff.Int16, 2, "plain", tiff.Options{Mask: true, Strips: true, BlockHeight: 5}},
	} {
		name := filepath.Join(folder, kind.name+".tif")
		sceneOf(t, kind.typ, name, 61, 47, kind.bands, kind.kind, kind.opt)
		all[kind.name] = openImages(t, name)
	}
	return all
}

// small is an output of a few pixels that cuts the scene and reaches beyond it.
func small(t testing.TB, r Resampling, scale float64) Options {
	size := 45 * scale
	return Options{Target: epsg(t, 3857), Extent: &Extent{1669500, 6078000, 1672200, 6081000}, Resolution: [2]float64{size, size}, Resampling: r}
}

func TestPixelsAreTheSameOnAllDevices(t *testing.T) {
	sources := kinds(t, t.TempDir())
	type key struct {
		kind  string
		r     int
		scale float64
	}
	first := map[key][]byte{}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for kind, images := range sources {
			for r := range resamplings {
				for _, scale := range []float64{1, 2.7} {
					if scale == 1 && dev.Backend() == gpu.Sim && r%3 != len(kind)%3 {
						continue // the simulator takes its time
					}
					o := small(t, Resampling(r), scale*2)
					pixels, mask, _ := whole(t, dev, images, o)
					k := key{kind, r, scale}
					if first[k] == nil {
						first[k] = append(pixels, mask...)
					} else if !slices.Equal(first[k], append(pixels, mask...)) {
						t.Errorf("%v: the bits differ", k)
					}
				}
			}
		}
	})
}

func TestPixelsDoNotDependOnTilesAndMemory(t *testing.T) {
	dev := cpu(t)
	for kind, images := range kinds(t, t.TempDir()) {
		for r := range resamplings {
			o := small(t, Resampling(r), 1.3)
			pixels, mask, h := whole(t, dev, images, o)
			for _, tile := range [][2]int{{7, 11}, {64, 3}, {1, 40}} {
				o.TileWidth, o.TileHeight = tile[0], tile[1]
				p, m, _ := whole(t, dev, images, o)
				if !slices.Equal(p, pixels) || !slices.Equal(m, mask) {
					t.Errorf("%s, %v, tiles of %v: the bits differ", kind, Resampling(r), tile)
				}
			}
			// Windows that are too large are divided.
			o.TileWidth, o.TileHeight, o.Memory = 0, 0, 40000
			p, m, _ := whole(t, dev, images, o)
			if !slices.Equal(p, pixels) || !slices.Equal(m, mask) {
				t.Errorf("%s, %v, little memory: the bits differ", kind, Resampling(r))
			}
			if r%4 == 0 {
				checkFile(t, dev, images, o, pixels, mask, h)
				o.TileWidth, o.TileHeight = 32, 48
				o.File = tiff.Options{Compression: tiff.None, BlockWidth: 16, BlockHeight: 16} // tiles go to their places
				checkFile(t, dev, images, o, pixels, mask, h)
			}
		}
	}
}

// checkFile writes the output and reads it again.
func checkFile(t *testing.T, dev *gpu.Device, images []*tiff.Image, o Options, pixels, mask []byte, h tiff.Header) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out.tif")
	rows := 0
	o.Progress = func(done, total int) {
		if done <= rows || total != h.Height {
			t.Errorf("progress %d of %d after %d", done, total, rows)
		}
		rows = done
	}
	if err := File(t.Context(), dev, name, images, o); err != nil {
		t.Fatal(err)
	}
	im := openImages(t, name)[0]
	words := make([]complex128, (len(pixels)+15)/16)
	got := tiff.Bytes(words)[:len(pixels)]
	if err := im.ReadRegion(t.Context(), got, im.All()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, pixels) || rows != h.Height {
		t.Errorf("the file has other pixels, or progress ended at %d of %d", rows, h.Height)
	}
	if mask != nil {
		m := make([]byte, len(mask))
		if err := im.Mask().ReadRegion(t.Context(), m, tiff.Region{Width: h.Width, Height: h.Height}); err != nil || !slices.Equal(m, mask) {
			t.Errorf("the file has another mask: %v", err)
		}
	}
	if a, _ := im.Geo.Affine(); a != mustAffine(h) {
		t.Errorf("%v, not %v", a, mustAffine(h))
	}
}

func mustAffine(h tiff.Header) tiff.Affine { a, _ := h.Geo.Affine(); return a }

func TestTheSameGridCopiesPixels(t *testing.T) {
	dev := cpu(t)
	for kind, images := range kinds(t, t.TempDir()) {
		want := values(t, images[0])
		for r := range resamplings {
			if r == int(CubicSpline) || r == int(GDALCubicSpline) {
				continue // they smooth
			}
			name := filepath.Join(t.TempDir(), "out.tif")
			if err := File(t.Context(), dev, name, images, Options{Resampling: Resampling(r)}); err != nil {
				t.Fatal(err)
			}
			if kind == "bytes" && !slices.Equal(values(t, openImages(t, name)[0]), want) {
				t.Errorf("%s, %v: the pixels differ", kind, Resampling(r))
			}
		}
	}
}

// flat writes an image with one value, at a place in UTM zone 33N with pixels of 10 meters.
func flat(t testing.TB, name string, value uint8, x, y float64, size int) {
	t.Helper()
	h := tiff.Header{Width: size, Height: size, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{x, 10, 0, y, 0, -10})
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]byte, size*size)
	for i := range pixels {
		pixels[i] = value
	}
	if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: pixels}), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLaterSourcesLieOverEarlierOnes(t *testing.T) {
	folder := t.TempDir()
	a, b := filepath.Join(folder, "a.tif"), filepath.Join(folder, "b.tif")
	flat(t, a, 10, 500000, 5000000, 4)
	flat(t, b, 20, 500020, 4999980, 4)
	pixels, _, h := whole(t, cpu(t), openImages(t, a, b), Options{NoData: []float64{255}})
	want := []byte{
		10, 10, 10, 10, 255, 255,
		10, 10, 10, 10, 255, 255,
		10, 10, 20, 20, 20, 20,
		10, 10, 20, 20, 20, 20,
		255, 255, 20, 20, 20, 20,
		255, 255, 20, 20, 20, 20,
	}
	if h.Width != 6 || h.Height != 6 || !slices.Equal(pixels, want) || h.NoData != "255" {
		t.Errorf("%d x %d, nodata %s\n%v", h.Width, h.Height, h.NoData, pixels)
	}
}

func TestACutlineRestrictsSources(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.tif")
	flat(t, name, 10, 500000, 5000000, 6)
	ring := [][2]float64{{500010, 4999990}, {500050, 4999990}, {500050, 4999950}, {500010, 4999950}}
	hole := [][2]float64{{500022, 4999978}, {500038, 4999978}, {500038, 4999962}, {500022, 4999962}}
	cutline, err := NewCutline(epsg(t, 32633), [][][2]float64{ring, hole})
	if err != nil {
		t.Fatal(err)
	}
	pixels, mask, _ := whole(t, cpu(t), openImages(t, name), Options{Cutline: cutline})
	want := []byte{
		0, 0, 0, 0, 0, 0,
		0, 10, 10, 10, 10, 0,
		0, 10, 0, 0, 10, 0,
		0, 10, 0, 0, 10, 0,
		0, 10, 10, 10, 10, 0,
		0, 0, 0, 0, 0, 0,
	}
	if !slices.Equal(pixels, want) || mask == nil || mask[0] != 0 || mask[7] != 255 {
		t.Errorf("%v\n%v", pixels, mask)
	}
}

func TestCutlinesOfGeoJSON(t *testing.T) {
	for _, test := range []struct {
		name, text string
		rings      int
		wrong      string
	}{
		{"a polygon", `{"type":"Polygon","coordinates":[[[1,2],[3,4],[5,6],[1,2]]]}`, 1, ""},
		{"a collection of features", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"MultiPolygon","coordinates":[[[[1,2,9],[3,4],[5,6]]],[[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]]]]}}]}`, 3, ""},
		{"an old system", `{"type":"Polygon","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::32633"}},"coordinates":[[[1,2],[3,4],[5,6]]]}`, 1, ""},
		{"a point", `{"type":"Point","coordinates":[1,2]}`, 0, "type \"Point\""},
		{"no geometry", `{"type":"FeatureCollection","features":[]}`, 0, "no polygon"},
		{"a line", `{"type":"Polygon","coordinates":[[[1,2],[3,4]]]}`, 0, "2 points"},
		{"half a position", `{"type":"Polygon","coordinates":[[[1],[3,4],[5,6]]]}`, 0, "1 numbers"},
		{"no JSON", `{"type":`, 0, "GeoJSON"},
		{"deep nesting", strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 40) + strings.Repeat(`]}`, 40), 0, "32 levels"},
	} {
		c, err := ParseCutline([]byte(test.text), nil)
		if test.wrong != "" {
			if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err != nil || len(c.rings) != test.rings {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestACropToEdgesOfPixelsHasAllPixels(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.tif")
	sceneOf(t, tiff.Uint8, name, 171, 143, 1, "plain", tiff.Options{})
	dev, scene := cpu(t), openImages(t, name)
	for left := range 40 {
		x, y := float64(500000+30*left), float64(5300000-30*left)
		text := fmt.Sprintf(`{"type":"Polygon","crs":{"type":"name","properties":{"name":"EPSG:32633"}},"coordinates":[[[%v,%v],[%v,%v],[%v,%v]]]}`, x, y, x+3000, y-1500, x, y-1500)
		cutline, err := ParseCutline([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(dev, scene, Options{Cutline: cutline, CropToCutline: true})
		if err != nil {
			t.Fatal(err)
		}
		got, want := w.Grid(), tiff.Affine{x, 30, 0, y, 0, -30}
		if got.Affine != want || got.Width != 100 || got.Height != 50 {
			t.Errorf("a cutline from %v, %v: %v x %v pixels at %v, want 100 x 50 at %v", x, y, got.Width, got.Height, got.Affine, want)
		}
		w.Close()
	}
}

func TestLongEdgesOfACutlineAreStraightInItsSystem(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.tif")
	sceneOf(t, tiff.Uint8, name, 640, 100, 1, "plain", tiff.Options{})
	few := [][2]float64{{15.005, 47.845}, {15.25, 47.84}, {15.24, 47.83}}
	var many [][2]float64
	for i, p := range few {
		q := few[(i+1)%len(few)]
		for k := range 512 {
			f := float64(k) / 512
			many = append(many, [2]float64{p[0] + f*(q[0]-p[0]), p[1] + f*(q[1]-p[1])})
		}
	}
	var masks [2][]byte
	for i, ring := range [][][2]float64{few, many} {
		text, err := json.Marshal(map[string]any{"type": "Polygon", "coordinates": [][][2]float64{ring}})
		if err != nil {
			t.Fatal(err)
		}
		cutline, err := ParseCutline(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, masks[i], _ = whole(t, cpu(t), openImages(t, name), Options{Cutline: cutline})
	}
	differ := 0
	for i := range masks[0] {
		if masks[0][i] != masks[1][i] {
			differ++
		}
	}
	if inside := bytes.Count(masks[1], []byte{255}); differ > 12 || inside < 5000 {
		t.Errorf("%d pixels differ, and %d are inside", differ, inside)
	}
}

func TestBadInputIsAnError(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "a.tif")
	flat(t, name, 10, 500000, 5000000, 8)
	nowhere := filepath.Join(folder, "nowhere.tif")
	w, err := tiff.Create(nowhere, tiff.Header{Width: 2, Height: 2, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: make([]byte, 4)}), w.Close()); err != nil {
		t.Fatal(err)
	}
	words := filepath.Join(folder, "words.tif")
	sceneOf(t, tiff.Uint16, words, 8, 8, 1, "plain", tiff.Options{})
	wide := filepath.Join(folder, "wide.tif")
	sceneOf(t, tiff.Uint8, wide, 8, 8, 3, "plain", tiff.Options{})
	dev := cpu(t)
	result := filepath.Join(folder, "result.tif")
	nad27, err := crs.EPSG(4267)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what    string
		sources []string
		o       Options
		kind    error
		text    string
	}{
		{"no source", nil, Options{}, ErrArgument, "a source is required"},
		{"no place", []string{nowhere}, Options{}, ErrNoCRS, "where its pixels are"},
		{"other types", []string{name, words}, Options{}, ErrArgument, "uint16"},
		{"other bands", []string{name, wide}, Options{}, ErrArgument, "3"},
		{"no overlap", []string{name}, Options{Extent: &Extent{0, 0, 100, 100}, Resolution: [2]float64{10, 10}}, ErrOutside, "meets no source"},
		{"a reversed extent", []string{name}, Options{Extent: &Extent{100, 0, 0, 100}}, ErrArgument, "minimum must be less"},
		{"an extent that is not a number", []string{name}, Options{Extent: &Extent{math.NaN(), 0, 1, 100}}, ErrArgument, "extent"},
		{"a tiny resolution", []string{name}, Options{Resolution: [2]float64{1e-9, 1e-9}}, ErrArgument, "pixels; at most"},
		{"a negative resolution", []string{name}, Options{Resolution: [2]float64{-1, 1}}, ErrArgument, "resolution"},
		{"two sizes", []string{name}, Options{Resolution: [2]float64{1, 1}, Width: 5}, ErrArgument, "give one of them"},
		{"alignment to nothing", []string{name}, Options{AlignPixels: true}, ErrArgument, "AlignPixels"},
		{"an unknown resampling", []string{name}, Options{Resampling: 99}, ErrArgument, "resampling 99"},
		{"too many values", []string{name}, Options{SourceNoData: []float64{1, 2}}, ErrArgument, "SourceNoData has 2 values for 1 bands"},
		{"a value of another type", []string{name}, Options{NoData: []float64{-1}}, ErrArgument, "not a value of uint8"},
		{"a blend without a cutline", []string{name}, Options{CutlineBlend: 3}, ErrArgument, "CutlineBlend 3 needs a cutline"},
		{"an unknown shift", []string{name}, Options{Target: nad27}, crs.ErrDatumShift, ""},
		{"a bad file option", []string{name}, Options{File: tiff.Options{BlockWidth: 17}}, tiff.ErrArgument, "17"},
	} {
		var images []*tiff.Image
		if test.sources != nil {
			images = openImages(t, test.sources...)
		}
		err := File(t.Context(), dev, result, images, test.o)
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.what, err)
		}
	}
	if err := File(t.Context(), dev, filepath.Join(folder, "no", "folder.tif"), openImages(t, name), Options{}); !errors.Is(err, tiff.ErrIO) {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "result*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestCancellationLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	name, result := filepath.Join(folder, "a.tif"), filepath.Join(folder, "result.tif")
	sceneOf(t, tiff.Uint8, name, 200, 200, 1, "plain", tiff.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Target: epsg(t, 3857), Resampling: Bilinear, TileHeight: 16, TileWidth: 64}
	o.Progress = func(done, total int) {
		if done > total/3 {
			cancel()
		}
	}
	if err := File(ctx, cpu(t), result, openImages(t, name), o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "result*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestADamagedSourceIsAnErrorThatNamesIt(t *testing.T) {
	folder := t.TempDir()
	name, result := filepath.Join(folder, "a.tif"), filepath.Join(folder, "result.tif")
	sceneOf(t, tiff.Uint8, name, 200, 200, 1, "plain", tiff.Options{BlockWidth: 64, BlockHeight: 64})
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	im := openImages(t, name)[0]
	offset, size, err := im.BlockRange(5)
	if err != nil {
		t.Fatal(err)
	}
	for i := offset; i < offset+size; i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	err = File(t.Context(), cpu(t), result, openImages(t, name), Options{Target: epsg(t, 3857)})
	if !errors.Is(err, tiff.ErrFormat) || !strings.Contains(fmt.Sprint(err), "block 5") {
		t.Error(err)
	}
	if _, err := os.Stat(result); err == nil {
		t.Error("there is a file")
	}
}

func TestTilesOfUncompressedFilesFitTheMemory(t *testing.T) {
	type size struct{ width, height int }
	for _, test := range []struct {
		what   string
		bands  int
		memory int64
		want   size
	}{
		{"few bands", 1, 512 << 20, size{2048, 1024}},
		{"many bands", 200, 512 << 20, size{512, 32}},
		{"little memory", 3, 8 << 20, size{512, 32}},
		{"less memory than blocks", 200, 1 << 20, size{128, 32}},
	} {
		w := &Warper{opt: Options{Memory: test.memory, TileWidth: 2048, TileHeight: 1024}, header: tiff.Header{Bands: test.bands, Type: tiff.Float64}}
		width, height := w.fileTile(128, 32)
		if got := (size{width, height}); got != test.want {
			t.Errorf("%s: tiles of %v, want %v", test.what, got, test.want)
		}
	}
}
