package wms

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"quern.dev/geo/terrain"
	"quern.dev/geo/tiff"
)

// hills is a height in meters; a part of the surface has none.
func hills(x, y, _ int) float64 {
	if x > 150 && x < 170 && y > 80 && y < 95 {
		return -9999
	}
	u, v := float64(x), float64(y)
	return 300 + 120*math.Sin(u/17)*math.Cos(v/23) + 40*math.Sin((u+2*v)/7) + float64((x*7919+y*104729)%13)/4
}

// surface writes a file of heights of 10 m pixels in UTM zone 33N.
func surface(t testing.TB, width, height int, opt tiff.Options, set func(h *tiff.Header)) string {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack, NoData: "-9999"}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
	if set != nil {
		set(&h)
	}
	return writeFile(t, filepath.Join(t.TempDir(), "surface.tif"), h, opt, hills)
}

// inDegrees places a surface at 47 degrees north.
func inDegrees(h *tiff.Header) {
	h.Geo = tiff.Georeference{}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelGeographic})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: 4326})
	h.Geo.SetAffine(tiff.Affine{15, 0.0001, 0, 47, 0, -0.0001})
}

// mapOf returns a map of a layer in pixels of 10 m of its own system, from column x and row y on.
func mapOf(t *testing.T, s *Server, style string, x, y, width, height int, scale float64) image.Image {
	t.Helper()
	minX, maxY := 500000+10*scale*float64(x), 5300000-10*scale*float64(y)
	return decode(t, get(s, fmt.Sprintf("/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&LAYERS=a&STYLES=%s&CRS=EPSG:32633&BBOX=%s,%s,%s,%s&WIDTH=%d&HEIGHT=%d&FORMAT=image/png&TRANSPARENT=TRUE",
		style, number(minX), number(maxY-10*scale*float64(height)), number(minX+10*scale*float64(width)), number(maxY), width, height)))
}

func TestAHillshadeIsThatOfPackageTerrain(t *testing.T) {
	const width, height = 700, 530
	name := surface(t, width, height, tiff.Options{}, nil)
	s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{name}}}, PageMemory: 64 << 20})
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for parameters, light := range map[string]terrain.Hillshade{"": {}, "&AZIMUTH=0&ALTITUDE=30&ZFACTOR=2.5": {NorthLight: true, Altitude: 30, ZFactor: 2.5}} {
		result := filepath.Join(t.TempDir(), "shade.tif")
		if err := terrain.File(t.Context(), s.renderer.Device(), result, f.Image(), light, terrain.Options{ComputeEdges: true}); err != nil {
			t.Fatal(err)
		}
		shade, err := tiff.Open(result)
		if err != nil {
			t.Fatal(err)
		}
		defer shade.Close()
		want, err := tiff.Read[uint8](t.Context(), shade.Image(), shade.Image().All())
		if err != nil {
			t.Fatal(err)
		}
		im := mapOf(t, s, "hillshade"+parameters, 0, 0, width, height, 1)
		levels := map[uint8]bool{}
		for i, v := range want {
			c := colorAt(im, i%width, i/width)
			if v == 0 && c.A != 0 || v > 0 && (c.R != v || c.G != v || c.B != v || c.A != 255) {
				t.Fatalf("%q: pixel %d, %d is %v, want %d", parameters, i%width, i/width, c, v)
			}
			levels[v] = true
		}
		if len(levels) < 100 || !levels[0] {
			t.Errorf("%d levels", len(levels))
		}
	}
}

