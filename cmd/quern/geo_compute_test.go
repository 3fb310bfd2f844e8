//go:build !bootstrap

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

// geoImage writes an image of floats with pixels of 10 m in UTM zone 33, and returns its name.
func geoImage(t *testing.T, name string, x, y float64, width, height int, rpc *tiff.RPC, value func(x, y int) float32) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	h := tiff.Header{Width: width, Height: height, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack, NoData: "-1", RPC: rpc}
	if rpc == nil {
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{x, 10, 0, y, 0, -10})
	}
	var pixels []float32
	for j := range height {
		for i := range width {
			pixels = append(pixels, value(i, j))
		}
	}
	createImage(t, name, h, tiff.Bytes(pixels))
	return name
}

// createImage writes a TIFF file.
func createImage(t *testing.T, name string, h tiff.Header, pixels []byte) {
	t.Helper()
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: pixels}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// geoResult runs a command and reads its result.
func geoResult(t *testing.T, result string, args ...string) (imageJSON, []float32) {
	t.Helper()
	code, out, stderr := runGeo(t, append(args, "-device", "cpu", "-json")...)
	if code != 0 {
		t.Fatalf("%v: %s", args, stderr)
	}
	var info fileJSON
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	f, err := tiff.Open(result)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Image().Type != tiff.Float32 {
		return info.Images[0], nil
	}
	pixels, err := tiff.Read[float32](t.Context(), f.Image(), f.Image().All())
	if err != nil {
		t.Fatal(err)
	}
	return info.Images[0], pixels
}

