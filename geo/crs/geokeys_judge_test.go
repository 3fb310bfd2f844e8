package crs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"quern.dev/geo/tiff"
)

// geoKeyFile is what testdata/geokeys.py says of a file.
type geoKeyFile struct {
	Name   string       `json:"name"`
	Kind   string       `json:"kind"`
	Code   int          `json:"code"`
	Text   string       `json:"text"`
	Base   int          `json:"base"`
	Points [][4]float64 `json:"points"`
}

func runGeoKeys(t *testing.T, in, out any, arguments ...string) {
	t.Helper()
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio, pyproj").Run(); err != nil {
		t.Skip("set QUERN_TEST_RASTERIO to a Python that has rasterio and pyproj")
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"testdata/geokeys.py"}, arguments...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("geokeys.py: %v\n%s", err, stderr.Bytes())
	}
	if err := json.Unmarshal(got, out); err != nil {
		t.Fatal(err)
	}
}

// TestGeoKeysOfAndForGDAL reads files that GDAL wrote, and lets GDAL read others. QUERN_TEST_SYSTEMS is the number of systems.
func TestGeoKeysOfAndForGDAL(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	codes := []int{27573, 5105, 2154, 3035, 3395, 3031, 3995, 27700, 28992, 31370, 5070, 6933, 3857, 2056, 29873, 3786, 3408, 26905, 32761, 5041, 2163, 3377, 5880, 27200}
	all := Codes()
	want := 40
	if n, err := strconv.Atoi(os.Getenv("QUERN_TEST_SYSTEMS")); err == nil {
		want = n
	}
	for len(codes) < want {
		code := all[r.IntN(len(all))]
		if c, err := EPSG(code); err == nil && c.Kind() == Projected && len(c.axes) == 2 {
			codes = append(codes, code)
		}
	}
	folder := t.TempDir()
	var files, written []geoKeyFile
	runGeoKeys(t, codes, &files, "write", folder)
	refused := 0
	for _, f := range files {
		im, err := tiff.Open(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := FromGeoKeys(im.Image().Geo.Keys)
		if err != nil {
			if _, own := EPSG(f.Code); own == nil {
				t.Errorf("%s EPSG:%d: %v", f.Kind, f.Code, err)
			}
		} else {
			comparePoints(t, f, c, "of the file")
		}
		im.Close()
		if f.Kind != "defined" {
			continue
		}
		c, err = Parse(f.Text)
		if err != nil {
			continue // of another test
		}
		keys, err := c.GeoKeys()
		if err != nil {
			refused++
			t.Logf("EPSG:%d is not written: %v", f.Code, err)
			continue
		}
		again, err := FromGeoKeys(keys)
		if err != nil {
			t.Errorf("EPSG:%d is written, but not read: %v", f.Code, err)
			continue
		}
		comparePoints(t, f, again, "of its keys")
		f.Name = filepath.Join(folder, fmt.Sprintf("own%d.tif", len(written)))
		writeKeys(t, f.Name, keys)
		written = append(written, f)
	}
	var apart []float64
	runGeoKeys(t, written, &apart, "read")
	for i, d := range apart {
		if !(d >= 0 && d < 1e-5) {
			t.Errorf("EPSG:%d: GDAL reads a system that is %g off", written[i].Code, d)
		}
	}
	t.Logf("%d files read, %d systems written, %d have no keys", len(files), len(written), refused)
	if len(written) < len(files)/4 {
		t.Error("too few were written")
	}
}

func comparePoints(t *testing.T, f geoKeyFile, c *CRS, what string) {
	t.Helper()
	base, err := EPSG(f.Base)
	if err != nil {
		return
	}
	tr, err := NewTransform(base, c, Ballpark())
	if err != nil {
		t.Errorf("%s EPSG:%d: %v", f.Kind, f.Code, err)
		return
	}
	for _, p := range f.Points {
		x, y, err := tr.Forward(p[0], p[1])
		if d := math.Hypot(x-p[2], y-p[3]); err != nil || !(d < 2e-3) {
			t.Errorf("%s EPSG:%d, the system %s: (%v, %v) is at %v, %v, not at %v, %v: %v; %v", f.Kind, f.Code, what, p[0], p[1], x, y, p[2], p[3], err, tr)
			return
		}
	}
}

func writeKeys(t *testing.T, name string, keys tiff.GeoKeys) {
	t.Helper()
	h := tiff.Header{Width: 1, Height: 1, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack, Geo: tiff.Georeference{Keys: keys}}
	h.Geo.SetAffine(tiff.Affine{0, 1, 0, 0, 0, -1})
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
