//go:build !bootstrap

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/geo/gdal"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/geo/worldfile"
)

// pixelsOf reads all pixels of a file.
func pixelsOf(t *testing.T, name string) (*tiff.Image, []byte) {
	t.Helper()
	f, err := raster.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im := f.Image()
	pixels := make([]byte, im.Width*im.Height*im.Bands*im.Type.Size())
	if err := im.ReadRegion(t.Context(), pixels, im.All()); err != nil {
		t.Fatal(err)
	}
	return im, pixels
}

// geoOK runs a command that has to succeed.
func geoOK(t *testing.T, args ...string) string {
	t.Helper()
	code, out, stderr := runGeo(t, args...)
	if code != 0 {
		t.Fatalf("%v: %s", args, stderr)
	}
	return out
}

func TestGeoPicturesGoToAndFro(t *testing.T) {
	source, _ := geoFile(t, false)
	folder := t.TempDir()
	picture, back := filepath.Join(folder, "a.png"), filepath.Join(folder, "b.tif")
	geoOK(t, "translate", "-of", "PNG", "-co", "WORLDFILE=YES", "-co", "ZLEVEL=9", "-q", source, picture)
	geoOK(t, "translate", picture, back)
	before, want := pixelsOf(t, source)
	after, got := pixelsOf(t, back)
	a, _ := before.Geo.Affine()
	b, _ := after.Geo.Affine()
	code, _ := after.Geo.Keys.EPSG()
	if !bytes.Equal(got, want) || a != b || code != 32633 || after.NoData != "9" || len(after.Metadata) != 1 || after.Metadata[0] != before.Metadata[0] {
		t.Errorf("%v, EPSG:%d, NoData %s, %v", b, code, after.NoData, after.Metadata)
	}
	world, err := os.Open(filepath.Join(folder, "a.wld"))
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	if w, err := worldfile.Read(world); err != nil || w != a {
		t.Errorf("the world file has %v, %v", w, err)
	}
	out := geoOK(t, "info", picture)
	if !strings.Contains(out, "a.png: PNG") || !strings.Contains(out, "EPSG:32633") || strings.Contains(out, "storage") {
		t.Error(out)
	}
	if code, _, stderr := runGeo(t, "overviews", picture); code != 1 || !strings.Contains(stderr, "not a TIFF file") {
		t.Errorf("overviews in a PNG file: %d, %s", code, stderr)
	}
	geoOK(t, "overviews", "-levels", "1", picture, back)
	if after, _ := pixelsOf(t, back); len(after.Overviews()) != 1 || after.Compression != tiff.Deflate {
		t.Errorf("%v", after)
	}
}

func TestGeoMasksBecomeAlpha(t *testing.T) {
	source, pixels := geoFile(t, true)
	folder := t.TempDir()
	picture := filepath.Join(folder, "a.png")
	geoOK(t, "translate", "-of", "PNG", source, picture)
	im, got := pixelsOf(t, picture)
	if im.Bands != 4 || len(im.Extra) != 1 {
		t.Fatalf("%v", im)
	}
	for i := range pixels {
		if v := binary.NativeEndian.Uint16(got[i/3*8+i%3*2:]); v != pixels[i] {
			t.Fatalf("sample %d is %d, want %d", i, v, pixels[i])
		}
		if v := binary.NativeEndian.Uint16(got[i/3*8+6:]); (v == 65535) != (i/3%2 == 1) || v != 0 && v != 65535 {
			t.Fatalf("alpha of pixel %d is %d", i/3, v)
		}
	}
	if code, _, stderr := runGeo(t, "translate", "-of", "PNG", "-b", "1,2", source, picture); code != 1 || !strings.Contains(stderr, "-mask none") {
		t.Errorf("two bands and a mask: %d, %s", code, stderr)
	}
	geoOK(t, "translate", "-of", "PNG", "-b", "1,2", "-mask", "none", source, picture)
	if im, _ := pixelsOf(t, picture); im.Bands != 2 {
		t.Errorf("%v", im)
	}
}

