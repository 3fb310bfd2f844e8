package translate

import (
	"flag"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/recode"
	"quern.dev/geo/tiff"
)

// sources are the images of comparisons with gdal_translate.
func sources(t *testing.T) map[string]string {
	byte1 := func(f func(x, y, b int) float64) func(x, y, b int) uint8 {
		return func(x, y, b int) uint8 { return uint8(f(x, y, b)) }
	}
	float := func(x, y, b int) float32 {
		switch {
		case y == 5 && x < 6:
			return []float32{float32(math.Inf(1)), 1e30, -1e30, 2.5, -2.5, -0.6}[x]
		}
		return float32(700 * (value(x, y, b) - 128))
	}
	holes := func(x, y, b int) float32 {
		if hole(x, y) {
			return -9999
		}
		return float32(700 * (value(x, y, b) - 128))
	}
	colors := tiff.Header{Bands: 1, Photometric: tiff.Palette, Palette: make([]tiff.Color, 256)}
	grays := colors
	grays.Palette = make([]tiff.Color, 256)
	for i := range uint16(256) {
		colors.Palette[i] = tiff.Color{R: i * 257, G: (255 - i) * 257, B: i / 2 * 257}
		grays.Palette[i] = tiff.Color{R: (i ^ 3) * 257, G: (i ^ 3) * 257, B: (i ^ 3) * 257}
	}
	withNone := colors
	withNone.NoData = "5"
	points := tiff.Header{}
	points.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	for i := range 6 {
		points.Geo.Tiepoints = append(points.Geo.Tiepoints, tiff.Tiepoint{Column: float64(i % 3 * 30), Row: float64(i / 3 * 40), X: float64(500000 + i*7), Y: float64(5000000 - i*i)})
	}
	rotated := tiff.Header{}
	rotated.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	rotated.Geo.SetAffine(tiff.Affine{500000, 10, 2, 5000000, 3, -10})
	scaled := tiff.Header{Bands: 2, NoData: "-32768", Photometric: tiff.MinIsBlack, Extra: []tiff.ExtraSample{tiff.Unspecified}, Metadata: []tiff.Item{
		{Band: 0, Name: "OFFSET", Role: "offset", Value: "10"}, {Band: 0, Name: "SCALE", Role: "scale", Value: "0.5"},
		{Band: 1, Name: "OFFSET", Role: "offset", Value: "-3"}, {Band: 1, Name: "SCALE", Role: "scale", Value: "0.01"}}}
	rgb := tiff.Header{Bands: 3, Photometric: tiff.RGB}
	rgba := tiff.Header{Bands: 4, Photometric: tiff.RGB, Extra: []tiff.ExtraSample{tiff.StraightAlpha}}
	all := map[string]string{
		"byte":    gray(t),
		"uint16":  image(t, source{}, fill(1, func(x, y, b int) uint16 { return uint16(200 * value(x, y, b)) })),
		"int16":   image(t, source{}, fill(1, func(x, y, b int) int16 { return int16(200 * (value(x, y, b) - 128)) })),
		"int32":   image(t, source{}, fill(1, func(x, y, b int) int32 { return int32(1.6e7 * (value(x, y, b) - 128)) })),
		"uint32":  image(t, source{}, fill(1, func(x, y, b int) uint32 { return uint32(1.6e7 * value(x, y, b)) })),
		"float32": image(t, source{}, fill(1, float)),
		"float64": image(t, source{}, fill(1, func(x, y, b int) float64 { return 1e300 * float64(float(x, y, b)) })),
		"complex": image(t, source{}, fill(1, func(x, y, b int) complex64 { return complex(float(x, y, b), float(y, x, b)) })),
		"holes":   image(t, source{header: tiff.Header{NoData: "-9999"}}, fill(1, holes)),
		"zeros": image(t, source{header: tiff.Header{NoData: "0"}}, fill(1, byte1(func(x, y, b int) float64 {
			if hole(x, y) {
				return 0
			}
			return max(1, value(x, y, b))
		}))),
		"rgb":  image(t, source{header: rgb}, fill(3, byte1(value))),
		"mask": image(t, source{header: rgb, mask: func(x, y int) bool { return !hole(x, y) }}, fill(3, byte1(value))),
		"alpha": image(t, source{header: rgba}, fill(4, byte1(func(x, y, b int) float64 {
			switch {
			case b < 3:
				return value(x, y, b)
			case hole(x, y):
				return 0
			}
			return float64(128 + x%2*127)
		}))),
		"palette": image(t, source{header: colors}, fill(1, func(x, y, b int) uint8 { return uint8(x%5 + y%7) })),
		"opaque":  image(t, source{header: withNone}, fill(1, func(x, y, b int) uint8 { return uint8(x%5 + y%7) })),
		"grays":   image(t, source{header: grays}, fill(1, func(x, y, b int) uint8 { return uint8(x%5 + y%7) })),
		"points":  image(t, source{header: points}, fill(1, byte1(value))),
		"rotated": image(t, source{header: rotated}, fill(1, byte1(value))),
		"scaled": image(t, source{header: scaled}, fill(2, func(x, y, b int) int16 {
			if hole(x, y) {
				return -32768
			}
			return int16(200 * (value(x, y, b) - 128))
		})),
	}
	return all
}

