package translate

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

// source describes an image of tests.
type source struct {
	header tiff.Header
	file   tiff.Options
	mask   func(x, y int) bool
}

const width, height = 61, 47

// value is smooth with some noise, from 0 to 255.
func value(x, y, band int) float64 {
	noise := float64((x*7919+y*104729+band*1299709)%41) - 20
	return min(255, max(0, 128+100*math.Sin(float64(x)/5)*math.Cos(float64(y)/7)+noise/2+float64(20*band)))
}

// hole says where sources with NoData, a mask or alpha have none.
func hole(x, y int) bool { return (x/6+y/6)%4 == 0 }

func image(t testing.TB, s source, samples any) string {
	t.Helper()
	h := s.header
	h.Width, h.Height = width, height
	if h.Bands == 0 {
		h.Bands, h.Photometric = 1, tiff.MinIsBlack
	}
	if h.Geo.Keys == nil && h.Geo.Tiepoints == nil {
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5000000, 0, -10})
	}
	rows := tiff.Rows{}
	switch v := samples.(type) {
	case []uint8:
		h.Type, rows.Pixels = tiff.Uint8, v
	case []uint16:
		h.Type, rows.Pixels = tiff.Uint16, tiff.Bytes(v)
	case []int16:
		h.Type, rows.Pixels = tiff.Int16, tiff.Bytes(v)
	case []int32:
		h.Type, rows.Pixels = tiff.Int32, tiff.Bytes(v)
	case []uint32:
		h.Type, rows.Pixels = tiff.Uint32, tiff.Bytes(v)
	case []float32:
		h.Type, rows.Pixels = tiff.Float32, tiff.Bytes(v)
	case []float64:
		h.Type, rows.Pixels = tiff.Float64, tiff.Bytes(v)
	case []complex64:
		h.Type, rows.Pixels = tiff.Complex64, tiff.Bytes(v)
	}
	if s.mask != nil {
		s.file.Mask = true
		for y := range height {
			for x := range width {
				m := byte(0)
				if s.mask(x, y) {
					m = 255
				}
				rows.Mask = append(rows.Mask, m)
			}
		}
	}
	name := filepath.Join(t.TempDir(), "source.tif")
	w, err := tiff.Create(name, h, s.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// fill makes the samples of an image.
func fill[T tiff.Sample](bands int, sample func(x, y, band int) T) []T {
	var all []T
	for y := range height {
		for x := range width {
			for b := range bands {
				all = append(all, sample(x, y, b))
			}
		}
	}
	return all
}

func gray(t testing.TB) string {
	return image(t, source{}, fill(1, func(x, y, b int) uint8 { return uint8(value(x, y, b)) }))
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

// pixels returns the samples of an image and its mask, which is nil without one.
func pixels(t testing.TB, im *tiff.Image) (samples, mask []byte) {
	t.Helper()
	samples = aligned(im.Width * im.Height * im.Bands * im.Type.Size())
	if err := im.ReadRegion(t.Context(), samples, im.All()); err != nil {
		t.Fatal(err)
	}
	if m := im.Mask(); m != nil {
		mask = make([]byte, im.Width*im.Height)
		if err := m.ReadRegion(t.Context(), mask, m.All()); err != nil {
			t.Fatal(err)
		}
	}
	return samples, mask
}

func translated(t testing.TB, name string, o Options) *tiff.Image {
	t.Helper()
	result := filepath.Join(t.TempDir(), "result.tif")
	if err := File(t.Context(), result, open(t, name), o, tiff.Options{}); err != nil {
		t.Fatal(err)
	}
	return open(t, result)
}

func TestTheResultDoesNotDependOnBlocks(t *testing.T) {
	samples := fill(3, func(x, y, b int) uint16 { return uint16(200 * value(x, y, b)) })
	h := tiff.Header{Bands: 3, Photometric: tiff.RGB}
	mask := func(x, y int) bool { return !hole(x, y) }
	one := image(t, source{h, tiff.Options{}, mask}, samples)
	rows := image(t, source{h, tiff.Options{Strips: true, BlockHeight: 1}, mask}, samples)
	for r := range Resamplings() {
		for _, size := range [][2]int{{13, 11}, {200, 300}, {61, 5}} {
			o := Options{Resampling: Resampling(r), Width: size[0], Height: size[1], Type: tiff.Float32, Window: &Window{X: -4, Y: 3, Width: 50, Height: 60}}
			a, b := translated(t, one, o), translated(t, rows, o)
			p, m := pixels(t, a)
			q, n := pixels(t, b)
			if !bytes.Equal(p, q) || !bytes.Equal(m, n) || m == nil {
				t.Errorf("%v to %v: other pixels than from a source with other blocks", Resamplings()[r], size)
			}
		}
	}
}

func TestRowsCanBeReadAgain(t *testing.T) {
	im, err := New(t.Context(), open(t, gray(t)), Options{Width: 30, Resampling: Cubic})
	if err != nil {
		t.Fatal(err)
	}
	var all [2][]byte
	for i := range all {
		if err := im.Rows(t.Context(), func(rows tiff.Rows, n int) error {
			if len(rows.Pixels) != n*30 {
				t.Errorf("%d bytes for %d rows", len(rows.Pixels), n)
			}
			all[i] = append(all[i], rows.Pixels...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(all[0], all[1]) || len(all[0]) != 30*im.Header().Height {
		t.Errorf("%d and %d bytes, or other ones", len(all[0]), len(all[1]))
	}
}

func TestControlPointsAndPolynomialsFollowTheSize(t *testing.T) {
	h := tiff.Header{RPC: &tiff.RPC{LineOff: 20, SampOff: 30, LineScale: 40, SampScale: 50}}
	h.Geo.Tiepoints = []tiff.Tiepoint{{Column: 10, Row: 20, X: 1, Y: 2}, {Column: 40, Row: 30, X: 3, Y: 4}}
	im := translated(t, image(t, source{header: h}, fill(1, func(x, y, b int) uint8 { return uint8(x) })), Options{Window: &Window{X: 4, Y: 8, Width: 50, Height: 36}, Width: 25, Height: 72})
	if r := im.RPC; r.SampOff != (30-4+0.5)/2-0.5 || r.LineOff != (20-8+0.5)*2-0.5 || r.SampScale != 25 || r.LineScale != 80 {
		t.Errorf("%+v", r)
	}
	if p := im.Geo.ControlPoints(); len(p) != 2 || p[0].Column != 3 || p[0].Row != 24 || p[1].Column != 18 || p[1].Row != 44 || p[1].X != 3 {
		t.Errorf("%+v", p)
	}
}

func TestBadOptionsAreReported(t *testing.T) {
	name := gray(t)
	im := open(t, name)
	nan := math.NaN()
	mercator, err := crs.EPSG(3857)
	if err != nil {
		t.Fatal(err)
	}
	rotated := tiff.Header{}
	rotated.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	rotated.Geo.SetAffine(tiff.Affine{500000, 10, 1, 5000000, 1, -10})
	turned := open(t, image(t, source{header: rotated}, fill(1, func(x, y, b int) uint8 { return 0 })))
	complexes := open(t, image(t, source{}, fill(1, func(x, y, b int) complex64 { return 1 })))
	colors := tiff.Header{Bands: 1, Photometric: tiff.Palette, Palette: make([]tiff.Color, 256)}
	colors.Palette[3].R = 0x9999
	palette := open(t, image(t, source{header: colors}, fill(1, func(x, y, b int) uint8 { return 0 })))
	flat := open(t, image(t, source{}, fill(1, func(x, y, b int) float32 { return float32(nan) })))
	for title, test := range map[string]struct {
		im   *tiff.Image
		o    Options
		kind error
		text string
	}{
		"a band that is missing":          {im, Options{Bands: []int{1}}, tiff.ErrArgument, "band"},
		"an empty window":                 {im, Options{Window: &Window{Width: 0, Height: 3}}, ErrArgument, "must be positive"},
		"a window outside":                {im, Options{Window: &Window{X: width, Width: 3, Height: 3}}, ErrOutside, "has 61 x 47 pixels"},
		"a window and an extent":          {im, Options{Window: &Window{Width: 3, Height: 3}, Extent: &Extent{}}, ErrArgument, "give one of them"},
		"an extent outside":               {im, Options{Extent: &Extent{0, 100, 100, 0}}, ErrOutside, "outside of the image"},
		"a reversed extent":               {im, Options{Extent: &Extent{500100, 4999800, 500000, 4999900}}, ErrArgument, "(left, top, right, bottom)"},
		"an extent that is not a number":  {im, Options{Extent: &Extent{nan, 1, 2, 3}}, ErrArgument, "not finite"},
		"an extent of a rotated image":    {turned, Options{Extent: &Extent{500100, 4999900, 500200, 4999800}}, ErrArgument, "rotated"},
		"a system without an extent":      {im, Options{ExtentCRS: mercator}, ErrArgument, "needs an extent"},
		"a negative size":                 {im, Options{Width: -1}, ErrArgument, "positive"},
		"two widths":                      {im, Options{Width: 3, XShare: 1}, ErrArgument, "positive"},
		"a size and a resolution":         {im, Options{Width: 3, Resolution: [2]float64{1, 1}}, ErrArgument, "give one of them"},
		"a wide window":                   {im, Options{Window: &Window{Width: 2e9, Height: 3}}, ErrArgument, "a row of 2000000000 pixels"},
		"a tiny resolution":               {im, Options{Resolution: [2]float64{1e-9, 1e-9}}, ErrArgument, "pixels"},
		"an unknown resampling":           {im, Options{Resampling: 99}, ErrArgument, "99"},
		"an unknown type":                 {im, Options{Type: 99}, ErrArgument, "type"},
		"an unknown expansion":            {im, Options{Expand: 9}, ErrArgument, "9"},
		"a palette that is missing":       {im, Options{Expand: RGB}, ErrArgument, "no palette"},
		"colors that are not gray":        {palette, Options{Expand: Gray}, ErrArgument, "color 3"},
		"indices that are mixed":          {palette, Options{Width: 10, Resampling: Average}, ErrArgument, "palette"},
		"complex samples that are mixed":  {complexes, Options{Width: 10, Resampling: Cubic}, ErrArgument, "complex"},
		"complex samples that are scaled": {complexes, Options{Scale: &Scale{}}, ErrArgument, "complex"},
		"a scale and its removal":         {im, Options{Scale: &Scale{}, Unscale: true}, ErrArgument, "give one of them"},
		"a scale without values":          {flat, Options{Scale: &Scale{}}, ErrArgument, "no range"},
		"corners without an area":         {im, Options{Corners: &Extent{1, 2, 1, 3}}, ErrArgument, "no area"},
		"a system that is removed too":    {im, Options{CRS: mercator, NoCRS: true}, ErrArgument, "give one of them"},
	} {
		result := filepath.Join(t.TempDir(), "result.tif")
		err := File(t.Context(), result, test.im, test.o, tiff.Options{})
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", title, err)
		}
		if _, err := os.Stat(result); err == nil {
			t.Errorf("%s: there is a file", title)
		}
	}
}

func TestACanceledCallLeavesNoFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	err := File(ctx, filepath.Join(folder, "result.tif"), open(t, gray(t)), Options{Width: 200, Resampling: Bilinear}, tiff.Options{})
	files, _ := os.ReadDir(folder)
	if !errors.Is(err, context.Canceled) || len(files) != 0 {
		t.Errorf("%v, %v", err, files)
	}
}

func TestPartsOutsideHaveNoData(t *testing.T) {
	none := "-7"
	im := translated(t, gray(t), Options{Window: &Window{X: -3, Y: 40, Width: 10, Height: 20}, Type: tiff.Int16, NoData: &none})
	got, err := tiff.Read[int16](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		x, y := i%10-3, i/10+40
		want := int16(-7)
		if x >= 0 && y < height {
			want = int16(uint8(value(x, y, 0)))
		}
		if v != want {
			t.Fatalf("pixel %d,%d is %d, want %d", x, y, v, want)
		}
	}
	if a, _ := im.Geo.Affine(); a != (tiff.Affine{499970, 10, 0, 4999600, 0, -10}) || im.NoData != "-7" {
		t.Errorf("%v, NoData %s", a, im.NoData)
	}
}

func TestNoDataIsTheValueThatSamplesHave(t *testing.T) {
	var counts []int // of pixels with data, by options
	for _, text := range []string{"-9999", "0.1", "-3.40282346639e+38", "nan", "inf"} {
		none, err := strconv.ParseFloat(text, 32) // float64 has another one
		if err != nil {
			t.Fatal(err)
		}
		name := image(t, source{header: tiff.Header{NoData: text}}, fill(1, func(x, y, b int) float32 {
			if x >= 20 && x < 40 {
				return float32(none)
			}
			return 100
		}))
		all := []Options{{Scale: &Scale{From: &[2]float64{0, 50}, To: [2]float64{0, 100}}}, {Scale: &Scale{To: [2]float64{200, 300}}}}
		for r := range Resamplings() {
			all = append(all, Options{Resampling: Resampling(r), Width: 31, Height: 23})
		}
		for i, o := range all {
			im := translated(t, name, o)
			got, err := tiff.Read[float32](t.Context(), im, im.All())
			if err != nil {
				t.Fatal(err)
			}
			want := float32(200)
			if i > 1 {
				want = 100
			}
			if j := slices.IndexFunc(got, func(v float32) bool { return v != float32(none) && v != want && !(v != v && none != none) }); j >= 0 {
				t.Errorf("NoData %s, %+v: pixel %d is %v", text, o, j, got[j])
			}
			n := 0
			for _, v := range got {
				if v == want {
					n++
				}
			}
			if text == "-9999" {
				counts = append(counts, n)
			} else if n != counts[i] {
				t.Errorf("NoData %s, %+v: %d pixels have data, and %d with another NoData", text, o, n, counts[i])
			}
		}
	}
}

func TestSamplesOfFewBitsHaveNoMoreBits(t *testing.T) {
	name := image(t, source{header: tiff.Header{Bits: 12, NoData: "9"}}, fill(1, func(x, y, b int) uint16 { return uint16(x / 30 % 2 * 4095) }))
	wide := "65535"
	for r, title := range Resamplings() {
		im := translated(t, name, Options{Resampling: Resampling(r), Width: 200, Height: height})
		got, err := tiff.Read[uint16](t.Context(), im, im.All())
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(got[110:160], func(v uint16) bool { return v < 4000 }); i >= 0 || im.Bits != 12 {
			t.Errorf("%s: %d bits, and column %d is %v", title, im.Bits, 110+i, got[110+max(0, i)])
		}
		if got[101] < 4000 && Resampling(r) != CubicSpline && Resampling(r) != Bilinear {
			t.Errorf("%s: a value beyond the bits became %d", title, got[101])
		}
		im = translated(t, name, Options{Resampling: Resampling(r), NoData: &wide, Window: &Window{X: -2.5, Width: 30, Height: height}})
		if got, err = tiff.Read[uint16](t.Context(), im, im.All()); err != nil || float64(got[0]) != noData(im) {
			t.Errorf("%s: a pixel without data is %d, and NoData %s: %v", title, got[0], im.NoData, err)
		}
	}
}

func noData(im *tiff.Image) float64 {
	v, _ := im.NoDataValue()
	return v
}

func TestNoDataIsAValueOfTheType(t *testing.T) {
	name := image(t, source{header: tiff.Header{NoData: "1e+38"}}, fill(1, func(x, y, b int) float32 { return 1e38 }))
	for typ, want := range map[tiff.Type]string{tiff.Uint8: "255", tiff.Int16: "32767", tiff.Uint32: "4294967295", tiff.Int64: "9223372036854775807", tiff.Uint64: "18446744073709551615"} {
		im := translated(t, name, Options{Type: typ, Window: &Window{X: -1, Width: 3, Height: 1}})
		got, _ := pixels(t, im)
		v, ok := im.NoDataValue()
		if number, err := strconv.ParseUint(want, 10, 64); !ok || err != nil || v != float64(number) || !bytes.Equal(got[:typ.Size()], got[typ.Size():2*typ.Size()]) {
			t.Errorf("%v: NoData %s, %v; want %s; a pixel outside is %v, and one without data %v", typ, im.NoData, ok, want, got[:typ.Size()], got[typ.Size():2*typ.Size()])
		}
	}
}

func TestOneValueHasTheFirstValueOfAScale(t *testing.T) {
	for _, v := range []float64{0, -5, 1e20, -1e300} {
		name := image(t, source{}, fill(1, func(x, y, b int) float64 { return v }))
		for _, from := range []*[2]float64{nil, {v, v}} {
			im := translated(t, name, Options{Scale: &Scale{From: from, To: [2]float64{3, 255}}})
			if got, err := tiff.Read[float64](t.Context(), im, im.All()); err != nil || got[0] != 3 {
				t.Errorf("%v from %v became %v, %v", v, from, got[0], err)
			}
		}
	}
}

func TestAPaletteFitsTheType(t *testing.T) {
	h := tiff.Header{Bands: 1, Photometric: tiff.Palette, Palette: make([]tiff.Color, 1<<16)}
	h.Palette[3].R, h.Palette[300].G = 0x9999, 0x7777
	name := image(t, source{header: h}, fill(1, func(x, y, b int) uint16 { return uint16(x % 5) }))
	im := translated(t, name, Options{Type: tiff.Uint8})
	if got, _ := pixels(t, im); len(im.Palette) != 256 || im.Palette[3].R != 0x9999 || got[3] != 3 {
		t.Errorf("%d colors, %+v, index %d", len(im.Palette), im.Palette[3], got[3])
	}
}

func TestNamesOfResamplings(t *testing.T) {
	for i, name := range Resamplings() {
		if r, ok := ParseResampling(strings.ToUpper(name)); !ok || int(r) != i {
			t.Errorf("%s is %v, %v", name, r, ok)
		}
	}
	if _, ok := ParseResampling("sinc"); ok || !slices.Contains(Resamplings(), "average") {
		t.Error(Resamplings())
	}
}
