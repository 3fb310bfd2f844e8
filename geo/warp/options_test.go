package warp

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/tiff"
)

// typed writes a scene of 171 x 143 pixels in any type. Some values are 7.
func typed(t testing.TB, name string, typ tiff.Type, bands int, noData string, extra ...tiff.ExtraSample) {
	t.Helper()
	const width, height = 171, 143
	h := tiff.Header{Width: width, Height: height, Bands: bands, Type: typ, Photometric: tiff.MinIsBlack, NoData: noData, Extra: extra}
	for len(h.Extra) < bands-1 {
		h.Extra = append(h.Extra, tiff.Unspecified)
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 30, 0, 5300000, 0, -30})
	_, parts := typ.Parts()
	n := width * height * bands * parts
	values := make([]float64, n)
	for i := range values {
		pixel, k := i/(bands*parts), i%(bands*parts)
		x, y := pixel%width, pixel/width
		values[i] = 110 + 90*math.Sin(float64(x)/7+float64(k))*math.Cos(float64(y)/9)
		if (x/6+y/5+k)%4 == 0 || x/20%3 == 0 && y/20%3 == 0 {
			values[i] = 7
		}
		if typ.Size() > 1 && typ != tiff.Uint16 {
			values[i] *= 3
		}
	}
	words := make([]complex128, (n*8+15)/16)
	c := &canvas{pixels: tiff.Bytes(words)[:width*height*bands*typ.Size()]}
	store(c, typ, 0, values)
	w, err := tiff.Create(name, h, tiff.Options{Compression: tiff.Deflate})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: c.pixels}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// parts reads all samples as numbers; complex ones are two.
func parts(t testing.TB, im *tiff.Image) []float64 {
	t.Helper()
	s := &source{im: im, h: im.Header}
	if err := s.setBands(&Options{IgnoreNoData: true, SourceAlpha: AlphaNone}, blocks.New(1<<20)); err != nil {
		t.Fatal(err)
	}
	_, n := im.Type.Parts()
	all := make([]float64, im.Width*im.Height*im.Bands*n)
	if err := readAs(t.Context(), s, all, im.All()); err != nil {
		t.Fatal(err)
	}
	return all
}

// gdalTypes are the names of types in option -ot.
var gdalTypes = map[tiff.Type]string{tiff.Uint8: "Byte", tiff.Int8: "Int8", tiff.Uint16: "UInt16", tiff.Int16: "Int16", tiff.Uint32: "UInt32", tiff.Int32: "Int32",
	tiff.Uint64: "UInt64", tiff.Int64: "Int64", tiff.Float32: "Float32", tiff.Float64: "Float64",
	tiff.ComplexI16: "CInt16", tiff.ComplexI32: "CInt32", tiff.Complex64: "CFloat32", tiff.Complex128: "CFloat64"}