// comparison is a call of gdal_translate, and what has the same meaning here.
type comparison struct {
	source string
	args   []string
	o      Options
}

func comparisons(t *testing.T) []comparison {
	var all []comparison
	add := func(source string, o Options, args ...string) { all = append(all, comparison{source, args, o}) }
	types := map[string]tiff.Type{"Byte": tiff.Uint8, "UInt16": tiff.Uint16, "Int16": tiff.Int16, "UInt32": tiff.Uint32, "Int32": tiff.Int32, "Float32": tiff.Float32, "Float64": tiff.Float64, "CInt16": tiff.ComplexI16, "CFloat32": tiff.Complex64}
	for _, s := range []string{"byte", "uint16", "int16", "int32", "uint32", "float32", "float64", "holes", "zeros", "complex"} {
		for name, to := range types {
			add(s, Options{Type: to}, "-ot", name)
		}
	}
	for _, s := range []string{"byte", "uint16", "int16", "holes", "zeros", "rgb", "mask", "alpha", "rotated", "scaled", "float32"} {
		for r, name := range Resamplings() {
			for _, size := range [][2]int{{30, 23}, {17, 0}, {0, 100}, {150, 131}} {
				if s == "float32" && r > 0 {
					continue // infinity in sums
				}
				add(s, Options{Width: size[0], Height: size[1], Resampling: Resampling(r)}, "-outsize", strconv.Itoa(size[0]), strconv.Itoa(size[1]), "-r", name)
			}
		}
	}
	add("byte", Options{XShare: 0.33}, "-outsize", "33%", "0")
	add("byte", Options{XShare: 0.33, YShare: 0.5, Resampling: Average}, "-outsize", "33%", "50%", "-r", "average")
	add("byte", Options{Window: &Window{X: 5, Y: 7, Width: 20, Height: 30}}, "-srcwin", "5", "7", "20", "30")
	add("byte", Options{Window: &Window{X: 5, Y: 7, Width: 20, Height: 30}, Width: 13, Resampling: Bilinear}, "-srcwin", "5", "7", "20", "30", "-outsize", "13", "0", "-r", "bilinear")
	add("byte", Options{Window: &Window{X: 3.5, Y: 4.25, Width: 20.5, Height: 20.5}, Resampling: Bilinear}, "-srcwin", "3.5", "4.25", "20.5", "20.5", "-r", "bilinear")
	add("zeros", Options{Window: &Window{X: 50, Y: 40, Width: 20, Height: 30}}, "-srcwin", "50", "40", "20", "30")
	add("mask", Options{Window: &Window{X: -5, Y: -4, Width: 20, Height: 30}}, "-srcwin", "-5", "-4", "20", "30")
	add("zeros", Options{Window: &Window{X: -10, Y: -10, Width: 200, Height: 200}, Width: 100, Height: 100, Resampling: Average}, "-srcwin", "-10", "-10", "200", "200", "-outsize", "100", "100", "-r", "average")
	extent := &Extent{500104, 4999893, 500307, 4999688}
	projwin := []string{"-projwin", "500104", "4999893", "500307", "4999688"}
	add("byte", Options{Extent: extent}, projwin...)
	add("byte", Options{Extent: extent, Resampling: Bilinear}, append(projwin, "-r", "bilinear")...)
	add("byte", Options{Extent: extent, Resampling: Cubic, Width: 40}, append(projwin, "-r", "cubic", "-outsize", "40", "0")...)
	seven := "7"
	add("byte", Options{Extent: &Extent{499904, 5000093, 500307, 4999688}, NoData: &seven}, "-projwin", "499904", "5000093", "500307", "4999688", "-a_nodata", "7")
	none := ""
	add("holes", Options{Scale: &Scale{From: &[2]float64{-5e4, 5e4}, To: [2]float64{10, 200}}, Type: tiff.Uint8, NoData: &seven}, "-scale", "-50000", "50000", "10", "200", "-ot", "Byte", "-a_nodata", "7")
	add("holes", Options{Scale: &Scale{From: &[2]float64{-5e4, 5e4}, To: [2]float64{10, 200}}, NoData: &none}, "-scale", "-50000", "50000", "10", "200", "-a_nodata", "none")
	degrees, err := crs.EPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	add("byte", Options{Extent: &Extent{15.0013, 45.1519, 15.005, 45.1489}, ExtentCRS: degrees}, "-projwin_srs", "EPSG:4326", "-projwin", "15.0013", "45.1519", "15.005", "45.1489")
	add("byte", Options{Resolution: [2]float64{25, 20}, Resampling: Average}, "-tr", "25", "20", "-r", "average")
	add("byte", Options{Resolution: [2]float64{3, 3}, Resampling: Cubic}, "-tr", "3", "3", "-r", "cubic")
	add("rgb", Options{Resolution: [2]float64{25, 20}, Resampling: Bilinear, Window: &Window{X: 3, Y: 3, Width: 40, Height: 40}}, "-tr", "25", "20", "-r", "bilinear", "-srcwin", "3", "3", "40", "40")
	add("byte", Options{CRS: degrees, Corners: &Extent{0, 10, 20, 0}}, "-a_srs", "EPSG:4326", "-a_ullr", "0", "10", "20", "0")
	add("rotated", Options{CRS: degrees}, "-a_srs", "EPSG:4326")
	add("zeros", Options{NoData: &none}, "-a_nodata", "none")
	for _, value := range []string{"300", "-1", "7.6", "nan", "inf"} {
		add("byte", Options{NoData: &value}, "-a_nodata", value)
	}
	scale := func(values ...float64) *Scale {
		s := &Scale{To: [2]float64{0, 255.999}}
		if len(values) > 0 {
			s.From = &[2]float64{values[0], values[1]}
		}
		if len(values) > 2 {
			s.To = [2]float64{values[2], values[3]}
		}
		return s
	}
	for _, s := range []string{"byte", "zeros", "uint16", "rgb"} {
		add(s, Options{Scale: scale(), Type: tiff.Uint8}, "-scale", "-ot", "Byte")
	}
	add("byte", Options{Scale: scale(0, 100)}, "-scale", "0", "100")
	add("zeros", Options{Scale: scale(0, 100, 0, 1000)}, "-scale", "0", "100", "0", "1000")
	add("holes", Options{Scale: scale(-10000, 10000, 0, 255), Type: tiff.Uint8}, "-scale", "-10000", "10000", "0", "255", "-ot", "Byte")
	add("holes", Options{Scale: scale(-10000, 10000, 1, 0)}, "-scale", "-10000", "10000", "1", "0")
	add("uint16", Options{Scale: scale(0, 65535, 0, 1), Type: tiff.Float64}, "-scale", "0", "65535", "0", "1", "-ot", "Float64")
	add("mask", Options{Scale: scale(0, 255, 0, 100)}, "-scale", "0", "255", "0", "100")
	add("byte", Options{Scale: scale(0, 100, 0, 255), XShare: 0.5, YShare: 0.5, Resampling: Average, Type: tiff.Float32}, "-scale", "0", "100", "0", "255", "-outsize", "50%", "50%", "-r", "average", "-ot", "Float32")
	add("scaled", Options{Unscale: true, Type: tiff.Float32}, "-unscale", "-ot", "Float32")
	add("scaled", Options{Unscale: true}, "-unscale")
	for name, e := range map[string]Expansion{"rgb": RGB, "rgba": RGBA} {
		add("palette", Options{Expand: e}, "-expand", name)
		add("opaque", Options{Expand: e}, "-expand", name)
	}
	add("grays", Options{Expand: Gray}, "-expand", "gray")
	add("palette", Options{Width: 30, Height: 20}, "-outsize", "30", "20")
	add("palette", Options{Type: tiff.Uint16}, "-ot", "UInt16")
	add("points", Options{Window: &Window{X: 4, Y: 5, Width: 20, Height: 20}, Width: 30, Height: 20}, "-srcwin", "4", "5", "20", "20", "-outsize", "30", "20")
	add("complex", Options{Width: 30, Height: 20}, "-outsize", "30", "20")
	add("mask", Options{NoMask: true, Width: 20, Height: 20, Resampling: Average}, "-mask", "none", "-outsize", "20", "20", "-r", "average")
	add("rgb", Options{Bands: []int{2, 0}, Width: 30, Height: 20, Resampling: Average}, "-b", "3", "-b", "1", "-outsize", "30", "20", "-r", "average")
	return all
}

