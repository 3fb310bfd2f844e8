package worldfile_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/worldfile"
)

// described is what judge.py says of a file.
type described struct {
	File, Raw, Driver, Type string
	Width, Height, Bands    int
	NoData                  *float64
	EPSG                    *int
	CRS                     string
	Transform               []float64
	Interpretation          []string
	Tags                    map[string]string
	Palette                 [][3]uint16
}

func judge(t testing.TB, arguments ...string) (all []described) {
	t.Helper()
	ask(t, &all, arguments...)
	return all
}

// ask runs judge.py and decodes what it says.
func ask(t testing.TB, answer any, arguments ...string) {
	t.Helper()
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio").Run(); err != nil {
		t.Skip("GDAL is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio")
	}
	cmd := exec.Command(python, append([]string{"testdata/judge.py"}, arguments...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return bytes.HasPrefix([]byte(v), []byte("GDAL_DATA=")) || bytes.HasPrefix([]byte(v), []byte("PROJ_DATA="))
	})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("judge.py %s: %v\n%s", arguments[0], err, stderr.Bytes())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatal(err)
	}
}

// compare compares an image with what GDAL reads. Samples of JPEG may differ by tolerance.
func compare(t *testing.T, im *tiff.Image, want described, tolerance int) {
	t.Helper()
	if im.Width != want.Width || im.Height != want.Height || im.Bands != want.Bands || im.Type.String() != want.Type {
		t.Fatalf("%v, want %d x %d, %d bands of %s", im, want.Width, want.Height, want.Bands, want.Type)
	}
	v, ok := im.NoDataValue()
	if ok != (want.NoData != nil) || ok && v != *want.NoData {
		t.Errorf("NoData %q, want %v", im.NoData, want.NoData)
	}
	if code, _ := im.Geo.Keys.EPSG(); want.EPSG != nil && code != *want.EPSG || want.EPSG == nil && code != 0 {
		t.Errorf("EPSG:%d, want %v", code, want.EPSG)
	}
	a, placed := im.Geo.Affine()
	if placed != (want.Transform != nil) {
		t.Errorf("transform %v, want %v", a, want.Transform)
	}
	for i, v := range want.Transform {
		if math.Abs(a[i]-v) > 1e-12*math.Abs(v) {
			t.Errorf("transform %v, want %v", a, want.Transform)
			break
		}
	}
	if im.Geo.PixelIsPoint() != (want.Tags["AREA_OR_POINT"] == "Point") {
		t.Errorf("pixels are points: %v", im.Geo.PixelIsPoint())
	}
	for name, value := range want.Tags {
		if !slices.Contains(im.Metadata, tiff.Item{Band: -1, Name: name, Value: value}) && name != "AREA_OR_POINT" {
			t.Errorf("metadata %v, want %s=%s", im.Metadata, name, value)
		}
	}
	alpha := slices.Contains(want.Interpretation, "alpha")
	if slices.Contains(im.Extra, tiff.StraightAlpha) != alpha || (im.Photometric == tiff.Palette) != (want.Palette != nil) {
		t.Errorf("photometric %v, extra bands %v, want %v", im.Photometric, im.Extra, want.Interpretation)
	}
	for i, c := range want.Palette {
		if im.Palette[i] != (tiff.Color{R: c[0] * 257, G: c[1] * 257, B: c[2] * 257}) {
			t.Fatalf("color %d is %v, want %v", i, im.Palette[i], c)
		}
	}
	raw, err := os.ReadFile(want.Raw)
	if err != nil {
		t.Fatal(err)
	}
	got := bytes.Repeat([]byte{0xa5}, len(raw))
	r := im.All()
	r.Layout = tiff.ByBand
	if err := im.ReadRegion(t.Context(), got, r); err != nil {
		t.Fatal(err)
	}
	if tolerance == 0 && !bytes.Equal(got, raw) {
		t.Error("other pixels")
	}
	total := 0
	for i, v := range raw {
		d := int(v) - int(got[i])
		d = max(d, -d)
		total += d
		if tolerance > 0 && d > tolerance {
			t.Fatalf("sample %d is %d, want %d", i, got[i], v)
		}
	}
	if mean := float64(total) / float64(len(raw)); tolerance > 0 && mean > 0.7 {
		t.Errorf("samples differ by %.2f on average", mean)
	}
}

func TestImagesAreReadAsGDALReadsThem(t *testing.T) {
	for _, want := range judge(t, "write", t.TempDir(), "5") {
		t.Run(filepath.Base(want.File), func(t *testing.T) {
			f, err := worldfile.Open(want.File)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			tolerance := 0
			if want.Driver == "JPEG" {
				tolerance = 12 // rasterio's libjpeg interpolates colors in another way
			}
			compare(t, f.Image(), want, tolerance)
		})
	}
}

