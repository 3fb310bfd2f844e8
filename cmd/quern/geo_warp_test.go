//go:build !bootstrap

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

func TestGeoWarpTakesTheOptionsOfGdalwarp(t *testing.T) {
	name, _ := geoFile(t, false)
	folder := t.TempDir()
	result, area := filepath.Join(folder, "result.tif"), filepath.Join(folder, "area.json")
	text := `{"type":"Polygon","coordinates":[[[15,45],[15.01,45],[15.01,45.2],[15,45.2]]]}`
	if err := os.WriteFile(area, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := runGeo(t, "warp", "-t_srs", "EPSG:3857", "-te", "1669800", "5644900", "1671100", "5646000", "-tr", "20", "25", "-r", "cubic",
		"-srcnodata", "9", "-dstnodata", "-7", "-cutline", area, "-co", "COMPRESS=ZSTD", "-multi", "-et", "0.125", "-device", "cpu", "-json", name, result)
	if code == 0 || !strings.Contains(stderr, "NoData -7 is not a value of uint16") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	code, out, stderr := runGeo(t, "warp", "-t_srs", "EPSG:3857", "-te", "1669800", "5644900", "1671100", "5646000", "-tr", "20", "25", "-r", "cubic",
		"-srcnodata", "9", "-dstnodata", "7", "-cutline", area, "-co", "COMPRESS=ZSTD", "-multi", "-et", "0.125", "-device", "cpu", "-json", name, result)
	if code != 0 {
		t.Fatal(stderr)
	}
	var info fileJSON
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	im := info.Images[0]
	if im.Width != 65 || im.Height != 44 || im.EPSG != 3857 || im.NoData != "7" || im.Compression != "ZSTD" || !slices.Equal(im.Transform, []float64{1669800, 20, 0, 5646000, 0, -25}) {
		t.Errorf("%+v", im)
	}
	f, err := tiff.Open(result)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pixels, err := tiff.Read[uint16](t.Context(), f.Image(), f.Image().All())
	if err != nil {
		t.Fatal(err)
	}
	none := 0
	for _, v := range pixels {
		if v == 7 {
			none++
		}
	}
	if none == 0 || none == len(pixels) {
		t.Errorf("%d of %d samples have no data", none, len(pixels))
	}
	if code, _, stderr := runGeo(t, "warp", name, result); code != 1 || !strings.Contains(stderr, "-overwrite replaces it") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := runGeo(t, "warp", "-overwrite", "-tr", "20", "20", "-tap", "-dstalpha", "-of", "COG", "-device", "cpu", name, name, result); code != 0 {
		t.Error(stderr)
	}
}

func TestGeoWarpReportsWhatIsWrong(t *testing.T) {
	name, _ := geoFile(t, false)
	result := filepath.Join(t.TempDir(), "result.tif")
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{name}, 2, "want one source or more"},
		{[]string{"-r", "sinc", name, result}, 2, "-r sinc"},
		{[]string{"-t_srs", "EPSG:1", name, result}, 2, "EPSG:1"},
		{[]string{"-te", "1,2,3", name, result}, 2, "-te has 3 numbers"},
		{[]string{"-te", "1", "2", "x", "4", name, result}, 2, "te"},
		{[]string{"-srcnodata", "black", name, result}, 2, "-srcnodata black"},
		{[]string{"-wo", "SAMPLE_GRID=YES", name, result}, 2, "XSCALE"},
		{[]string{"-cutline", "missing.json", name, result}, 2, "missing.json"},
		{[]string{"-co", "COMPRESS=LERC", name, result}, 2, "LERC"},
		{[]string{"-device", "cpu", "-te", "0", "0", "10", "10", name, result}, 1, "meets no source"},
		{[]string{"-device", "nothing", name, result}, 1, "nothing"},
		{[]string{"missing.tif", result}, 1, "cannot be opened"},
		{[]string{name, name}, 1, "is a source and the result"},
		{[]string{"-device", "cpu", name, filepath.Join(filepath.Dir(result), "no", "folder.tif")}, 1, "cannot be created"},
	} {
		code, _, stderr := runGeo(t, append([]string{"warp"}, test.args...)...)
		if code != test.code || !strings.Contains(stderr, test.text) {
			t.Errorf("%v: exit code %d, %s", test.args, code, stderr)
		}
		if _, err := os.Stat(result); err == nil {
			t.Errorf("%v: there is a file", test.args)
		}
	}
}
