package tiff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// judge returns the Python with rasterio that testdata/judge.py needs.
func judge(t testing.TB) string {
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio, rio_cogeo").Run(); err != nil {
		t.Skip("GDAL is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio and rio-cogeo")
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

// written is what judge.py says about a file that it has written.
type written struct {
	File, What, Type, Sum string
	NoData                any
	Extra                 []ExtraSample
	Palette, Metadata     bool
	Mask                  string
	Transform             []float64
	EPSG                  *int
	Point                 bool
	GCPs                  [][5]float64
	RPC                   []any
	Key                   []float64
	Overviews             int
	Raw                   string
}

// gdalType is GDAL's name of a type.
func gdalType(t Type) string {
	switch t {
	case ComplexI16:
		return "complex_int16"
	case Complex64, Complex128:
		return t.String()
	}
	return t.String()
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// readAll reads an image with its bands one after the other.
func readAll(t testing.TB, im *Image) []byte {
	t.Helper()
	b := alignedBytes(im.Width * im.Height * im.pixelBytes())
	r := im.All()
	r.Layout = ByBand
	if err := im.ReadRegion(context.Background(), b, r); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFilesOfGDALAreReadBitForBit(t *testing.T) {
	n := 0
	for line := range bytes.Lines(runJudge(t, nil, "write", t.TempDir())) {
		var w written
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatal(err)
		}
		n++
		checkWritten(t, w)
	}
	t.Logf("%d files", n)
}

func TestSmallFilesOfGDALAreReadBitForBit(t *testing.T) {
	list, err := os.ReadFile("testdata/gdal.json")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(list) {
		var w written
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatal(err)
		}
		checkWritten(t, w)
	}
}

func checkWritten(t *testing.T, w written) {
	f, err := Open(w.File)
	if err != nil {
		t.Errorf("%s %s: %v", w.File, w.What, err)
		return
	}
	defer f.Close()
	im := f.Image()
	if gdalType(im.Type) != w.Type {
		t.Errorf("%s: type %s, not %s", w.File, im.Type, w.Type)
		return
	}
	pixels := readAll(t, im)
	if w.Raw != "" {
		checkLossy(t, w, im, pixels)
	} else if sum(pixels) != w.Sum {
		t.Errorf("%s %s: the pixels differ", w.File, w.What)
	}
	checkFeatures(t, w, im)
}

// checkLossy compares the pixels of JPEG with those that GDAL decodes. Inverse cosine transforms differ in
// the last bit. Builds of GDAL with libjpeg 9 interpolate colors with the transform, and those with
// libjpeg-turbo as this package does.
func checkLossy(t *testing.T, w written, im *Image, pixels []byte) {
	allowed := 3
	if im.stored == YCbCr {
		allowed = 12
	}
	if im.Photometric == Separated {
		pixels = cmykToRGBA(pixels)
	}
	raw, err := os.ReadFile(w.Raw)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0
	for i, v := range raw {
		worst = max(worst, int(math.Abs(float64(v)-float64(pixels[i]))))
	}
	if worst > allowed {
		t.Errorf("%s: a pixel differs by %d", w.File, worst)
	}
}

// cmykToRGBA converts bands one after the other, as GDAL does when it opens a file.
func cmykToRGBA(b []byte) []byte {
	n := len(b) / 4
	out := bytes.Repeat([]byte{255}, len(b))
	for i := range 3 * n {
		out[i] = byte((255 - int(b[i])) * (255 - int(b[3*n+i%n])) / 255)
	}
	return out
}

func checkFeatures(t *testing.T, w written, im *Image) {
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s", w.File, fmt.Sprintf(format, args...))
	}
	if w.NoData != nil {
		v, ok := im.NoDataValue()
		if text := fmt.Sprint(w.NoData); !ok || text != fmt.Sprint(v) && !(text == "nan" && math.IsNaN(v)) {
			fail("nodata is %v, not %v", v, w.NoData)
		}
	}
	if w.Extra != nil && fmt.Sprint(im.Extra) != fmt.Sprint(w.Extra) {
		fail("extra samples %v, not %v", im.Extra, w.Extra)
	}
	if w.Palette && (len(im.Palette) != 256 || im.Palette[7] != Color{7 * 257, 248 * 257, 3 * 257}) {
		fail("palette of %d colors: %v", len(im.Palette), im.Palette)
	}
	if w.Mask != "" {
		if im.Mask() == nil {
			fail("no mask")
		} else if sum(readAll(t, im.Mask())) != w.Mask {
			fail("the mask differs")
		}
	}
	if w.Transform != nil {
		a, ok := im.Geo.Affine()
		if !ok || fmt.Sprint(a) != fmt.Sprint(w.Transform) {
			fail("transform %v, not %v", a, w.Transform)
		}
	}
	if w.EPSG != nil {
		if code, _ := im.Geo.Keys.EPSG(); code != *w.EPSG && !(*w.EPSG == 0 && code == UserDefined) {
			fail("EPSG %d, not %d", code, *w.EPSG)
		}
	}
	if w.Point != im.Geo.PixelIsPoint() {
		fail("PixelIsPoint is %v", !w.Point)
	}
	if w.GCPs != nil {
		var got [][5]float64
		for _, p := range im.Geo.ControlPoints() {
			got = append(got, [5]float64{p.Column, p.Row, p.X, p.Y, p.Z})
		}
		if fmt.Sprint(got) != fmt.Sprint(w.GCPs) {
			fail("ground control points %v, not %v", got, w.GCPs)
		}
	}
	if w.Key != nil {
		if v, _ := im.Geo.Keys.Number(GeoKey(w.Key[0])); v != w.Key[1] {
			fail("GeoKey %v is %v, not %v", w.Key[0], v, w.Key[1])
		}
	}
	if w.RPC != nil {
		checkRPC(t, w, im)
	}
	if w.Metadata {
		checkItems(t, im)
	}
	if len(im.Overviews()) != w.Overviews {
		fail("%d overviews, not %d", len(im.Overviews()), w.Overviews)
	}
}

