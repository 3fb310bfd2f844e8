package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

// geoFile writes a file of 100 x 80 pixels with 3 bands, and returns its name and pixels.
func geoFile(t *testing.T, mask bool) (string, []uint16) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "image.tif")
	h := tiff.Header{Width: 100, Height: 80, Bands: 3, Type: tiff.Uint16, Photometric: tiff.RGB, NoData: "9",
		Metadata: []tiff.Item{{Band: -1, Name: "SENSOR", Value: "test"}}}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTCitation, Text: "WGS 84 / UTM zone 33N"})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5000000, 0, -10})
	pixels := make([]uint16, h.Width*h.Height*h.Bands)
	for i := range pixels {
		pixels[i] = uint16(i * 7)
	}
	w, err := tiff.Create(name, h, tiff.Options{Strips: true, BlockHeight: 7, Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	rows := tiff.Rows{Pixels: tiff.Bytes(pixels)}
	if mask {
		rows.Mask = bytes.Repeat([]byte{0, 255}, h.Width*h.Height/2)
	}
	if err := w.WriteRows(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name, pixels
}

func runGeo(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"geo"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestGeoInfoDescribesAFile(t *testing.T) {
	name, _ := geoFile(t, true)
	code, out, _ := runGeo(t, "info", name)
	for _, want := range []string{"100 x 80 pixels, 3 bands of uint16", "DEFLATE, predictor 2, interleave PIXEL, strips of 100 x 7", "nodata       9",
		"mask         yes", "EPSG:32633 WGS 84 / UTM zone 33N", "origin       500000, 5000000", "SENSOR = test"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	code, out, _ = runGeo(t, "info", "-json", name)
	var info fileJSON
	if err := json.Unmarshal([]byte(out), &info); code != 0 || err != nil || info.Images[0].EPSG != 32633 || !info.Images[0].Mask {
		t.Errorf("%v in %s", err, out)
	}
}

func TestGeoTranslateCopiesPixelsAndPlace(t *testing.T) {
	for _, mask := range []bool{false, true} {
		name, pixels := geoFile(t, mask)
		result := filepath.Join(t.TempDir(), "result.tif")
		code, _, stderr := runGeo(t, "translate", "-of", "COG", "-co", "COMPRESS=ZSTD", "-co", "BLOCKSIZE=16", "-srcwin", "10,20,50,40", "-b", "3,1", name, result)
		if code != 0 {
			t.Fatal(stderr)
		}
		f, err := tiff.Open(result)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		im := f.Image()
		if a, _ := im.Geo.Affine(); im.Compression != tiff.ZSTD || len(im.Overviews()) != 2 || a != (tiff.Affine{500100, 10, 0, 4999800, 0, -10}) || im.NoData != "9" {
			t.Errorf("%v %v %v", im, len(im.Overviews()), a)
		}
		got, err := tiff.Read[uint16](context.Background(), im, im.All())
		if err != nil {
			t.Fatal(err)
		}
		want := make([]uint16, 0, len(got))
		for y := 20; y < 60; y++ {
			for x := 10; x < 60; x++ {
				i := (y*100 + x) * 3
				want = append(want, pixels[i+2], pixels[i])
			}
		}
		if !slices.Equal(got, want) {
			t.Error("the pixels differ")
		}
		if (im.Mask() != nil) != mask {
			t.Errorf("mask: %v", im.Mask())
		}
	}
}

func TestGeoTranslateTakesTheOptionsOfGdalTranslate(t *testing.T) {
	name, _ := geoFile(t, true)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-srcwin", "90", "70", "20", "20"}, "size         20 x 20 pixels, 3 bands of uint16"},
		{[]string{"-projwin", "500100", "4999900", "500200", "4999700", "-outsize", "50%", "0", "-r", "average"}, "size         5 x 10 pixels"},
		{[]string{"-tr", "20", "40", "-r", "cubic"}, "size         50 x 20 pixels"},
		{[]string{"-scale", "-ot", "Byte"}, "3 bands of uint8"},
		{[]string{"-scale", "0", "1000", "-ot", "Byte"}, "3 bands of uint8"},
		{[]string{"-scale", "-10", "1000", "-1", "1", "-ot", "Float32", "-b", "2"}, "1 band of float32"},
		{[]string{"-unscale", "-ot", "Float64"}, "3 bands of float64"},
		{[]string{"-a_srs", "EPSG:3857", "-a_ullr", "0", "800", "1000", "0"}, "EPSG:3857"},
		{[]string{"-a_srs", "none", "-a_ullr", "-10", "800", "990", "0"}, "origin       -10, 800"},
		{[]string{"-a_nodata", "12"}, "nodata       12"},
	} {
		result := filepath.Join(t.TempDir(), "result.tif")
		if code, _, stderr := runGeo(t, append(append([]string{"translate"}, test.args...), name, result)...); code != 0 {
			t.Errorf("%v: exit code %d, %s", test.args, code, stderr)
		}
		if _, out, _ := runGeo(t, "info", result); !strings.Contains(out, test.want) {
			t.Errorf("%v: %q is missing in:\n%s", test.args, test.want, out)
		}
	}
}

func TestGeoReportsWhatIsWrong(t *testing.T) {
	name, _ := geoFile(t, false)
	result := filepath.Join(t.TempDir(), "result.tif")
	damaged := filepath.Join(t.TempDir(), "damaged.tif")
	if err := os.WriteFile(damaged, []byte("II*\x00\xff\xff\xff\x00"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"info"}, 2, "want the name of one file"},
		{[]string{"info", "missing.tif"}, 1, "cannot be opened"},
		{[]string{"info", damaged}, 1, "at byte 16777215"},
		{[]string{"translate", name}, 2, "want the names of two files"},
		{[]string{"translate", "-of", "GIF", name, result}, 2, "want GTiff or COG"},
		{[]string{"translate", "-of", "PNG", "-co", "COMPRESS=LZW", name, result}, 2, "unknown option of PNG"},
		{[]string{"translate", "-of", "JPEG", "-co", "QUALITY=high", name, result}, 2, "QUALITY=high"},
		{[]string{"translate", "-of", "JPEG", name, result}, 1, "JPEG of 100 x 80 pixels with 3 bands of uint16"},
		{[]string{"translate", "-mask", "1", name, result}, 2, "want none"},
		{[]string{"translate", "-co", "COMPRESS=LERC", name, result}, 2, "COMPRESS=LERC"},
		{[]string{"translate", "-co", "COLOR=RED", name, result}, 2, "unknown option"},
		{[]string{"translate", "-srcwin", "1,2", name, result}, 2, "x y width height"},
		{[]string{"translate", "-srcwin", "100,0,20,20", name, result}, 1, "100 x 80 pixels"},
		{[]string{"translate", "-srcwin", "1", "2", "3", "0", name, result}, 2, "above 0"},
		{[]string{"translate", "-srcwin", "1", "2", "3", "4", "-projwin", "1", "2", "3", "4", name, result}, 2, "give one of them"},
		{[]string{"translate", "-projwin", "1", "2", "x", "4", name, result}, 2, "projwin"},
		{[]string{"translate", "-projwin", "0", "100", "100", "0", name, result}, 1, "outside of the image"},
		{[]string{"translate", "-projwin_srs", "EPSG:4326", name, result}, 2, "-projwin_srs needs -projwin"},
		{[]string{"translate", "-outsize", "50%", "x", name, result}, 2, "-outsize 50% x"},
		{[]string{"translate", "-outsize", "0", "0", name, result}, 2, "want a width or a height"},
		{[]string{"translate", "-outsize", "10", "10", "-tr", "5", "5", name, result}, 2, "give one of them"},
		{[]string{"translate", "-tr", "0", "5", name, result}, 2, "-tr 0 5"},
		{[]string{"translate", "-r", "sinc", name, result}, 2, "-r sinc"},
		{[]string{"translate", "-ot", "Real", name, result}, 2, "-ot Real"},
		{[]string{"translate", "-scale", "1", name, result}, 2, "want the names of two files"},
		{[]string{"translate", "-scale=1,2,3", name, result}, 2, "-scale 1,2,3"},
		{[]string{"translate", "-scale", "-unscale", name, result}, 2, "give one of them"},
		{[]string{"translate", "-expand", "cmyk", name, result}, 2, "-expand cmyk"},
		{[]string{"translate", "-expand", "rgb", name, result}, 1, "no palette"},
		{[]string{"translate", "-a_srs", "EPSG:1", name, result}, 2, "-a_srs"},
		{[]string{"translate", "-a_ullr", "1", "2", "1", "4", name, result}, 2, "area"},
		{[]string{"translate", "-a_nodata", "black", name, result}, 2, "-a_nodata black"},
		{[]string{"translate", "-a_nodata", "1_000", name, result}, 2, "-a_nodata 1_000"},
		{[]string{"translate", "-b", "4", name, result}, 1, "-b 4: " + name + " has the bands 1 to 3"},
		{[]string{"translate", "-b", "0", name, result}, 1, "-b 0: "},
		{[]string{"translate", name, os.DevNull}, 1, "is a device"},
		{[]string{"translate", "-co", "PREDICTOR=3", name, result}, 1, "predictor 3"},
	} {
		code, _, stderr := runGeo(t, test.args...)
		if code != test.code || !strings.Contains(stderr, test.text) {
			t.Errorf("%v: exit code %d, %s", test.args, code, stderr)
		}
		if _, err := os.Stat(result); err == nil {
			t.Errorf("%v: there is a file", test.args)
		}
	}
}
