package warp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/internal/testmodule"
)

// runJobs lets gdalwarp run.
func runJobs(t testing.TB, all []*job) {
	t.Helper()
	var lines bytes.Buffer
	for _, j := range all {
		if err := json.NewEncoder(&lines).Encode(j); err != nil {
			t.Fatal(err)
		}
	}
	runJudge(t, lines.Bytes(), "warp")
}

func TestPlacesAreThoseOfGDAL(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	a, b, masked := filepath.Join(folder, "a.tif"), filepath.Join(folder, "b.tif"), filepath.Join(folder, "masked.tif")
	sceneOf(t, tiff.Uint8, a, 171, 143, 2, "plain", tiff.Options{})
	sceneOf(t, tiff.Uint8, b, 90, 80, 2, "nodata", tiff.Options{})
	sceneOf(t, tiff.Uint8, masked, 120, 110, 2, "plain", tiff.Options{Mask: true})
	both := filepath.Join(folder, "both.tif")
	sceneOf(t, tiff.Uint8, both, 90, 80, 3, "alpha nodata", tiff.Options{})
	area := filepath.Join(folder, "area.json")
	text := `{"type":"Polygon","coordinates":[[[15.004,47.851],[15.03,47.846],[15.05,47.83],[15.02,47.822],[15.01,47.83],[15.004,47.851]],[[15.015,47.84],[15.02,47.84],[15.02,47.835],[15.015,47.835],[15.015,47.84]]]}`
	if err := os.WriteFile(area, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	edges := filepath.Join(folder, "edges.json")
	textOfEdges := `{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:32633"}},"features":[{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[500600,5299400],[503000,5299100],[503300,5297000],[501200,5296400],[500600,5299400]]]}}]}`
	if err := os.WriteFile(edges, []byte(textOfEdges), 0o666); err != nil {
		t.Fatal(err)
	}
	whole, err := ParseCutline([]byte(textOfEdges), nil)
	if err != nil {
		t.Fatal(err)
	}
	cutline, err := ParseCutline([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	extent := Extent{1669000, 6074000, 1675000, 6081000}
	te := []string{"-te", "1669000", "6074000", "1675000", "6081000"}
	noData := []float64{255}
	var all []*job
	add := func(name string, sources []string, code int, o Options, arguments ...string) {
		arguments = append([]string{"-et", "0", "-wm", "1000", "-t_srs", fmt.Sprintf("EPSG:%d", code), "-r", gdalName(o.Resampling)}, arguments...)
		all = append(all, &job{Sources: sources, Result: filepath.Join(folder, fmt.Sprintf("out%d.tif", len(all))), Arguments: arguments, name: name, code: code, options: o})
	}
	for _, code := range []int{3857, 4326, 3035, 32632, 32633} {
		add(fmt.Sprintf("the grid that follows from the source, EPSG:%d", code), []string{a}, code, Options{Resampling: Bilinear})
	}
	add("a resolution", []string{a}, 3857, Options{Resolution: [2]float64{100, 90}, Resampling: Bilinear}, "-tr", "100", "90")
	add("an aligned resolution", []string{a}, 3857, Options{Resolution: [2]float64{100, 90}, AlignPixels: true, Resampling: Average}, "-tr", "100", "90", "-tap")
	reduced := filepath.Join(folder, "reduced.tif")
	sceneOf(t, tiff.Uint8, reduced, 1100, 900, 2, "plain", tiff.Options{Overviews: 3, BlockWidth: 128, BlockHeight: 128})
	points := filepath.Join(folder, "reduced points.tif")
	controlled(t, openImages(t, reduced)[0], points, 20, tiff.Options{Overviews: 2, BlockWidth: 128, BlockHeight: 128})
	for _, size := range []string{"33", "61", "63", "100", "200", "255", "500"} {
		meters, _ := strconv.ParseFloat(size, 64)
		add("an overview that fits "+size, []string{reduced}, 3857, Options{Overview: OverviewAuto, Resampling: Bilinear, Alpha: true, Resolution: [2]float64{meters, meters}}, "-dstalpha", "-ovr", "AUTO", "-tr", size, size)
	}
	for level := range 3 {
		add(fmt.Sprintf("overview %d", level), []string{reduced}, 3857, Options{Overview: level + 1, Resampling: Bilinear, Alpha: true, Resolution: [2]float64{400, 400}, XScale: 1, YScale: 1}, "-dstalpha", "-ovr", fmt.Sprint(level), "-tr", "400", "400", "-wo", "XSCALE=1", "-wo", "YSCALE=1")
	}
	add("an overview with control points", []string{points}, 3857, Options{Overview: 2, Alpha: true, Resolution: [2]float64{300, 300}}, "-dstalpha", "-ovr", "1", "-tr", "300", "300")
	for _, size := range []string{"33", "61", "127"} {
		meters, _ := strconv.ParseFloat(size, 64)
		add("a resolution of "+size, []string{a}, 3857, Options{Resolution: [2]float64{meters, meters}}, "-tr", size, size)
		add("a resolution of "+size+" and two sources", []string{a, b}, 3035, Options{Resolution: [2]float64{meters, meters}, NoData: noData}, "-tr", size, size, "-dstnodata", "255")
		add("a width of "+size, []string{a}, 3857, Options{Width: int(meters)}, "-ts", size, "0")
	}
	add("an extent alone", []string{a}, 3857, Options{Extent: &extent}, te...)
	add("an extent of the source's system", []string{a}, 32633, Options{Extent: &Extent{500020, 5297000, 503000, 5299980}}, "-te", "500020", "5297000", "503000", "5299980")
	for i, e := range []Extent{{15, 47.81, 15.06, 47.84}, {14.9, 47.7, 15.2, 47.95}, {15.01, 47.82, 15.03, 47.825}} {
		add(fmt.Sprintf("extent %d alone, in degrees", i), []string{a}, 4326, Options{Extent: &e}, "-te", fmt.Sprint(e.MinX), fmt.Sprint(e.MinY), fmt.Sprint(e.MaxX), fmt.Sprint(e.MaxY))
	}
	add("an extent in degrees", []string{a}, 3035, Options{Extent: &Extent{15.004, 47.82, 15.05, 47.85}, ExtentCRS: epsg(t, 4326)}, "-te", "15.004", "47.82", "15.05", "47.85", "-te_srs", "EPSG:4326")
	for _, code := range []int{32633, 3857, 3035} {
		crop := []string{"-cutline", area, "-crop_to_cutline", "-dstnodata", "255"}
		add(fmt.Sprintf("the extent of a cutline, EPSG:%d", code), []string{a}, code, Options{Cutline: cutline, CropToCutline: true, NoData: noData}, crop...)
		add(fmt.Sprintf("the extent of a cutline at edges of pixels, EPSG:%d", code), []string{a}, code, Options{Cutline: whole, CropToCutline: true, NoData: noData}, "-cutline", edges, "-crop_to_cutline", "-dstnodata", "255")
		add(fmt.Sprintf("the extent of a cutline and a resolution, EPSG:%d", code), []string{a}, code, Options{Cutline: cutline, CropToCutline: true, NoData: noData, Resolution: [2]float64{40, 40}}, append(crop, "-tr", "40", "40")...)
		add(fmt.Sprintf("the extent of a cutline, aligned, EPSG:%d", code), []string{a}, code, Options{Cutline: cutline, CropToCutline: true, NoData: noData, AlignPixels: true, Resolution: [2]float64{40, 40}}, append(crop, "-tr", "40", "40", "-tap")...)
	}
	add("an extent and a resolution", []string{a}, 3857, Options{Extent: &extent, Resolution: [2]float64{70, 70}}, append(te, "-tr", "70", "70")...)
	add("an extent and a width", []string{a}, 3857, Options{Extent: &extent, Width: 120}, append(te, "-ts", "120", "0")...)
	add("a size", []string{a}, 4326, Options{Width: 100, Height: 70}, "-ts", "100", "70")
	inside := Extent{1671000, 6076500, 1673000, 6079000}
	for _, r := range []Resampling{Bilinear, Cubic, GDALCubicSpline, Lanczos, Average, Mode, Median} {
		add(fmt.Sprintf("the scale that follows from the sizes, %v", r), []string{a}, 3857, Options{Extent: &inside, Resolution: [2]float64{130, 130}, Resampling: r},
			"-te", "1671000", "6076500", "1673000", "6079000", "-tr", "130", "130")
	}
	add("two sources with nodata", []string{a, b}, 3857, Options{NoData: noData, Extent: &extent, Resolution: [2]float64{45, 45}}, append(te, "-dstnodata", "255", "-tr", "45", "45")...)
	add("two sources to alpha", []string{b, a}, 3857, Options{Alpha: true, Extent: &extent, Resolution: [2]float64{45, 45}, Resampling: Bilinear}, append(te, "-dstalpha", "-tr", "45", "45")...)
	add("a cutline", []string{a}, 3857, Options{Cutline: cutline, Alpha: true, Extent: &extent, Resolution: [2]float64{33, 33}}, append(te, "-dstalpha", "-cutline", area, "-tr", "33", "33")...)
	for _, r := range []Resampling{Nearest, Bilinear, Cubic, GDALCubicSpline, Average} {
		for name, output := range map[string]Options{"-dstalpha": {Alpha: true}, "-dstnodata 255": {NoData: noData}, "": {}} {
			o := output
			o.Cutline, o.CutlineBlend, o.Resampling, o.Extent, o.Resolution = cutline, 6.5, r, &extent, [2]float64{33, 33}
			add(fmt.Sprintf("a cutline that blends, %v, %s", r, name), []string{a}, 3857, o, append(append(strings.Fields(name), te...), "-cutline", area, "-cblend", "6.5", "-tr", "33", "33")...)
		}
	}
	add("two sources with a cutline that blends", []string{a, b}, 3857, Options{Cutline: cutline, CutlineBlend: 4, Alpha: true, Extent: &extent, Resolution: [2]float64{45, 45}}, append(te, "-dstalpha", "-cutline", area, "-cblend", "4", "-tr", "45", "45")...)
	add("a mask", []string{masked}, 3857, Options{Alpha: true, Extent: &extent, Resolution: [2]float64{33, 33}, Resampling: Bilinear}, append(te, "-dstalpha", "-tr", "33", "33")...)
	add("nodata ignored", []string{b}, 3857, Options{IgnoreNoData: true, Extent: &extent, Resolution: [2]float64{40, 40}, Resampling: Bilinear}, append(te, "-srcnodata", "None", "-tr", "40", "40")...)
	add("alpha and nodata", []string{both}, 3857, Options{Extent: &extent, Resolution: [2]float64{40, 40}, Resampling: Bilinear}, append(te, "-tr", "40", "40")...)
	runJobs(t, all)
	dev := cpu(t)
	for _, j := range all {
		j.options.Target = epsg(t, j.code)
		name := j.Result + ".quern.tif"
		if err := File(t.Context(), dev, name, openImages(t, j.Sources...), j.options); err != nil {
			t.Errorf("%s: %v", j.name, err)
			continue
		}
		got, want := openImages(t, name)[0], openImages(t, j.Result)[0]
		p, _ := got.Geo.Affine()
		q, _ := want.Geo.Affine()
		for i := range p {
			if math.Abs(p[i]-q[i]) > 1e-9*math.Abs(q[i])+1e-12 {
				t.Errorf("%s: place %v, not %v", j.name, p, q)
				break
			}
		}
		if got.Width != want.Width || got.Height != want.Height || got.Bands != want.Bands || got.NoData != want.NoData {
			t.Errorf("%s: %d x %d pixels, %d bands, nodata %q, not %d x %d, %d, %q", j.name, got.Width, got.Height, got.Bands, got.NoData, want.Width, want.Height, want.Bands, want.NoData)
			continue
		}
		if d := compare(t, got, want); d.pixels > 0 {
			t.Errorf("%s: %d of %d samples differ, by up to %g", j.name, d.pixels, d.of, d.most)
		}
	}
}

var update = flag.Bool("update", false, "let gdalwarp write testdata/golden.json")

// goldenJobs are small outputs. testdata/golden.json has the sums of the pixels that gdalwarp wrote for them.
func goldenJobs(t testing.TB, folder string) []*job {
	var all []*job
	for _, typ := range []tiff.Type{tiff.Uint8, tiff.Int16} {
		for _, kind := range []string{"golden", "golden nodata"} {
			name := filepath.Join(folder, fmt.Sprintf("%v-%s.tif", typ, kind))
			sceneOf(t, typ, name, 90, 80, 2, kind, tiff.Options{})
			for _, target := range targets {
				target.extent = Extent{1669500, 6078000, 1672200, 6080500}
				if target.code == 4326 {
					target.extent = Extent{14.998, 47.835, 15.02, 47.855}
				}
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

func TestPixelsAreThoseThatGDALOnceWrote(t *testing.T) {
	testmodule.NeedSource(t)
	folder := t.TempDir()
	all := goldenJobs(t, folder)
	sum := func(name string) string {
		h := sha256.New()
		for _, v := range values(t, openImages(t, name)[0]) {
			fmt.Fprintln(h, v)
		}
		return hex.EncodeToString(h.Sum(nil)[:12])
	}
	golden := map[string]string{}
	if *update {
		runJobs(t, all)
		for _, j := range all {
			golden[j.name] = sum(j.Result)
		}
		text, err := json.MarshalIndent(golden, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/golden.json", append(text, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(golden) {
		t.Errorf("%d outputs, %d sums: %v", len(all), len(golden), slices.Collect(maps.Keys(golden))[0])
	}
	dev := cpu(t)
	for _, j := range all {
		j.options.Target = epsg(t, j.code)
		name := j.Result + ".quern.tif"
		if err := File(t.Context(), dev, name, openImages(t, j.Sources...), j.options); err != nil {
			t.Fatal(err)
		}
		if sum(name) != golden[j.name] {
			t.Errorf("%s: the pixels differ", j.name)
		}
	}
}