func TestTypesBandsAndStartsAreThoseOfGDAL(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	var all []*job
	add := func(source string, r Resampling, change func(o *Options), arguments ...string) {
		for _, target := range targets[:2] {
			j := newJob(folder, source, tiff.Uint8, "plain", target, r, len(all))
			j.name = fmt.Sprintf("%s, %v, %v, %s", filepath.Base(source), r, arguments, target.name)
			j.Arguments = append(j.Arguments, arguments...)
			change(&j.options)
			all = append(all, j)
		}
	}
	file := func(typ tiff.Type, bands int, noData string, extra ...tiff.ExtraSample) string {
		name := filepath.Join(folder, fmt.Sprintf("%v %d bands %s %v.tif", typ, bands, noData, extra))
		typed(t, name, typ, bands, noData, extra...)
		return name
	}
	methods := []Resampling{Nearest, Bilinear, Cubic, Lanczos}
	for _, typ := range []tiff.Type{tiff.Int64, tiff.Uint64, tiff.ComplexI16, tiff.ComplexI32, tiff.Complex64, tiff.Complex128} {
		for _, r := range append(methods, Average, Mode, Maximum) {
			if typ.Complex() && resamplings[r].boxed {
				continue
			}
			add(file(typ, 2, ""), r, func(*Options) {})
			if !typ.Complex() {
				add(file(typ, 2, "21"), r, func(*Options) {})
			}
		}
	}
	for _, pair := range [][2]tiff.Type{{tiff.Uint8, tiff.Float32}, {tiff.Uint8, tiff.Int16}, {tiff.Float32, tiff.Uint8}, {tiff.Int16, tiff.Uint8}, {tiff.Uint16, tiff.Int16},
		{tiff.Float64, tiff.Int32}, {tiff.Uint8, tiff.Float64}, {tiff.Int32, tiff.Float32}, {tiff.Int16, tiff.Int64}, {tiff.ComplexI16, tiff.Complex64}, {tiff.Float32, tiff.Uint16}} {
		for _, r := range methods {
			add(file(pair[0], 2, ""), r, func(o *Options) { o.Type = pair[1] }, "-ot", gdalTypes[pair[1]])
		}
	}
	four, alpha := file(tiff.Uint8, 4, ""), file(tiff.Uint8, 3, "", tiff.Unspecified, tiff.StraightAlpha)
	none := file(tiff.Int16, 3, "21")
	for _, r := range []Resampling{Nearest, Bilinear, Cubic, Average} {
		add(four, r, func(o *Options) { o.Bands = []int{2, 0} }, "-b", "3", "-b", "1")
		add(four, r, func(o *Options) { o.SourceAlpha = AlphaLast }, "-srcalpha")
		add(alpha, r, func(o *Options) { o.SourceAlpha = AlphaNone }, "-nosrcalpha")
		add(alpha, r, func(o *Options) { o.Bands = []int{1, 2} }, "-b", "2", "-b", "3")
		add(alpha, r, func(o *Options) { o.Bands = []int{1} }, "-b", "2")
		add(four, r, func(o *Options) { o.Start = []float64{9, 8, 7, 6} }, "-wo", "INIT_DEST=9,8,7,6")
		add(none, r, func(o *Options) { o.UnifiedNoData = true }, "-wo", "UNIFIED_SRC_NODATA=YES")
		add(none, r, func(o *Options) { o.NoData, o.Start = []float64{-5}, []float64{3} }, "-dstnodata", "-5", "-wo", "INIT_DEST=3")
	}
	runJobs(t, all)
	dev := cpu(t)
	for _, j := range all {
		j.options.Target, j.options.File.Compression = epsg(t, j.code), tiff.None
		name := j.Result + ".quern.tif"
		if err := File(t.Context(), dev, name, openImages(t, j.Sources...), j.options); err != nil {
			t.Errorf("%s: %v", j.name, err)
			continue
		}
		a, b := openImages(t, name)[0], openImages(t, j.Result)[0]
		if a.Type != b.Type || a.Bands != b.Bands || a.Width != b.Width || a.Height != b.Height {
			t.Errorf("%s: %d x %d x %d samples of %v, not %d x %d x %d of %v", j.name, a.Width, a.Height, a.Bands, a.Type, b.Width, b.Height, b.Bands, b.Type)
			continue
		}
		x, y := parts(t, a), parts(t, b)
		n, worst := 0, 0.0
		for i := range x {
			if x[i] != y[i] && !(x[i] != x[i] && y[i] != y[i]) {
				n++
				worst = max(worst, math.Abs(x[i]-y[i])/max(1, math.Abs(y[i])))
			}
		}
		limit := 0.0
		switch a.Type {
		case tiff.Float32, tiff.Complex64:
			limit = 1.5e-7
		case tiff.Float64, tiff.Complex128:
			limit = 1e-7 // positions differ by a nanometer, and values jump
		}
		if worst > limit {
			t.Errorf("%s: %d of %d samples differ, by up to %g", j.name, n, len(x), worst)
		}
	}
	t.Logf("%d images", len(all))
}