var whole = flag.Bool("whole", false, "compare all images with gdal_translate's, not a third")

func TestImagesAreThoseOfGdalTranslate(t *testing.T) {
	if _, err := exec.LookPath("gdal_translate"); err != nil {
		t.Skip("gdal_translate is missing")
	}
	names := sources(t)
	for k, c := range comparisons(t) {
		if !*whole && k%3 != 0 || testing.Short() && k%9 != 0 {
			continue
		}
		title := fmt.Sprint(c.source, " ", c.args)
		judge := filepath.Join(t.TempDir(), "judge.tif")
		cmd := exec.Command("gdal_translate", append(append([]string{"-q", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES"}, c.args...), names[c.source], judge)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", title, err, out)
		}
		want, got := open(t, judge), translated(t, names[c.source], c.o)
		if text := differentHeaders(got, want); text != "" {
			t.Errorf("%s: %s", title, text)
			continue
		}
		p, m := pixels(t, got)
		q, n := pixels(t, want)
		if string(m) != string(n) {
			t.Errorf("%s: the mask differs", title)
		}
		a, b := numbers(got.Type, p), numbers(got.Type, q)
		halves := 0 // GDAL computes in float32, so few of them are rounded in another direction
		for i := range a {
			d := math.Abs(a[i] - b[i])
			switch {
			case a[i] == b[i] || got.Type.Float() && d <= 1e-6*math.Abs(b[i]):
			case !got.Type.Float() && c.o.Resampling != Near && d == 1 && halves <= len(a)/1000:
				halves++
			default:
				t.Fatalf("%s: sample %d is %v, want %v", title, i, a[i], b[i])
			}
		}
	}
}

// numbers returns the numbers of samples, both of complex ones.
func numbers(t tiff.Type, samples []byte) []float64 {
	switch t {
	case tiff.ComplexI16:
		t = tiff.Int16
	case tiff.Complex64:
		t = tiff.Float32
	}
	all := make([]float64, len(samples)/t.Size())
	recode.ToFloats(t, all, samples)
	return all
}

// differentHeaders returns what is different, or "".
func differentHeaders(got, want *tiff.Image) string {
	a, _ := got.Geo.Affine()
	b, _ := want.Geo.Affine()
	x, hasX := got.NoDataValue()
	y, hasY := want.NoDataValue()
	e, _ := got.Geo.Keys.EPSG()
	f, _ := want.Geo.Keys.EPSG()
	p, q := got.Geo.ControlPoints(), want.Geo.ControlPoints()
	switch {
	case got.Width != want.Width || got.Height != want.Height || got.Bands != want.Bands || got.Type != want.Type:
		return fmt.Sprintf("%v, want %v", got, want)
	case hasX != hasY || x != y:
		return fmt.Sprintf("NoData %v, want %v", got.NoData, want.NoData)
	case e != f:
		return fmt.Sprintf("EPSG:%d, want EPSG:%d", e, f)
	case alphaBand(&got.Header) != alphaBand(&want.Header) || len(got.Palette) != len(want.Palette):
		return fmt.Sprintf("alpha is band %d and the palette has %d colors, want %d and %d", alphaBand(&got.Header), len(got.Palette), alphaBand(&want.Header), len(want.Palette))
	case len(p) != len(q):
		return fmt.Sprintf("control points %v, want %v", p, q)
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-12*math.Abs(b[i]) {
			return fmt.Sprintf("the place %v, want %v", a, b)
		}
	}
	for i := range p {
		if math.Abs(p[i].Column-q[i].Column)+math.Abs(p[i].Row-q[i].Row) > 1e-9 || p[i].X != q[i].X {
			return fmt.Sprintf("control points %v, want %v", p, q)
		}
	}
	return ""
}
