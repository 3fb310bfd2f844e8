package warp

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
	"quern.dev/gpu"
)

// judge returns the Python with rasterio that testdata/judge.py needs.
func judge(t testing.TB) string {
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio").Run(); err != nil {
		t.Skip("GDAL is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio")
	}
	return python
}

// runJudge runs testdata/judge.py and returns what it prints.
func runJudge(t testing.TB, stdin []byte, arguments ...string) []byte {
	t.Helper()
	cmd := exec.Command(judge(t), append([]string{"testdata/judge.py"}, arguments...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("judge.py %s: %v\n%s", arguments[0], err, stderr.Bytes())
	}
	return out
}

// job is a line for judge.py, and the same for this package.
type job struct {
	Sources   []string `json:"sources"`
	Result    string   `json:"result"`
	Arguments []string `json:"arguments"` // of gdalwarp

	name    string
	code    int
	options Options
}

// gdalNames are the names of resamplings where GDAL has others.
var gdalNames = map[Resampling]string{GDALCubicSpline: "cubicspline"}

func gdalName(r Resampling) string {
	if name, ok := gdalNames[r]; ok {
		return name
	}
	return r.String()
}

// scene writes an image with smooth content and noise in UTM zone 33N.
func scene[T kernels.Sample](t testing.TB, name string, width, height, bands int, kind string, opt tiff.Options) {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: bands, Type: tiff.TypeOf[T](), Photometric: tiff.MinIsBlack}
	for range bands - 1 {
		h.Extra = append(h.Extra, tiff.Unspecified)
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 30, 0, 5300000, 0, -30})
	top := 250.0
	if h.Type == tiff.Int8 {
		top = 120
	} else if h.Type != tiff.Uint8 {
		top = 30000
	}
	seed := uint32(1)
	pixels := make([]T, width*height*bands)
	for i := range pixels {
		x, y, b := i/bands%width, i/bands/width, i%bands
		seed = seed*1664525 + 1013904223
		v := 0.5 + 0.3*math.Sin(float64(x)/7+float64(b))*math.Cos(float64(y)/9) + 0.2*(float64(seed>>8)/(1<<24)-0.5)
		pixels[i] = T(v * top)
		if strings.HasPrefix(kind, "alpha") && b == bands-1 {
			a := min(max(300*math.Sin(float64(x+y)/11)+100, 0), 255)
			if h.Type == tiff.Uint16 {
				a *= 257
			}
			if h.Type == tiff.Int16 {
				a *= 128
			}
			pixels[i] = T(a)
		}
	}
	if kind == "ramp" { // columns and rows
		for i := range pixels {
			pixels[i] = T([]float64{float64(i/bands%width) + 0.5, float64(i/bands/width) + 0.5}[i%bands])
		}
	}
	if strings.HasPrefix(kind, "golden") { // without floating-point numbers, which some processors round differently
		for i := range pixels {
			x, y, b := i/bands%width, i/bands/width, i%bands
			pixels[i] = T((x*7 + y*13 + x*y%31 + b*50) % 251)
		}
	}
	if strings.HasSuffix(kind, "nodata") {
		h.NoData = "7"
		for i := range pixels {
			x, y, b := i/bands%width, i/bands/width, i%bands
			if x/10%4 == 1 && y/12%3 == 1 || (x*7+y*3+b*5)%23 == 0 || pixels[i] == 7 {
				pixels[i] = 7
			}
		}
	}
	if strings.HasPrefix(kind, "alpha") {
		h.Extra[len(h.Extra)-1] = tiff.StraightAlpha
	}
	w, err := tiff.Create(name, h, opt)
	if err != nil {
		t.Fatal(err)
	}
	rows := tiff.Rows{Pixels: tiff.Bytes(pixels)}
	if opt.Mask {
		rows.Mask = make([]byte, width*height)
		for i := range rows.Mask {
			if (i%width/9+i/width/9)%3 != 0 {
				rows.Mask[i] = 255
			}
		}
	}
	if err := w.WriteRows(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// sceneOf is scene for a type.
func sceneOf(t testing.TB, typ tiff.Type, name string, width, height, bands int, kind string, opt tiff.Options) {
	t.Helper()
	switch typ {
	case tiff.Uint8:
		scene[uint8](t, name, width, height, bands, kind, opt)
	case tiff.Int8:
		scene[int8](t, name, width, height, bands, kind, opt)
	case tiff.Uint16:
		scene[uint16](t, name, width, height, bands, kind, opt)
	case tiff.Int16:
		scene[int16](t, name, width, height, bands, kind, opt)
	case tiff.Uint32:
		scene[uint32](t, name, width, height, bands, kind, opt)
	case tiff.Int32:
		scene[int32](t, name, width, height, bands, kind, opt)
	case tiff.Float32:
		scene[float32](t, name, width, height, bands, kind, opt)
	default:
		scene[float64](t, name, width, height, bands, kind, opt)
	}
}

func openImages(t testing.TB, names ...string) []*tiff.Image {
	t.Helper()
	var all []*tiff.Image
	for _, name := range names {
		f, err := tiff.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		all = append(all, f.Image())
	}
	return all
}

func cpu(t testing.TB) *gpu.Device {
	t.Helper()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

func epsg(t testing.TB, code int) *crs.CRS {
	t.Helper()
	c, err := crs.EPSG(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// target is a grid of the output.
type target struct {
	name   string
	code   int
	size   float64 // of pixels, divided by those of the source
	extent Extent
}

// targets reach beyond the scene of 30-meter pixels at (500000, 5300000), and cut it.
var targets = []target{
	{"larger pixels", 3857, 3.4, Extent{1669000, 6074000, 1678500, 6081500}},
	{"smaller pixels", 3857, 0.9, Extent{1669500, 6076000, 1674000, 6080000}},
	{"degrees", 4326, 1.2, Extent{14.995, 47.815, 15.06, 47.86}},
}

// jobs lists what the judge warps.
func jobs(t testing.TB, folder string) []*job {
	var all []*job
	types := []tiff.Type{tiff.Uint8, tiff.Int16, tiff.Float32, tiff.Float64, tiff.Int8, tiff.Uint16, tiff.Uint32, tiff.Int32}
	if testing.Short() {
		types = types[:3]
	}
	for _, typ := range types {
		for _, kind := range []string{"plain", "nodata", "alpha", "to alpha"} {
			bands := 2
			if kind == "alpha" {
				bands = 3
			}
			name := filepath.Join(folder, fmt.Sprintf("%v-%s.tif", typ, kind))
			sceneOf(t, typ, name, 171, 143, bands, kind, tiff.Options{Compression: tiff.None})
			for _, target := range targets {
				for r := range resamplings {
					if r := Resampling(r); r != CubicSpline {
						all = append(all, newJob(folder, name, typ, kind, target, r, len(all)))
					}
				}
			}
		}
	}
	return all
}

func newJob(folder, name string, typ tiff.Type, kind string, target target, r Resampling, number int) *job {
	e := target.extent
	unit := 30 / math.Cos(47.85*math.Pi/180)
	if target.code == 4326 {
		unit = 30 / 111200.0
	}
	size := unit * target.size
	w, h := int((e.MaxX-e.MinX)/size), int((e.MaxY-e.MinY)/size)
	scale := 1 / target.size
	j := &job{Sources: []string{name}, Result: filepath.Join(folder, fmt.Sprintf("out%d.tif", number)), code: target.code,
		name: fmt.Sprintf("%v, %v, %s, %s", r, typ, kind, target.name)}
	number64 := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	j.Arguments = []string{"-et", "0", "-t_srs", fmt.Sprintf("EPSG:%d", target.code), "-r", gdalName(r), "-ts", fmt.Sprint(w), fmt.Sprint(h),
		"-te", number64(e.MinX), number64(e.MinY), number64(e.MaxX), number64(e.MaxY), "-wm", "1000", "-ovr", "NONE",
		"-wo", "XSCALE=" + number64(scale), "-wo", "YSCALE=" + number64(scale)}
	j.options = Options{Extent: &e, Width: w, Height: h, Resampling: r, XScale: scale, YScale: scale, Alpha: kind == "to alpha"}
	if j.options.Alpha {
		j.Arguments = append(j.Arguments, "-dstalpha")
	}
	return j
}

// difference is how two images differ.
type difference struct {
	pixels, of int
	most       float64 // in units of the value, or 1
	presence   int     // one has data and the other has none
}

func compare(t testing.TB, a, b *tiff.Image) difference {
	t.Helper()
	if a.Width != b.Width || a.Height != b.Height || a.Bands != b.Bands || a.Type != b.Type {
		t.Fatalf("%v of %d bands and %v of %d bands", a, a.Bands, b, b.Bands)
	}
	x, y := values(t, a), values(t, b)
	d := difference{of: len(x)}
	none, has := a.NoDataValue()
	alpha := len(a.Extra) > 0 && a.Extra[len(a.Extra)-1] == tiff.StraightAlpha
	for i := range x {
		if alpha && a.Type.Float() && i%a.Bands == a.Bands-1 {
			y[i], x[i] = math.Floor(y[i]), math.Floor(x[i]) // GDAL's alpha has no fraction
		}
		if x[i] == y[i] || x[i] != x[i] && y[i] != y[i] {
			continue
		}
		d.pixels++
		if has && (x[i] == none) != (y[i] == none) {
			d.presence++
		}
		diff := math.Abs(x[i] - y[i])
		if a.Type.Float() {
			diff /= max(1, math.Abs(x[i]))
		}
		d.most = max(d.most, diff)
	}
	return d
}

// values reads all samples.
func values(t testing.TB, im *tiff.Image) []float64 {
	t.Helper()
	switch im.Type {
	case tiff.Uint8:
		return numbers[uint8](t, im)
	case tiff.Int8:
		return numbers[int8](t, im)
	case tiff.Uint16:
		return numbers[uint16](t, im)
	case tiff.Int16:
		return numbers[int16](t, im)
	case tiff.Uint32:
		return numbers[uint32](t, im)
	case tiff.Int32:
		return numbers[int32](t, im)
	case tiff.Float32:
		return numbers[float32](t, im)
	}
	return numbers[float64](t, im)
}

func numbers[T kernels.Sample](t testing.TB, im *tiff.Image) []float64 {
	t.Helper()
	words := make([]complex128, (im.Width*im.Height*im.Bands*im.Type.Size()+15)/16)
	b := tiff.Bytes(words)[:im.Width*im.Height*im.Bands*im.Type.Size()]
	if err := im.ReadRegion(context.Background(), b, im.All()); err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, v := range samples[T](b) {
		out = append(out, float64(v))
	}
	return out
}

// allowed is the greatest difference to GDAL: none for integers. Relative differences of floats come from positions, which
// differ by about 1e-9 pixels, and from rounding to float32. GDAL computes the mode of floats in float32.
func allowed(t tiff.Type, r Resampling) float64 {
	switch {
	case !t.Float():
		return 0
	case t == tiff.Float32:
		return 1.5e-7
	case r == Mode:
		return 6e-8
	case r == Lanczos: // next to pixels without data, where weights nearly cancel out
		return 5e-8
	}
	return 1e-9
}

func TestPixelsAreThoseOfGDAL(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	all := jobs(t, folder)
	runJobs(t, all)
	dev := cpu(t)
	for _, j := range all {
		j.options.Target = epsg(t, j.code)
		j.options.File.Compression = tiff.None
		name := j.Result + ".quern.tif"
		if err := File(t.Context(), dev, name, openImages(t, j.Sources...), j.options); err != nil {
			t.Errorf("%s: %v", j.name, err)
			continue
		}
		result := openImages(t, name)[0]
		d := compare(t, result, openImages(t, j.Result)[0])
		if d.most > allowed(result.Type, j.options.Resampling) || d.presence > 0 {
			t.Errorf("%s: %d of %d samples differ, by up to %g, %d in presence", j.name, d.pixels, d.of, d.most, d.presence)
		}
	}
	t.Logf("%d images", len(all))
}