// checkRPC compares the model of judge.py.
func checkRPC(t *testing.T, w written, im *Image) {
	r := im.RPC
	if r == nil {
		t.Errorf("%s: no RPC", w.File)
		return
	}
	if r.ErrBias != 1.5 || r.LineOff != 100.5 || r.SampOff != 200.25 || r.LongOff != -75 || r.LatScale != .5 || r.HeightScale != 500 ||
		r.LineNum[3] != 3.5 || r.LineDen[2] != 1/8. || r.SampNum[19] != -19/4. || r.SampDen[19] != 18/16. {
		t.Errorf("%s: RPC %+v", w.File, *r)
	}
}

func checkItems(t *testing.T, im *Image) {
	want := []Item{
		{Band: -1, Name: "NAME", Value: `a <b> & "c"`},
		{Band: -1, Name: "OTHER", Value: "ü"},
		{Band: 1, Name: "BANDTAG", Value: "value"},
		{Band: -1, Domain: "DOMAIN", Name: "KEY", Value: "in a domain"},
		{Band: 0, Name: "DESCRIPTION", Role: "description", Value: "first"},
		{Band: 0, Name: "SCALE", Role: "scale", Value: "2"},
		{Band: 0, Name: "OFFSET", Role: "offset", Value: "10"},
		{Band: 0, Name: "UNITTYPE", Role: "unittype", Value: "metre"},
	}
	got := map[Item]bool{}
	for _, item := range im.Metadata {
		got[item] = true
	}
	for _, item := range want {
		if !got[item] {
			t.Errorf("metadata lacks %+v; it has %+v", item, im.Metadata)
		}
	}
}

// expectation is what judge.py is asked to find in a file.
type expectation map[string]any

func lines(t testing.TB, entries []expectation) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// report fails for each line that judge.py has printed.
func report(t testing.TB, out []byte) {
	t.Helper()
	for line := range strings.Lines(string(out)) {
		t.Error(strings.TrimSpace(line))
	}
}