func TestAHillshadeIsThatOfGDAL(t *testing.T) {
	if _, err := exec.LookPath("gdaldem"); err != nil {
		t.Skip("gdaldem is missing")
	}
	const width, height = 300, 280
	dem := func(name string) {
		// In degrees, gdaldem of this age has one scale for both axes: it gets the same heights in meters of the middle row.
		out, err := exec.Command("gdaldem", "hillshade", "-q", "-compute_edges", name, name+".shade.tif").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	// Meters per degree at 46.986 degrees on WGS 84, from PROJ's geod.
	const east, north = 76075.86, 111170.57
	for _, c := range []struct {
		name  string
		place func(h *tiff.Header) // of the layer
		judge func(h *tiff.Header) // of gdaldem
		url   string
	}{
		{"meters", nil, nil, "/wms?VERSION=1.3.0&REQUEST=GetMap&LAYERS=a&STYLES=hillshade&CRS=EPSG:32633&BBOX=500000,5297200,503000,5300000&WIDTH=300&HEIGHT=280&FORMAT=image/png"},
		{"degrees", inDegrees, func(h *tiff.Header) { h.Geo.SetAffine(tiff.Affine{0, 0.0001 * east, 0, 0, 0, -0.0001 * north}) },
			"/wms?VERSION=1.3.0&REQUEST=GetMap&LAYERS=a&STYLES=hillshade&CRS=CRS:84&BBOX=15,46.972,15.03,47&WIDTH=300&HEIGHT=280&FORMAT=image/png"},
	} {
		s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{surface(t, width, height, tiff.Options{}, c.place)}}}, PageMemory: 64 << 20})
		name := surface(t, width, height, tiff.Options{}, c.judge)
		dem(name)
		f, err := tiff.Open(name + ".shade.tif")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want, err := tiff.Read[uint8](t.Context(), f.Image(), f.Image().All())
		if err != nil {
			t.Fatal(err)
		}
		im := decode(t, get(s, c.url))
		worst := 0.0
		for i, v := range want {
			x, y := i%width, i/width
			if v != 0 {
				worst = max(worst, math.Abs(float64(colorAt(im, x, y).R)-float64(v)))
			}
		}
		if worst > 1 {
			t.Errorf("%s: the greatest difference is %v", c.name, worst)
		}
	}
}

func TestHeightsOfWebMercatorHaveTheScaleOfTheirLatitude(t *testing.T) {
	// At 60 degrees, 10 m are 5 m on the ground.
	y := 6378137 * math.Log(math.Tan(75*math.Pi/180))
	place := func(code uint16, pixel float64) func(h *tiff.Header) {
		return func(h *tiff.Header) {
			h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: code})
			h.Geo.SetAffine(tiff.Affine{500000, pixel, 0, math.Round(y), 0, -pixel})
		}
	}
	shade := func(code uint16, pixel float64) image.Image {
		s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{surface(t, 128, 128, tiff.Options{}, place(code, pixel))}}}, PageMemory: 64 << 20})
		return decode(t, get(s, fmt.Sprintf("/wms?VERSION=1.3.0&REQUEST=GetMap&LAYERS=a&STYLES=hillshade&CRS=EPSG:%d&BBOX=500000,%s,%s,%s&WIDTH=128&HEIGHT=128&FORMAT=image/png",
			code, number(math.Round(y)-128*pixel), number(500000+128*pixel), number(math.Round(y)))))
	}
	got, want := shade(3857, 10), shade(32633, 5)
	for i := range 128 * 128 {
		a, b := colorAt(got, i%128, i/128), colorAt(want, i%128, i/128)
		if math.Abs(float64(a.R)-float64(b.R)) > 1 {
			t.Fatalf("pixel %d, %d is %v, want %v", i%128, i/128, a, b)
		}
	}
}