func TestGeoMosaicJoinsImages(t *testing.T) {
	a := geoImage(t, "a.tif", 500000, 5000000, 40, 30, nil, func(x, y int) float32 { return 1 })
	b := geoImage(t, "b.tif", 500200, 5000000, 40, 30, nil, func(x, y int) float32 { return 3 })
	result := filepath.Join(t.TempDir(), "mosaic.tif")
	im, pixels := geoResult(t, result, "mosaic", a, b, result)
	if im.Width != 60 || im.Height != 30 || im.NoData != "-1" || pixels[19] != 1 || pixels[20] != 3 {
		t.Errorf("%+v %v", im, pixels[:60])
	}
	list := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(list, []byte(a+"\n"+b+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	im, pixels = geoResult(t, result, "mosaic", "-overwrite", "-order", "nearest", "-blend", "feather", "-radius", "8", "-balance", "gain", "-seams", "-tr", "5", "5", "-r", "bilinear",
		"-of", "COG", "-co", "BLOCKSIZE=64", "-input_file_list", list, result)
	if im.Width != 120 || len(im.Overviews) == 0 || pixels[0]*0.95 > pixels[119] || pixels[0]*1.05 < pixels[119] {
		t.Errorf("%+v %v", im, pixels[:120])
	}
}

func TestGeoDEMAndCalcDeriveImages(t *testing.T) {
	dem := geoImage(t, "dem.tif", 500000, 5000000, 40, 30, nil, func(x, y int) float32 { return float32(10 * x) })
	result := filepath.Join(t.TempDir(), "result.tif")
	if im, pixels := geoResult(t, result, "dem", "slope", "-p", "-compute_edges", dem, result); im.NoData != "-9999" || pixels[50] != 100 {
		t.Errorf("%+v %v", im, pixels[50])
	}
	if _, pixels := geoResult(t, result, "dem", "aspect", "-trigonometric", "-overwrite", dem, result); pixels[50] != 180 {
		t.Error(pixels[50])
	}
	if im, _ := geoResult(t, result, "dem", "hillshade", "-az", "270", "-alt", "30", "-z", "2", "-s", "1", "-overwrite", dem, result); im.Type != "uint8" || im.NoData != "0" {
		t.Errorf("%+v", im)
	}
	if im, pixels := geoResult(t, result, "calc", "-calc", "where(b1>100, b2/2, 7)", "-dstnodata", "-5", "-overwrite", dem, dem, result); im.NoData != "-5" || pixels[5] != 7 || pixels[20] != 100 {
		t.Errorf("%+v %v", im, pixels[:40])
	}
}

func TestGeoOverviewsAreAdded(t *testing.T) {
	name, pixels := geoFile(t, true)
	if code, _, stderr := runGeo(t, "overviews", "-co", "BLOCKSIZE=32", name); code != 0 {
		t.Fatal(stderr)
	}
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im := f.Image()
	got, err := tiff.Read[uint16](t.Context(), im, im.All())
	if err != nil || !slices.Equal(got, pixels) || len(im.Overviews()) != 2 || im.Mask() == nil {
		t.Errorf("%v, %d overviews, mask %v", err, len(im.Overviews()), im.Mask())
	}
	result := filepath.Join(t.TempDir(), "cog.tif")
	if code, _, stderr := runGeo(t, "overviews", "-r", "nearest", "-levels", "1", "-of", "COG", name, result); code != 0 {
		t.Fatal(stderr)
	}
	g, err := tiff.Open(result)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if len(g.Image().Overviews()) != 1 {
		t.Errorf("%d overviews", len(g.Image().Overviews()))
	}
}

func TestGeoOverviewsOfALinkAreThoseOfItsFile(t *testing.T) {
	name, _ := geoFile(t, false)
	link := filepath.Join(t.TempDir(), "link.tif")
	if err := os.Symlink(name, link); err != nil {
		t.Skipf("links are not possible here: %v", err)
	}
	geoOK(t, "overviews", "-levels", "2", link)
	info, err := os.Lstat(link)
	if im, _ := pixelsOf(t, name); err != nil || info.Mode()&os.ModeSymlink == 0 || len(im.Overviews()) != 2 {
		t.Errorf("the file has %d overviews, and the link has the mode %v, %v", len(im.Overviews()), info.Mode(), err)
	}
}

// writeText writes a file and returns its name.
func writeText(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestGeoOrthoRectifiesImages(t *testing.T) {
	dem := geoImage(t, "dem.tif", 500000, 5000000, 60, 60, nil, func(x, y int) float32 { return 100 })
	gray := func(x, y int) float32 { return float32(x + 100*y) }
	frame := geoImage(t, "frame.tif", 0, 0, 40, 30, nil, gray)
	folder := t.TempDir()
	write := func(name, text string) string { return writeText(t, filepath.Join(folder, name), text) }
	cameras := write("cameras.json", `{"lens": {"projection_type": "perspective", "width": 40, "height": 30, "focal": 1}}`)
	poses := write("poses.csv", "filename,x,y,z,omega,phi,kappa\nframe.jpg,500300,4999700,500,0,0,0\n")
	result := filepath.Join(folder, "ortho.tif")
	// 400 m above the surface with a focal length of 40 pixels, a pixel is 10 m.
	im, pixels := geoResult(t, result, "ortho", "-dem", dem, "-exterior", poses, "-cameras", cameras, "-te", "500100", "4999550", "500500", "4999850", "-tr", "10", "10", frame, result)
	if im.Width != 40 || im.Height != 30 || im.EPSG != 32633 || im.NoData != "-1" || pixels[5*40+7] != 507 {
		t.Errorf("%+v %v", im, pixels[5*40+7])
	}
	reconstruction := write("reconstruction.json", `[{"cameras": {}, "shots": {"frame.tif": {"rotation": [3.141592653589793, 0, 0], "translation": [0, 0, 400], "camera": "lens"}},
		"reference_lla": {"latitude": 45.15, "longitude": 15.0038, "altitude": 100}}]`)
	im, _ = geoResult(t, filepath.Join(folder, "frame_ORTHO.tif"), "ortho", "-dem", dem, "-reconstruction", reconstruction, "-cameras", cameras, frame, folder)
	if im.EPSG != 32633 || im.Width < 38 || im.Width > 45 {
		t.Errorf("%+v", im)
	}
	// A second camera is 200 m further east. The mosaic of both is computed without files in between.
	second := geoImage(t, "second.tif", 0, 0, 40, 30, nil, func(x, y int) float32 { return gray(x+20, y) + 4000 })
	both := write("both.csv", "filename,x,y,z,omega,phi,kappa\nframe.jpg,500300,4999700,500,0,0,0\nsecond.tif,500500,4999700,500,0,0,0\n")
	im, pixels = geoResult(t, filepath.Join(folder, "mosaic.tif"), "mosaic", "-dem", dem, "-exterior", both, "-cameras", cameras, "-order", "nearest", "-tr", "10", "10", "-wm", "64", frame, second, filepath.Join(folder, "mosaic.tif"))
	// The surface ends in the 50th column.
	if im.Width != 49 || im.Height != 30 || im.EPSG != 32633 || im.NoData != "-1" || pixels[5*49+7] != 507 || pixels[5*49+29] != 529 || pixels[5*49+30] != 4530 || pixels[6*49+45] != 4645 {
		t.Errorf("%+v %v", im, pixels[5*49:6*49])
	}
	// Several images are computed at a time and described in order.
	folders := t.TempDir()
	code, stdout, stderr := runGeo(t, "ortho", "-device", "cpu", "-dem", dem, "-exterior", both, "-cameras", cameras, "-tr", "10", "10", frame, second, folders)
	first, next := strings.Index(stdout, "frame_ORTHO.tif: "), strings.Index(stdout, "second_ORTHO.tif: ")
	if code != 0 || first < 0 || next < first {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := runGeo(t, "ortho", "-device", "cpu", "-dem", dem, "-exterior", both, "-cameras", cameras, frame, second, frame, folders); code != 1 || !strings.Contains(stderr, "would both be written to") {
		t.Errorf("equal names: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := runGeo(t, "ortho", "-device", "cpu", "-overwrite", "-dem", dem, "-exterior", poses, "-cameras", cameras, frame, second, folders); code != 1 || !strings.Contains(stderr, "second.tif") {
		t.Errorf("no pose: exit code %d, %s", code, stderr)
	}
	// A result may not replace another image's source.
	derived := filepath.Join(filepath.Dir(frame), "frame_ORTHO.tif")
	if err := os.Rename(second, derived); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runGeo(t, "ortho", "-device", "cpu", "-overwrite", "-dem", dem, "-exterior", both, "-cameras", cameras, frame, derived, filepath.Dir(frame)); code != 1 || !strings.Contains(stderr, "is a source and the result") {
		t.Errorf("a result that is another source: exit code %d, %s", code, stderr)
	}
	rpc := &tiff.RPC{LineOff: 15, SampOff: 20, LatOff: 45.15, LongOff: 15, HeightOff: 100, LineScale: 20, SampScale: 20, LatScale: 0.002, LongScale: 0.003, HeightScale: 100}
	rpc.LineNum[2], rpc.LineDen[0], rpc.SampNum[1], rpc.SampDen[0] = -1, 1, 1, 1
	scene := geoImage(t, "scene.tif", 0, 0, 40, 30, rpc, gray)
	im, _ = geoResult(t, result, "ortho", "-rpc", "-to", "RPC_HEIGHT=100", "-t_srs", "EPSG:4326", "-overwrite", "-r", "cubic", scene, result)
	if im.EPSG != 4326 || im.Transform[0] < 14.99 || im.Transform[0] > 15 {
		t.Errorf("%+v", im)
	}
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{frame, result}, 2, "want -dem"},
		{[]string{"-dem", dem, "-exterior", poses, frame, result}, 2, "-exterior needs -cameras"},
		{[]string{"-dem", dem, "-rpc", "-reconstruction", reconstruction, frame, result}, 2, "give one of them"},
		{[]string{"-dem", dem, "-to", "METHOD=TPS", frame, result}, 2, "METHOD=TPS"},
		{[]string{"-dem", dem, frame, result}, 1, "has no RPC"},
		{[]string{"-height", "high", scene, result}, 1, "-height high"},
		{[]string{"-dem", "missing.tif", scene, result}, 1, "missing.tif"},
		{[]string{"-dem", dem, "-reconstruction", poses, frame, result}, 1, "reconstruction: invalid character"},
		{[]string{"-dem", dem, "-exterior", poses, "-cameras", cameras, scene, result}, 1, "none of the 1 shots"},
		{[]string{"-dem", dem, frame, scene, result}, 1, "not a folder"},
	} {
		code, _, stderr := runGeo(t, append([]string{"ortho", "-overwrite", "-device", "cpu"}, test.args...)...)
		if code != test.code || !strings.Contains(stderr, test.text) {
			t.Errorf("%v: exit code %d, %s", test.args, code, stderr)
		}
	}
}

func TestGeoNeverReplacesWhatItReads(t *testing.T) {
	one := func(x, y int) float32 { return 1 }
	dem := geoImage(t, "dem.tif", 500000, 5000000, 60, 60, nil, one)
	image := geoImage(t, "image.tif", 500000, 5000000, 40, 30, nil, one)
	frame := geoImage(t, "frame.tif", 0, 0, 40, 30, nil, one)
	folder := t.TempDir()
	write := func(name, text string) string { return writeText(t, filepath.Join(folder, name), text) }
	cutline := write("area.geojson", `{"type":"Polygon","crs":{"type":"name","properties":{"name":"EPSG:32633"}},"coordinates":[[[500000,5000000],[500200,5000000],[500200,4999800]]]}`)
	cameras := write("cameras.json", `{"lens": {"projection_type": "perspective", "width": 40, "height": 30, "focal": 1}}`)
	poses := write("poses.csv", "filename,x,y,z,omega,phi,kappa\nframe.jpg,500300,4999700,500,0,0,0\n")
	list := write("list.txt", image+"\n")
	picture := filepath.Join(folder, "a.png")
	geoOK(t, "translate", "-ot", "Byte", "-of", "PNG", "-q", image, picture)
	result := filepath.Join(folder, "result.tif")
	other := filepath.Dir(picture) + "/./" + filepath.Base(picture)
	taken := []string{"-device", "cpu", "-overwrite", "-dem", dem, "-exterior", poses, "-cameras", cameras, "-tr", "10", "10", frame}
	for _, test := range []struct {
		unchanged string
		args      []string
	}{
		{picture, []string{"overviews", picture, other}},
		{image, []string{"tiles", "-device", "cpu", "-overwrite", filepath.Dir(image), image}},
		{cutline, []string{"warp", "-device", "cpu", "-overwrite", "-cutline", cutline, image, cutline}},
		{dem, append(append([]string{"ortho"}, taken...), dem)},
		{poses, append(append([]string{"ortho"}, taken...), poses)},
		{dem, append(append([]string{"mosaic"}, taken...), dem)},
		{cameras, append(append([]string{"mosaic"}, taken...), cameras)},
		{list, []string{"mosaic", "-device", "cpu", "-overwrite", "-input_file_list", list, list}},
		{image, []string{"mosaic", "-device", "cpu", "-work", image, image, result}},
		{cutline, []string{"mosaic", "-device", "cpu", "-work", cutline, image, result}},
	} {
		before, err := os.ReadFile(test.unchanged)
		if err != nil {
			t.Fatal(err)
		}
		code, _, stderr := runGeo(t, test.args...)
		after, err := os.ReadFile(test.unchanged)
		if code != 1 || err != nil || !bytes.Equal(before, after) || !strings.Contains(stderr, test.unchanged) && !strings.Contains(stderr, other) {
			t.Errorf("%v: exit code %d, changed %v, %s", test.args, code, !bytes.Equal(before, after), stderr)
		}
		if err := os.WriteFile(test.unchanged, before, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range []string{`NETCDF:"` + dem + `":height`, "HDF5:" + dem + "://height", "GTIFF_DIR:1:" + dem, "/vsizip/" + dem + "/image.tif", "/vsigzip/" + dem} {
		if err := checkResult(dem, true, source); err == nil {
			t.Errorf("%s may be replaced", source)
		}
		if err := checkResult(image, true, source); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestGeoCommandsReportWhatIsWrong(t *testing.T) {
	name, _ := geoFile(t, false)
	result := filepath.Join(t.TempDir(), "result.tif")
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"mosaic", name}, 2, "want one source or more"},
		{[]string{"mosaic", "-order", "best", name, result}, 2, "-order best"},
		{[]string{"mosaic", "-input_file_list", "missing.txt", result}, 2, "missing.txt"},
		{[]string{"mosaic", "-levels", "20", "-device", "cpu", name, result}, 1, "20 levels"},
		{[]string{"mosaic", "-dstnodata", "1,2", name, result}, 2, "want one number"},
		{[]string{"mosaic", "-rpc", name, result}, 2, "want -dem"},
		{[]string{"mosaic", "-height", "0", "-s_srs", "EPSG:4326", name, result}, 2, "-s_srs with"},
		{[]string{"mosaic", "-height", "0", "-t_srs", "EPSG:32633", "-device", "cpu", name, result}, 1, name + ": the image has no RPC"},
		{[]string{"dem", "slope", name}, 2, "want the names of two files"},
		{[]string{"dem", "slope", "-b", "4", "-device", "cpu", name, result}, 1, "band 3 of 3"},
		{[]string{"calc", name, result}, 2, "-calc"},
		{[]string{"calc", "-calc", "b9", "-device", "cpu", name, result}, 1, "has b9"},
		{[]string{"overviews"}, 2, "want the name of a file"},
		{[]string{"overviews", "-r", "cubic", name}, 2, "-r cubic"},
		{[]string{"overviews", "missing.tif"}, 1, "cannot be opened"},
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
