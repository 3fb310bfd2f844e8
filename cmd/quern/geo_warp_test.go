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

func TestGeoWarpTakesBandsTypesAndTransformers(t *testing.T) {
	name, _ := geoFile(t, false)
	folder := t.TempDir()
	area := filepath.Join(folder, "area.json")
	text := `{"type":"Polygon","coordinates":[[[15.001,45.145],[15.006,45.145],[15.006,45.15],[15.001,45.15]]]}`
	if err := os.WriteFile(area, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	placed, rpc := filepath.Join(folder, "points.tif"), filepath.Join(folder, "rpc.tif")
	im := f.Image()
	a, _ := im.Geo.Affine()
	h := im.Header
	h.Geo.Scale, h.Geo.Tiepoints = nil, nil
	for i := range 16 {
		c, r := float64(i%4*9), float64(i/4*9)
		h.Geo.Tiepoints = append(h.Geo.Tiepoints, tiff.Tiepoint{Column: c, Row: r, X: a[0] + c*a[1], Y: a[3] + r*a[5]})
	}
	copyImage(t, im, placed, h)
	h.Geo = tiff.Georeference{}
	h.RPC = &tiff.RPC{LineOff: 40, SampOff: 50, LatOff: 45, LongOff: 15, LineScale: 50, SampScale: 50, LatScale: 0.01, LongScale: 0.01, HeightScale: 100}
	h.RPC.LineNum[2], h.RPC.SampNum[1], h.RPC.LineDen[0], h.RPC.SampDen[0] = -1, 1, 1, 1
	copyImage(t, im, rpc, h)
	for i, args := range [][]string{
		{"-tps", placed}, {"-order", "1", placed}, {"-order=3", placed}, {"-to", "MAX_GCP_ORDER=2", placed}, {"-to", "METHOD=GCP_TPS", placed},
		{"-b", "1", "-ot", "Float32", "-te", "15.001", "45.145", "15.006", "45.15", "-te_srs", "EPSG:4326", name},
		{"-cutline", area, "-crop_to_cutline", "-cblend", "2.5", "-wo", "INIT_DEST=NO_DATA", "-wo", "NUM_THREADS=ALL_CPUS", "-multi", "-setci", "-wt", "Float64", "-oo", "NUM_THREADS=2", name},
		{"-srcband", "1", "-dstband", "1", "-wo", "INIT_DEST=3", "-wo", "UNIFIED_SRC_NODATA=YES", "-nosrcalpha", name},
		{"-rpc", "-r", "bilinear", "-te", "14.996", "44.996", "15.004", "45.004", "-ts", "20", "20", rpc}, {"-to", "METHOD=RPC", "-to", "RPC_HEIGHT=20", rpc},
	} {
		result := filepath.Join(folder, "result"+string(rune('a'+i))+".tif")
		args = append(append([]string{"warp", "-device", "cpu", "-q"}, args...), result)
		if code, _, stderr := runGeo(t, args...); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
}

// copyImage writes the pixels of an image with another header.
func copyImage(t *testing.T, im *tiff.Image, name string, h tiff.Header) {
	t.Helper()
	pixels, err := tiff.Read[uint16](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	createImage(t, name, h, tiff.Bytes(pixels))
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
		{[]string{"-t_srs", "3857", name, result}, 2, "3857: a code needs its authority: EPSG:3857\n"},
		{[]string{"-device", "cpu", "-tr", "0.000001", "0.000001", name, result}, 1, "make the image smaller, or blocks larger"},
		{[]string{"-device", "cpu", "-ts", "30000000", "30000000", "-co", "COMPRESS=NONE", name, result}, 1, "30000000 x 30000000 pixels with 3 bands of uint16 are 5400000.0 GB without compression"},
		{[]string{"-te", "1,2,3", name, result}, 2, "-te has 3 numbers"},
		{[]string{"-te", "1", "2", "x", "4", name, result}, 2, "te"},
		{[]string{"-srcnodata", "black", name, result}, 2, "-srcnodata black"},
		{[]string{"-wo", "STREAMABLE_OUTPUT=YES", name, result}, 2, "XSCALE"},
		{[]string{"-wo", "UNIFIED_SRC_NODATA=NO", name, result}, 2, "YES or PARTIAL"},
		{[]string{"-wo", "INIT_DEST=black", name, result}, 2, "INIT_DEST black"},
		{[]string{"-crop_to_cutlin", name, result}, 2, "-crop_to_cutlin; the most similar one is -crop_to_cutline"},
		{[]string{"--dstnodat", "3", name, result}, 2, "-dstnodat; the most similar one is -dstnodata"},
		{[]string{"-geoloc", name, result}, 2, "unknown option -geoloc"},
		{[]string{"-cblend", "3", name, result}, 2, "-cblend needs -cutline"},
		{[]string{"-crop_to_cutline", name, result}, 2, "-crop_to_cutline needs -cutline"},
		{[]string{"-order", "4", name, result}, 2, "-order 4"},
		{[]string{"-order", "1", "-tps", name, result}, 2, "give one of them"},
		{[]string{"-to", "METHOD=NONE", name, result}, 2, "GCP_TPS"},
		{[]string{"-ot", "Complex", name, result}, 2, "-ot Complex"},
		{[]string{"-srcalpha", "-nosrcalpha", name, result}, 2, "give one of them"},
		{[]string{"-b", "1", "-dstband", "2", name, result}, 2, "-dstband [2]"},
		{[]string{"-rpc", "-b", "1", name, result}, 2, "-srcband with -rpc"},
		{[]string{"-device", "cpu", "-tps", name, result}, 1, "no control points"},
		{[]string{"-device", "cpu", "-b", "7", name, result}, 1, "-srcband 7: "},
		{[]string{"-device", "cpu", "-rpc", name, result}, 1, "no RPC"},
		{[]string{"-device", "cpu", "-et", "-1", name, result}, 2, "-et -1"},
		{[]string{"-cutline", "missing.json", name, result}, 2, "missing.json"},
		{[]string{"-co", "COMPRESS=LERC", name, result}, 2, "LERC"},
		{[]string{"-device", "cpu", "-te", "0", "0", "10", "10", name, result}, 1, "meets no source"},
		{[]string{"-device", "nothing", name, result}, 1, "nothing"},
		{[]string{"missing.tif", result}, 1, "cannot be opened"},
		{[]string{name, name}, 1, "is a source and the result"},
		{[]string{"-overwrite", name, filepath.Dir(name) + "/./" + filepath.Base(name)}, 1, "is a source and the result"},
		{[]string{"-overwrite", name, filepath.Dir(name)}, 1, "is a folder"},
		{[]string{"-b", "0", name, result}, 2, "counted from 1"},
		{[]string{"-tr", "0", "0", name, result}, 2, "-tr 0 0"},
		{[]string{"-tr", "30", name, result}, 2, "want numbers (size of a pixel"},
		{[]string{"-ts", "0", "0", name, result}, 2, "-ts 0 0"},
		{[]string{"-ts", "5", "5", "-tr", "5", "5", name, result}, 2, "give one of them"},
		{[]string{"-tap", name, result}, 2, "-tap needs -tr"},
		{[]string{"-te_srs", "EPSG:4326", name, result}, 2, "-te_srs needs -te"},
		{[]string{"-cutline_srs", "EPSG:4326", name, result}, 2, "-cutline_srs needs -cutline"},
		{[]string{"-wm", "-1", name, result}, 2, "-wm -1"},
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