func TestShadingsHaveNoSeams(t *testing.T) {
	for what, opt := range map[string]tiff.Options{"without overviews": {BlockWidth: 128, BlockHeight: 128}, "with overviews": {COG: true}} {
		s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{surface(t, 1100, 1060, opt, nil)}}}, PageMemory: 64 << 20, TileCache: -1})
		for _, style := range Shadings() {
			for _, c := range []struct {
				scale               float64
				width, height, tile int
			}{{1, 1024, 1024, 256}, {1, 1100, 1060, 100}, {2, 512, 512, 128}, {4, 256, 256, 64}, {0.5, 768, 512, 256}} {
				large := mapOf(t, s, style, 0, 0, c.width, c.height, c.scale)
				for y := 0; y < c.height; y += c.tile {
					for x := 0; x < c.width; x += c.tile {
						tile := mapOf(t, s, style, x, y, min(c.tile, c.width-x), min(c.tile, c.height-y), c.scale)
						for j := range tile.Bounds().Dy() {
							for i := range tile.Bounds().Dx() {
								if got, want := colorAt(tile, i, j), colorAt(large, x+i, y+j); got != want {
									t.Fatalf("%s, %s at %v: pixel %d, %d of the tile at %d, %d is %v, in the large map %v", what, style, c.scale, i, j, x, y, got, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

func TestSlopesAndReliefs(t *testing.T) {
	// A plane that rises 10 m in 10 m to the east: 45 degrees.
	h := tiff.Header{Width: 64, Height: 64, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
	name := writeFile(t, filepath.Join(t.TempDir(), "plane.tif"), h, tiff.Options{}, func(x, _, _ int) float64 { return 10 * float64(x) })
	s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{name}, Default: Rendering{Shading: "slope", Light: terrain.Hillshade{ZFactor: 0.5}}}}, PageMemory: 64 << 20})
	at := func(style string) uint8 { return colorAt(mapOf(t, s, style, 0, 0, 64, 64, 1), 30, 30).R }
	if got := at("slope&RAMP=gray&RESCALE=0,90&ZFACTOR=1"); got != 127 && got != 128 {
		t.Errorf("a slope of 45 degrees is %d of 255 for 90", got)
	}
	if got, want := at("slope&RAMP=gray&RESCALE=0,90"), 255*math.Atan(0.5)/(math.Pi/2); math.Abs(float64(got)-want) > 1 {
		t.Errorf("a slope with the z factor 0.5 is %d, want %v", got, want)
	}
	if a, b := mapOf(t, s, "", 0, 0, 64, 64, 1), mapOf(t, s, "slope", 0, 0, 64, 64, 1); colorAt(a, 9, 9) != colorAt(b, 9, 9) {
		t.Error("the default is not the slope")
	}
	// Light from the east falls on no slope that rises to the east, so it is darker than under light from the west.
	if east, west := at("relief&AZIMUTH=90&RAMP=gray&RESCALE=0,640"), at("relief&AZIMUTH=270&RAMP=gray&RESCALE=0,640"); east >= west {
		t.Errorf("%d under light from the east, %d from the west", east, west)
	}
	for _, bad := range []string{"hillshade&AZIMUTH=361", "hillshade&ALTITUDE=91", "hillshade&ALTITUDE=0", "hillshade&ZFACTOR=0", "hillshade&ZFACTOR=1,2", "hillshade&AZIMUTH=NaN"} {
		w := get(s, "/wms?VERSION=1.3.0&REQUEST=GetMap&LAYERS=a&CRS=EPSG:32633&BBOX=500000,5299360,500640,5300000&WIDTH=64&HEIGHT=64&FORMAT=image/png&STYLES="+bad)
		if !strings.Contains(w.Body.String(), "InvalidParameterValue") {
			t.Errorf("%s: %s", bad, w.Body)
		}
	}
}

func TestDefaultsOfShadings(t *testing.T) {
	name := surface(t, 64, 64, tiff.Options{}, nil)
	for _, c := range []struct {
		what      string
		byDefault Rendering
		asked     Rendering
		ramp      string
		low, high float64
		shadedAs  string
	}{
		{"a default slope", Rendering{Shading: "slope", Low: []float64{5}, High: []float64{30}, Ramp: "green"}, Rendering{}, "green", 5, 30, "slope"},
		{"a hillshade instead of it", Rendering{Shading: "slope", Low: []float64{5}, High: []float64{30}, Ramp: "green"}, Rendering{Shading: "hillshade"}, "gray", 0, 255, "hillshade"},
		{"heights beside a default hillshade", Rendering{Shading: "hillshade"}, Rendering{Ramp: "ocean", Low: []float64{1}, High: []float64{2}}, "ocean", 1, 2, ""},
		{"a relief with the layer's range and ramp", Rendering{Low: []float64{100}, High: []float64{900}, Ramp: "rainbow"}, Rendering{Shading: "relief"}, "rainbow", 100, 900, "relief"},
		{"a relief in another ramp", Rendering{Low: []float64{100}, High: []float64{900}}, Rendering{Shading: "relief", Ramp: "heat"}, "heat", 100, 900, "relief"},
		{"a relief", Rendering{Low: []float64{100}, High: []float64{900}}, Rendering{Shading: "relief"}, "terrain", 100, 900, "relief"},
		{"a slope", Rendering{Low: []float64{100}, High: []float64{900}, Ramp: "rainbow"}, Rendering{Shading: "slope"}, "heat", 0, 60, "slope"},
	} {
		s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{name}, Default: c.byDefault}}, PageMemory: 1})
		style, ramp, err := s.layers["a"].resolve(c.asked)
		if err != nil || ramp != c.ramp || style.Low[0] != c.low || style.High[0] != c.high || style.Shading != shadings[c.shadedAs].Shading {
			t.Errorf("%s: %v, %s from %v to %v, %v", c.what, style.Shading, ramp, style.Low[0], style.High[0], err)
		}
	}
	three := scene(t, 64, 64, 3, tiff.Options{}, nil)
	s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{three}, Default: Rendering{Bands: []int{2}, Shading: "hillshade"}}}, PageMemory: 1})
	if style, ramp, err := s.layers["a"].resolve(Rendering{Bands: []int{3, 2, 1}}); err != nil || ramp != "" || style.Shading != 0 {
		t.Errorf("three bands of a layer with a hillshade of one: %v %q %v", style.Shading, ramp, err)
	}
	if other, err := New(s.renderer.Device(), Config{Layers: []Layer{{Name: "a", Files: []string{three}, Default: Rendering{Shading: "hillshade"}}}}); err == nil {
		t.Error("a hillshade of three bands")
		other.Close()
	}
}