func TestOptionsOfBandsAndTypesAreChecked(t *testing.T) {
	folder := t.TempDir()
	plain, complexes := filepath.Join(folder, "plain.tif"), filepath.Join(folder, "complex.tif")
	typed(t, plain, tiff.Uint8, 3, "")
	typed(t, complexes, tiff.Complex64, 1, "21")
	dev := cpu(t)
	for title, test := range map[string]struct {
		name string
		o    Options
		kind error
	}{
		"a band that is not there":       {plain, Options{Bands: []int{3}}, ErrArgument},
		"a band below zero":              {plain, Options{Bands: []int{-1}}, ErrArgument},
		"no bands":                       {plain, Options{Bands: []int{}}, ErrArgument},
		"an unknown type":                {plain, Options{Type: 99}, ErrArgument},
		"real to complex":                {plain, Options{Type: tiff.Complex64}, errors.ErrUnsupported},
		"starts for other bands":         {plain, Options{Start: []float64{1, 2}}, ErrArgument},
		"a start that is no value":       {plain, Options{Start: []float64{256}}, ErrArgument},
		"unknown alpha":                  {plain, Options{SourceAlpha: 3}, ErrArgument},
		"complex with a NoData":          {complexes, Options{}, errors.ErrUnsupported},
		"the mode of complex samples":    {complexes, Options{IgnoreNoData: true, Resampling: Mode}, errors.ErrUnsupported},
		"alpha of complex samples":       {complexes, Options{IgnoreNoData: true, Alpha: true}, errors.ErrUnsupported},
		"an overview below auto":         {plain, Options{Overview: -2}, ErrArgument},
		"an overview that is not there":  {plain, Options{Overview: 1}, ErrArgument},
		"an extent's system alone":       {plain, Options{ExtentCRS: epsg(t, 4326)}, ErrArgument},
		"a crop without a cutline":       {plain, Options{CropToCutline: true}, ErrArgument},
		"a negative tolerance":           {plain, Options{Tolerance: -1}, ErrArgument},
		"alpha only":                     {plain, Options{Bands: []int{0}, SourceAlpha: AlphaLast, Type: tiff.Complex64}, errors.ErrUnsupported},
		"a NoData that the type has not": {plain, Options{Type: tiff.Int16, NoData: []float64{1e6}}, ErrArgument},
	} {
		if _, err := New(dev, openImages(t, test.name), test.o); !errors.Is(err, test.kind) {
			t.Errorf("%s: %v", title, err)
		}
	}
}

func TestValuesWithoutDataAreThoseThatSamplesHave(t *testing.T) {
	folder := t.TempDir()
	for _, test := range []struct {
		what, file string
		o          Options
	}{
		{"NoData of the file", "0.1", Options{}},
		{"NoData of the file in a wider type", "0.1", Options{Type: tiff.Float64}},
		{"another value", "", Options{SourceNoData: []float64{0.1}}},
		{"another value in a wider type", "", Options{SourceNoData: []float64{0.1}, Type: tiff.Float64}},
		{"pixels without data in any band", "0.1", Options{UnifiedNoData: true, Type: tiff.Float64}},
	} {
		h := tiff.Header{Width: 4, Height: 1, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack, NoData: test.file}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
		name := filepath.Join(folder, test.what+".tif")
		w, err := tiff.Create(name, h, tiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: tiff.Bytes([]float32{5, 0.1, 0.1, 7})}), w.Close()); err != nil {
			t.Fatal(err)
		}
		result := filepath.Join(folder, "result.tif")
		test.o.NoData = []float64{-1}
		if err := File(t.Context(), cpu(t), result, openImages(t, name), test.o); err != nil {
			t.Fatal(err)
		}
		if got := parts(t, openImages(t, result)[0]); !slices.Equal(got, []float64{5, -1, -1, 7}) {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

func TestNoDataOfWideIntegersKeepsItsValue(t *testing.T) {
	folder := t.TempDir()
	for _, test := range []struct {
		typ    tiff.Type
		noData string
		pixels []byte
	}{
		{tiff.Uint64, "18446744073709551615", tiff.Bytes([]uint64{math.MaxUint64, 5})},
		{tiff.Int64, "9223372036854775807", tiff.Bytes([]int64{math.MaxInt64, 5})},
		{tiff.Int64, "-9223372036854775808", tiff.Bytes([]int64{math.MinInt64, 5})},
	} {
		h := tiff.Header{Width: 2, Height: 1, Bands: 1, Type: test.typ, Photometric: tiff.MinIsBlack, NoData: test.noData}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
		name, result := filepath.Join(folder, "a.tif"), filepath.Join(folder, "result.tif")
		w, err := tiff.Create(name, h, tiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: test.pixels}), w.Close()); err != nil {
			t.Fatal(err)
		}
		if err := File(t.Context(), cpu(t), result, openImages(t, name), Options{}); err != nil {
			t.Fatal(err)
		}
		im := openImages(t, result)[0]
		got := make([]byte, 16)
		if err := im.ReadRegion(t.Context(), got, im.All()); err != nil {
			t.Fatal(err)
		}
		if _, ok := im.NoDataValue(); !ok || !slices.Equal(got, test.pixels) {
			t.Errorf("NoData %s of %v became %s, and %v became %v", test.noData, test.typ, im.NoData, test.pixels, got)
		}
	}
}