// header returns a header with a place in UTM zone 33N.
func header(width, height, bands int, kind tiff.Type) tiff.Header {
	h := tiff.Header{Width: width, Height: height, Bands: bands, Type: kind, Photometric: tiff.MinIsBlack}
	c, _ := crs.EPSG(32633)
	h.Geo.Keys, _ = c.GeoKeys()
	h.Geo.SetAffine(tiff.Affine{500000.5, 0.1, 0.01, 5300000.25, 0.02, -0.3})
	return h
}

// write writes random pixels.
func write(t testing.TB, name string, h tiff.Header, o worldfile.Options, pixels []byte) {
	t.Helper()
	w, err := worldfile.Create(name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	row := h.Width * h.Bands * h.Type.Size()
	for rows := range slices.Chunk(pixels, 7*row) {
		if err := w.WriteRows(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func random(h tiff.Header, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	pixels := make([]byte, h.Width*h.Height*h.Bands*h.Type.Size())
	for i := range pixels {
		pixels[i] = byte(rng.Uint32())
		if h.Bits > 0 {
			pixels[i] &= 1<<h.Bits - 1
		}
		if h.Photometric == tiff.Palette {
			pixels[i] %= byte(len(h.Palette))
		}
	}
	return pixels
}

func TestGDALReadsWhatIsWritten(t *testing.T) {
	folder := t.TempDir()
	var names []string
	images := map[string][]byte{}
	add := func(name string, h tiff.Header, o worldfile.Options) {
		o.Format = "PNG"
		o.WorldFile, o.Auxiliary = true, true
		name = filepath.Join(folder, name)
		images[name] = random(h, uint64(len(names)))
		write(t, name, h, o, images[name])
		names = append(names, name)
	}
	for bands := 1; bands <= 4; bands++ {
		for _, kind := range []tiff.Type{tiff.Uint8, tiff.Uint16} {
			h := header(301, 217, bands, kind)
			h.Metadata = []tiff.Item{{Band: -1, Name: "AUTHOR", Value: "nobody <&>"}, {Band: 0, Name: "SCALE", Role: "scale", Value: "0.5"}}
			if bands == 1 {
				h.NoData = "17"
			}
			add(fmt.Sprintf("%d-%v.png", bands, kind), h, worldfile.Options{Level: bands * 2})
		}
	}
	for _, bits := range []int{1, 2, 4} {
		h := header(77, 50, 1, tiff.Uint8)
		h.Bits = bits
		add(fmt.Sprintf("gray-%d.png", bits), h, worldfile.Options{})
		h.Photometric = tiff.Palette
		for i := range 1 << bits {
			h.Palette = append(h.Palette, tiff.Color{R: uint16(i) * 257 * 9, G: uint16(i) * 257, B: 65535})
		}
		add(fmt.Sprintf("palette-%d.png", bits), h, worldfile.Options{})
	}
	for _, want := range judge(t, append([]string{"read"}, names...)...) {
		t.Run(filepath.Base(want.File), func(t *testing.T) {
			f, err := worldfile.Open(want.File)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			im := f.Image()
			compare(t, im, want, 0)
			if a, _ := im.Geo.Affine(); a[1] != 0.1 || a[2] != 0.01 || a[5] != -0.3 {
				t.Errorf("transform %v", a)
			}
			got := make([]byte, len(images[want.File]))
			if err := im.ReadRegion(t.Context(), got, im.All()); err != nil || !bytes.Equal(got, images[want.File]) {
				t.Errorf("other pixels were written: %v", err)
			}
			// The world file alone has the same place.
			if err := os.Remove(want.File + ".aux.xml"); err != nil {
				t.Fatal(err)
			}
			g, err := worldfile.Open(want.File)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			a, _ := im.Geo.Affine()
			b, _ := g.Image().Geo.Affine()
			for i := range a {
				if math.Abs(a[i]-b[i]) > 1e-9 {
					t.Errorf("the world file says %v, want %v", b, a)
				}
			}
		})
	}
}

func TestJPEGIsWritten(t *testing.T) {
	folder := t.TempDir()
	var names []string
	for _, bands := range []int{1, 3} {
		h := header(211, 133, bands, tiff.Uint8)
		pixels := make([]byte, h.Width*h.Height*bands)
		for i := range pixels {
			x, y := i/bands%h.Width, i/bands/h.Width
			pixels[i] = byte(128 + 90*math.Sin(float64(x+20*(i%bands))/30)*math.Cos(float64(y)/20))
		}
		name := filepath.Join(folder, fmt.Sprint(bands, ".jpg"))
		write(t, name, h, worldfile.Options{Format: "JPEG", Level: 95, WorldFile: true, Auxiliary: true}, pixels)
		names = append(names, name)
		f, err := worldfile.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got := make([]byte, len(pixels))
		if err := f.Image().ReadRegion(t.Context(), got, f.Image().All()); err != nil {
			t.Fatal(err)
		}
		for i, v := range pixels {
			if d := int(v) - int(got[i]); d > 12 || d < -12 {
				t.Fatalf("sample %d is %d, want %d", i, got[i], v)
			}
		}
	}
	for _, want := range judge(t, append([]string{"read"}, names...)...) {
		f, err := worldfile.Open(want.File)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, f.Image(), want, 12)
		f.Close()
	}
}

// interlaced makes a PNG file of one band with all seven passes.
func interlaced(width, height int, pixels []byte) []byte {
	passes := [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	var rows []byte
	for _, p := range passes {
		for y := p[1]; y < height; y += p[3] {
			if p[0] >= width {
				continue
			}
			rows = append(rows, 0)
			for x := p[0]; x < width; x += p[2] {
				rows = append(rows, pixels[y*width+x])
			}
		}
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(width))
	b = binary.BigEndian.AppendUint32(b, uint32(height))
	return pngFile(append(b, 8, 0, 0, 0, 1), rows)
}

func TestInterlacedImages(t *testing.T) {
	folder := t.TempDir()
	var names []string
	for _, size := range [][2]int{{1, 1}, {3, 5}, {5, 2}, {64, 33}, {301, 207}} {
		pixels := random(tiff.Header{Width: size[0], Height: size[1], Bands: 1, Type: tiff.Uint8}, uint64(size[0]))
		name := filepath.Join(folder, fmt.Sprintf("%dx%d.png", size[0], size[1]))
		if err := os.WriteFile(name, interlaced(size[0], size[1], pixels), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, want := range judge(t, append([]string{"read"}, names...)...) {
		f, err := worldfile.Open(want.File)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, f.Image(), want, 0)
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestGDALReadsTheSystemOfAPrj(t *testing.T) {
	const (
		base   = `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
		meters = `UNIT["Meter",1.0]]`
		feet   = `UNIT["Foot_US",0.3048006096012192]]`
	)
	folder := t.TempDir()
	var names []string
	for i, text := range []string{
		`PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500.0],PARAMETER["False_Northing",0.5],PARAMETER["Central_Meridian",15.5],PARAMETER["Scale_Factor",0.9997],PARAMETER["Latitude_Of_Origin",1.25],` + meters,
		`PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",2000000.0],PARAMETER["False_Northing",7.0],PARAMETER["Central_Meridian",14.5],PARAMETER["Standard_Parallel_1",44.4],PARAMETER["Standard_Parallel_2",45.7],PARAMETER["Latitude_Of_Origin",43.8],` + feet,
		`PROJECTION["Albers"],PARAMETER["False_Easting",1],PARAMETER["False_Northing",2],PARAMETER["Central_Meridian",11],PARAMETER["Standard_Parallel_1",43.5],PARAMETER["Standard_Parallel_2",55.5],PARAMETER["Latitude_Of_Origin",23],` + meters,
		`PROJECTION["Polar_Stereographic"],PARAMETER["latitude_of_origin",70],PARAMETER["central_meridian",-45],PARAMETER["scale_factor",1],PARAMETER["false_easting",3],PARAMETER["false_northing",4],` + meters,
		`PROJECTION["Sinusoidal"],PARAMETER["longitude_of_center",10],PARAMETER["false_easting",3],PARAMETER["false_northing",4],` + meters,
		`PROJECTION["Equidistant_Cylindrical"],PARAMETER["Standard_Parallel_1",40],PARAMETER["Central_Meridian",15],PARAMETER["False_Easting",3],PARAMETER["False_Northing",4],` + meters,
	} {
		h := header(3, 2, 1, tiff.Uint8)
		picture := filepath.Join(folder, fmt.Sprint(i, ".png"))
		write(t, picture, h, worldfile.Options{Format: "PNG", WorldFile: true}, make([]byte, 6))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".prj")), []byte(`PROJCS["own",`+base+","+text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := worldfile.Open(picture)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, fmt.Sprint(i, ".tif"))
		w, err := tiff.Create(name, f.Image().Header, tiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: make([]byte, 6)}), w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var apart []float64
	ask(t, &apart, append([]string{"systems"}, names...)...)
	for i, d := range apart {
		if !(d < 1e-6) {
			t.Errorf("system %d: points are %g units apart", i, d)
		}
	}
}