func TestShadingsAreStylesOfHeights(t *testing.T) {
	s := fixture(t, nil)
	for name, want := range map[string]bool{"dem": true, "days": true, "rgb": false, "parts": false} {
		if got := strings.Contains(strings.Join(s.layers[name].styles(), " "), "hillshade"); got != want {
			t.Errorf("%s: hillshade %v", name, got)
		}
	}
	for _, path := range []string{"/wms?REQUEST=GetCapabilities", "/wms?REQUEST=GetCapabilities&VERSION=1.1.1"} {
		if body := get(s, path).Body.String(); !strings.Contains(body, "<Name>hillshade</Name>") || !strings.Contains(body, "LAYER=dem&amp;STYLE=hillshade") {
			t.Errorf("%s: no style", path)
		}
	}
	var bodies [][]byte
	for _, path := range []string{"/wmts/1.0.0/dem/hillshade/GoogleMapsCompatible/14/5705/8875.png", "/dem/14/8875/5705.png?STYLES=hillshade", "/dem/14/8875/5705.png?style=hillshade",
		"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=dem&STYLE=hillshade&FORMAT=image/png&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=14&TILEROW=5705&TILECOL=8875"} {
		w := get(s, path)
		if c := colorAt(decode(t, w), 200, 200); c.A != 255 || c.R != c.G {
			t.Errorf("%s: %v", path, c)
		}
		bodies = append(bodies, get(s, path).Body.Bytes())
	}
	for _, body := range bodies {
		if !bytes.Equal(bodies[0], body) {
			t.Error("the same tile has different bytes")
		}
	}
	if w := get(s, "/dem/14/8875/5705.png?STYLE=hill"); w.Code != 400 {
		t.Errorf("a style that does not exist: %d", w.Code)
	}
	for _, style := range Shadings() {
		if w := get(s, legendPath("dem", style)); w.Header().Get("Content-Type") != "image/png" {
			t.Errorf("the legend of %s: %s", style, w.Body)
		}
	}
	for _, c := range []Rendering{{Shading: "hill"}, {Shading: "hillshade", Light: terrain.Hillshade{Altitude: -1}}, {Shading: "hillshade", Light: terrain.Hillshade{Scale: 2}}} {
		other, err := New(s.renderer.Device(), Config{Layers: []Layer{{Name: "a", Files: s.layers["dem"].Files, Default: c}}})
		if err == nil {
			t.Errorf("%+v: no error", c)
			other.Close()
		}
	}
	if w := get(s, strings.Replace(inUTM, "STYLES=", "STYLES=hillshade", 1)+"&LAYERS=rgb"); !strings.Contains(w.Body.String(), "StyleNotDefined") {
		t.Errorf("three bands: %s", w.Body)
	}
}

func TestMoreRenderingsThanHaveMemory(t *testing.T) {
	name := surface(t, 64, 64, tiff.Options{}, nil)
	s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{name}}}, PageMemory: 64 << 20, TileCache: -1})
	l := s.layers["a"]
	style := func(i int) string { return fmt.Sprintf("hillshade&AZIMUTH=%d", 1+i%100) }
	first := make([]image.Image, 100)
	for i := range first {
		first[i] = mapOf(t, s, style(i), 0, 0, 64, 64, 1)
	}
	forgotten, err := l.look(Rendering{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forgotten.viewsOf(l.frames[0], s.systems[0]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			if got := mapOf(t, s, style(i), 0, 0, 64, 64, 1); !reflect.DeepEqual(got, first[i%100]) {
				t.Errorf("map %d differs from the first one", i)
			}
		})
	}
	wg.Wait()
	if len(l.looks) > mostLooks {
		t.Errorf("%d renderings have memory", len(l.looks))
	}
	if !forgotten.gone || len(forgotten.source) == 0 || len(forgotten.views) == 0 {
		t.Error("the memory of a rendering was freed while a map was drawn")
	}
	if err := forgotten.drawn(); err != nil || len(forgotten.source) > 0 || len(forgotten.views) > 0 {
		t.Errorf("the memory of a rendering stays after the last map: %v", err)
	}
}