// envi writes an image of floats in the format of ENVI, and the same as TIFF.
func envi(t *testing.T) (raw, same string) {
	t.Helper()
	same = geoImage(t, "same.tif", 500000, 5000000, 120, 90, nil, func(x, y int) float32 { return float32(100 * math.Sin(float64(x)/9) * math.Cos(float64(y)/7)) })
	_, pixels := pixelsOf(t, same)
	raw = filepath.Join(t.TempDir(), "same.dat")
	order := 0
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		order = 1
	}
	header := fmt.Sprintf("ENVI\nsamples = 120\nlines = 90\nbands = 1\nheader offset = 0\nfile type = ENVI Standard\ndata type = 4\ninterleave = bsq\nbyte order = %d\n"+
		"map info = {UTM, 1, 1, 500000, 5000000, 10, 10, 33, North, WGS-84}\ndata ignore value = -1\n", order)
	if err := os.WriteFile(raw, pixels, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strings.TrimSuffix(raw, ".dat")+".hdr", []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	return raw, same
}

func TestGeoCommandsReadWhatGDALReads(t *testing.T) {
	if _, err := gdal.Version(); err != nil {
		t.Skip("GDAL is missing: ", err)
	}
	raw, same := envi(t)
	var info fileJSON
	if err := json.Unmarshal([]byte(geoOK(t, "info", "-json", raw)), &info); err != nil || info.Format != "ENVI" || info.Title == "" || info.Images[0].EPSG != 32633 || info.Images[0].NoData != "-1" {
		t.Errorf("%v: %+v", err, info)
	}
	for name, args := range map[string][]string{
		"translate": {"translate", "SOURCE", "RESULT"},
		"warp":      {"warp", "-t_srs", "EPSG:3857", "-r", "bilinear", "-device", "cpu", "SOURCE", "RESULT"},
		"mosaic":    {"mosaic", "-device", "cpu", "SOURCE", "RESULT"},
		"dem":       {"dem", "slope", "-device", "cpu", "SOURCE", "RESULT"},
		"calc":      {"calc", "-calc", "b1*2", "-device", "cpu", "SOURCE", "RESULT"},
		"ortho":     {"ortho", "-dem", "SOURCE", "-rpc", "-device", "cpu", rpcScene(t), "RESULT"},
		"overviews": {"overviews", "-levels", "1", "SOURCE", "RESULT"},
	} {
		var results [2][]byte
		var images [2]*tiff.Image
		for i, source := range []string{raw, same} {
			result := filepath.Join(t.TempDir(), "result.tif")
			args := append([]string(nil), args...)
			for j, a := range args {
				args[j] = map[string]string{"SOURCE": source, "RESULT": result}[a]
				if args[j] == "" {
					args[j] = a
				}
			}
			geoOK(t, args...)
			images[i], results[i] = pixelsOf(t, result)
		}
		a, _ := images[0].Geo.Affine()
		b, _ := images[1].Geo.Affine()
		code, _ := images[0].Geo.Keys.EPSG()
		want, _ := images[1].Geo.Keys.EPSG()
		if !bytes.Equal(results[0], results[1]) || a != b || code != want || len(results[0]) == 0 {
			t.Errorf("%s: other pixels than from TIFF, or %v and %v, EPSG:%d and %d", name, a, b, code, want)
		}
	}
}

// rpcScene writes an image with rational polynomials that are linear, over the area of envi.
func rpcScene(t *testing.T) string {
	t.Helper()
	r := &tiff.RPC{LineOff: 20, SampOff: 20, LatOff: 45.15, LongOff: 15.007, HeightOff: 0, LineScale: 20, SampScale: 20, LatScale: 0.003, LongScale: 0.004, HeightScale: 500}
	r.LineNum[2], r.SampNum[1], r.LineDen[0], r.SampDen[0] = -1, 1, 1, 1
	return geoImage(t, "scene.tif", 0, 0, 40, 40, r, func(x, y int) float32 { return float32(x + 40*y) })
}

func TestGeoSaysWhatToInstall(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct{ name, want string }{
		{write("a.nc", "CDF\x01 and more"), "netCDF is read through GDAL"},
		{write("a.jp2", "\x00\x00\x00\x0cjP  "), "JPEG 2000 is read through GDAL"},
		{write("a.xyz", "1 2 3"), "the format of *.xyz files"},
		{`NETCDF:"a.nc":b`, "a name of NETCDF"},
		{filepath.Join(folder, "missing.tif"), "no such file"},
	} {
		for _, args := range [][]string{{"info", c.name}, {"translate", c.name, filepath.Join(folder, "result.tif")}} {
			cmd := exec.Command(os.Args[0], append([]string{"geo"}, args...)...)
			cmd.Env = append(os.Environ(), fakeVariable+"=0", gdal.Environment+"=/nonexistent/libgdal.so")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) || !strings.Contains(string(out), "no such file") && !strings.Contains(string(out), "install GDAL") {
				t.Errorf("%v: %v, %s", args, err, out)
			}
		}
	}
}
