package wms

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quern.dev/geo/tiff"
)

// get sends a request and returns the response.
func get(s http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	q := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	return w
}

// fixture is a server with a layer of each kind:
//
//	rgb    three bands, in UTM zone 33N, 256 x 256 pixels of 10 m
//	dem    a band of float32 with NoData, without overviews
//	days   dem at three times
//	parts  two files side by side
func fixture(t testing.TB, change func(c *Config)) *Server {
	t.Helper()
	folder := t.TempDir()
	at := func(x float64) func(h *tiff.Header) {
		return func(h *tiff.Header) { h.Geo.SetAffine(tiff.Affine{500000 + x, 10, 0, 5300000, 0, -10}) }
	}
	header := func(bands int, kind tiff.Type, set func(h *tiff.Header)) tiff.Header {
		h := tiff.Header{Width: 256, Height: 256, Bands: bands, Type: kind, Photometric: tiff.MinIsBlack}
		if bands == 3 {
			h.Photometric = tiff.RGB
		}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		set(&h)
		return h
	}
	flat := func(values ...float64) func(x, y, band int) float64 {
		return func(x, y, band int) float64 { return values[band] }
	}
	dem := func(add float64) func(x, y, band int) float64 {
		return func(x, y, band int) float64 {
			if x < 20 && y < 20 {
				return -9999
			}
			return float64(x) + add
		}
	}
	none := func(h *tiff.Header) { at(0)(h); h.NoData = "-9999" }
	writeFile(t, filepath.Join(folder, "rgb.tif"), header(3, tiff.Uint8, at(0)), tiff.Options{COG: true}, flat(200, 100, 50))
	writeFile(t, filepath.Join(folder, "dem.tif"), header(1, tiff.Float32, none), tiff.Options{}, dem(0))
	for _, name := range []string{"days", "parts"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"a_20260101.tif", "a_20260102.tif", "a_20260103T1230.tif"} {
		writeFile(t, filepath.Join(folder, "days", name), header(1, tiff.Float32, none), tiff.Options{}, dem(1000*float64(i)))
	}
	writeFile(t, filepath.Join(folder, "parts", "left.tif"), header(3, tiff.Uint8, at(0)), tiff.Options{}, flat(10, 20, 30))
	writeFile(t, filepath.Join(folder, "parts", "right.tif"), header(3, tiff.Uint8, at(2560)), tiff.Options{}, flat(40, 50, 60))
	layers, err := FindLayers(folder)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Layers: layers, PageMemory: 64 << 20}
	if change != nil {
		change(&c)
	}
	return server(t, c)
}

// What most requests begin with. The map has the 256 x 256 pixels of layer rgb.
const (
	inUTM  = "/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&STYLES=&CRS=EPSG:32633&BBOX=500000,5297440,502560,5300000&WIDTH=256&HEIGHT=256&FORMAT=image/png"
	inUTM1 = "/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&STYLES=&SRS=EPSG:32633&BBOX=500000,5297440,502560,5300000&WIDTH=256&HEIGHT=256&FORMAT=image/png"
)

func decode(t *testing.T, w *httptest.ResponseRecorder) image.Image {
	t.Helper()
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var im image.Image
	var err error
	switch w.Header().Get("Content-Type") {
	case "image/png":
		im, err = png.Decode(w.Body)
	case "image/jpeg":
		im, err = jpeg.Decode(w.Body)
	default:
		t.Fatalf("%s: %s", w.Header().Get("Content-Type"), w.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func colorAt(im image.Image, x, y int) color.NRGBA {
	return color.NRGBAModel.Convert(im.At(x, y)).(color.NRGBA)
}

func TestGetMap(t *testing.T) {
	s := fixture(t, nil)
	orange, white, none := color.NRGBA{200, 100, 50, 255}, color.NRGBA{255, 255, 255, 255}, color.NRGBA{}
	for _, c := range []struct {
		name, url string
		x, y      int
		want      color.NRGBA
	}{
		{"1.3.0", inUTM + "&LAYERS=rgb", 128, 128, orange},
		{"1.1.1", inUTM1 + "&LAYERS=rgb", 128, 128, orange},
		{"names of parameters have no case", strings.NewReplacer("SERVICE", "service", "BBOX", "bBox", "WIDTH", "width").Replace(inUTM) + "&layers=rgb", 128, 128, orange},
		{"layers from the bottom to the top", inUTM + "&LAYERS=dem,rgb", 200, 128, orange},
		{"a ramp from its first color", inUTM + "&LAYERS=dem&RAMP=gray&RESCALE=0,255&TRANSPARENT=TRUE", 100, 100, color.NRGBA{100, 100, 100, 255}},
		{"a style", strings.Replace(inUTM, "STYLES=", "STYLES=gray", 1) + "&LAYERS=dem&RESCALE=0,255", 50, 100, color.NRGBA{50, 50, 50, 255}},
		{"no data is transparent", inUTM + "&LAYERS=dem&TRANSPARENT=TRUE", 5, 5, none},
		{"no data is white", inUTM + "&LAYERS=dem", 5, 5, white},
		{"no data has the background's color", inUTM + "&LAYERS=dem&BGCOLOR=0x102030", 5, 5, color.NRGBA{0x10, 0x20, 0x30, 255}},
		{"bands in another order", inUTM + "&LAYERS=rgb&BANDS=3,2,1", 9, 9, color.NRGBA{50, 100, 200, 255}},
		{"one band", inUTM + "&LAYERS=rgb&BANDS=2", 9, 9, color.NRGBA{100, 100, 100, 255}},
		{"another range", inUTM + "&LAYERS=rgb&RESCALE=0,200", 9, 9, color.NRGBA{255, 128, 64, 255}},
		{"ranges of bands", inUTM + "&LAYERS=rgb&RESCALE=0,400,0,200,0,100", 9, 9, color.NRGBA{128, 128, 128, 255}},
		{"the left file", inUTM + "&LAYERS=parts", 250, 9, color.NRGBA{10, 20, 30, 255}},
		{"the right file", strings.Replace(inUTM, "500000,5297440,502560", "502560,5297440,505120", 1) + "&LAYERS=parts", 5, 9, color.NRGBA{40, 50, 60, 255}},
		{"the last time", inUTM + "&LAYERS=days&RESCALE=2000,2255", 100, 100, color.NRGBA{100, 100, 100, 255}},
		{"another time", inUTM + "&LAYERS=days&RESCALE=1000,1255&TIME=2026-01-02", 100, 100, color.NRGBA{100, 100, 100, 255}},
		{"a time with hours", inUTM + "&LAYERS=days&RESCALE=2000,2255&TIME=2026-01-03T12:30:00Z", 100, 100, color.NRGBA{100, 100, 100, 255}},
		{"latitude comes first in 1.3.0", strings.NewReplacer("CRS=EPSG:32633", "CRS=EPSG:4326", "500000,5297440,502560,5300000", "47.84,15.01,47.85,15.02").Replace(inUTM) + "&LAYERS=rgb", 128, 128, orange},
		{"longitude comes first in CRS:84", strings.NewReplacer("CRS=EPSG:32633", "CRS=CRS:84", "500000,5297440,502560,5300000", "15.01,47.84,15.02,47.85").Replace(inUTM) + "&LAYERS=rgb", 128, 128, orange},
		{"longitude comes first in 1.1.1", strings.NewReplacer("SRS=EPSG:32633", "SRS=EPSG:4326", "500000,5297440,502560,5300000", "15.01,47.84,15.02,47.85").Replace(inUTM1) + "&LAYERS=rgb", 128, 128, orange},
		{"outside of the layer", strings.Replace(inUTM, "500000,5297440,502560", "600000,5297440,602560", 1) + "&LAYERS=rgb", 128, 128, white},
		{"outside of the projection", strings.NewReplacer("CRS=EPSG:32633", "CRS=EPSG:3857", "500000,5297440,502560,5300000", "-90000000,-90000000,90000000,90000000").Replace(inUTM) + "&LAYERS=rgb", 1, 1, white},
		{"exact positions", inUTM + "&LAYERS=rgb&EXACT=TRUE", 128, 128, orange},
		{"XYZ", "/rgb/14/8875/5705.png", 200, 200, orange},
		{"XYZ of twice the size", "/rgb/14/8875/5705@2x.png", 400, 200, orange},
		{"XYZ outside", "/rgb/14/0/0.png", 100, 100, none},
		{"WMTS with parameters", "/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=rgb&STYLE=default&FORMAT=image/png&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=14&TILEROW=5705&TILECOL=8875", 200, 200, orange},
		{"WMTS resources", "/wmts/1.0.0/rgb/default/GoogleMapsCompatible/14/5705/8875.png", 200, 200, orange},
		{"WMTS in the layer's own system", "/wmts/1.0.0/rgb/default/native-rgb/0/0/0.png", 200, 200, orange},
		{"WMTS with a time", "/wmts/1.0.0/days/default/2026-01-02/native-days/0/0/0.png?RESCALE=1000,1255", 100, 100, color.NRGBA{100, 100, 100, 255}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := colorAt(decode(t, get(s, c.url)), c.x, c.y)
			near := func(a, b uint8) bool { return math.Abs(float64(a)-float64(b)) <= 1 }
			if got != c.want && !(near(got.R, c.want.R) && near(got.G, c.want.G) && near(got.B, c.want.B) && got.A == c.want.A) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	im := decode(t, get(s, strings.Replace(inUTM, "image/png", "image/jpeg", 1)+"&LAYERS=rgb"))
	if c := colorAt(im, 99, 99); math.Abs(float64(c.R)-200) > 4 {
		t.Errorf("JPEG: %v", c)
	}
	im = decode(t, get(s, strings.NewReplacer("WIDTH=256", "WIDTH=64", "HEIGHT=256", "HEIGHT=16").Replace(inUTM)+"&LAYERS=rgb"))
	if im.Bounds() != image.Rect(0, 0, 64, 16) {
		t.Errorf("bounds %v", im.Bounds())
	}
}

func TestAGeoTIFFKnowsItsPlace(t *testing.T) {
	s := fixture(t, nil)
	w := get(s, strings.Replace(inUTM, "image/png", "image/tiff", 1)+"&LAYERS=rgb&TRANSPARENT=TRUE")
	f, err := tiff.NewFile(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()), tiff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	im := f.Image()
	a, _ := im.Geo.Affine()
	code, _ := im.Geo.Keys.EPSG()
	pixels, err := tiff.Read[uint8](t.Context(), im, tiff.Region{X: 7, Y: 9, Width: 1, Height: 1})
	if err != nil || code != 32633 || a != (tiff.Affine{500000, 10, 0, 5300000, 0, -10}) || fmt.Sprint(pixels) != "[200 100 50 255]" {
		t.Errorf("EPSG:%d %v %v %v", code, a, pixels, err)
	}
}

// report is a ServiceExceptionReport or an ExceptionReport.
type report struct {
	XMLName  xml.Name
	Services []struct {
		Code string `xml:"code,attr"`
		Text string `xml:",chardata"`
	} `xml:"ServiceException"`
	Exceptions []struct {
		Code    string `xml:"exceptionCode,attr"`
		Locator string `xml:"locator,attr"`
	} `xml:"Exception"`
}

func TestExceptions(t *testing.T) {
	s := fixture(t, nil)
	change := func(old, new string) string { return strings.Replace(inUTM+"&LAYERS=rgb", old, new, 1) }
	for _, c := range []struct{ name, url, code string }{
		{"minimum above maximum", change("500000,5297440,502560,5300000", "502560,5297440,500000,5300000"), "InvalidParameterValue"},
		{"minimum equal to maximum", change("500000,5297440,502560,5300000", "500000,5297440,500000,5300000"), "InvalidParameterValue"},
		{"three numbers", change("500000,5297440,502560,5300000", "500000,5297440,502560"), "InvalidParameterValue"},
		{"not a number", change("500000,", "NaN,"), "InvalidParameterValue"},
		{"an infinite number", change("500000,", "-1e999,"), "InvalidParameterValue"},
		{"no box", change("&BBOX=500000,5297440,502560,5300000", ""), "MissingParameterValue"},
		{"unknown layer", inUTM + "&LAYERS=rgb,nothing", "LayerNotDefined"},
		{"path as a layer", inUTM + "&LAYERS=../../etc/passwd", "LayerNotDefined"},
		{"no layers", inUTM + "&LAYERS=", "LayerNotDefined"},
		{"layers missing", inUTM, "LayerNotDefined"},
		{"too many layers", inUTM + "&LAYERS=" + strings.Repeat("rgb,", 40) + "rgb", "InvalidParameterValue"},
		{"unknown style", change("STYLES=", "STYLES=blue"), "StyleNotDefined"},
		{"too many styles", change("STYLES=", "STYLES=,"), "StyleNotDefined"},
		{"a ramp for three bands", change("STYLES=", "STYLES=heat"), "StyleNotDefined"},
		{"unknown system", change("EPSG:32633", "EPSG:31467"), "InvalidCRS"},
		{"no system", change("&CRS=EPSG:32633", ""), "MissingParameterValue"},
		{"unknown format", change("image/png", "image/webp"), "InvalidFormat"},
		{"no format", change("&FORMAT=image/png", ""), "MissingParameterValue"},
		{"width 0", change("WIDTH=256", "WIDTH=0"), "InvalidParameterValue"},
		{"negative height", change("HEIGHT=256", "HEIGHT=-5"), "InvalidParameterValue"},
		{"absurd width", change("WIDTH=256", "WIDTH=1000000000"), "InvalidParameterValue"},
		{"width beyond 64 bits", change("WIDTH=256", "WIDTH=99999999999999999999999"), "InvalidParameterValue"},
		{"no width", change("&WIDTH=256", ""), "MissingParameterValue"},
		{"color that is none", change("STYLES=", "BGCOLOR=red&STYLES="), "InvalidParameterValue"},
		{"transparent perhaps", change("STYLES=", "TRANSPARENT=PERHAPS&STYLES="), "InvalidParameterValue"},
		{"band 4", change("STYLES=", "BANDS=4&STYLES="), "InvalidParameterValue"},
		{"band -1", change("STYLES=", "BANDS=-1,1,1&STYLES="), "InvalidParameterValue"},
		{"two bands", change("STYLES=", "BANDS=1,2&STYLES="), "InvalidParameterValue"},
		{"an empty range", change("STYLES=", "RESCALE=5,5&STYLES="), "InvalidParameterValue"},
		{"an odd range", change("STYLES=", "RESCALE=5&STYLES="), "InvalidParameterValue"},
		{"unknown ramp", change("STYLES=", "RAMP=pink&BANDS=1&STYLES="), "InvalidParameterValue"},
		{"a time without a map", inUTM + "&LAYERS=days&TIME=1999-01-01", "InvalidDimensionValue"},
		{"two times", inUTM + "&LAYERS=days&TIME=2026-01-01,2026-01-02", "InvalidDimensionValue"},
		{"an interval", inUTM + "&LAYERS=days&TIME=2026-01-01/2026-01-03", "InvalidDimensionValue"},
		{"an interval with a period", inUTM + "&LAYERS=days&TIME=2026-01-01/2026-01-03/P1D", "InvalidDimensionValue"},
		{"a style of the client", inUTM + "&LAYERS=rgb&SLD_BODY=%3CStyledLayerDescriptor/%3E", "OperationNotSupported"},
		{"a file with a style", inUTM + "&LAYERS=rgb&SLD=http://example.com/a.sld", "OperationNotSupported"},
		{"a time that is none", inUTM + "&LAYERS=days&TIME=yesterday", "InvalidDimensionValue"},
		{"unknown operation", "/wms?SERVICE=WMS&REQUEST=GetRich", "OperationNotSupported"},
		{"no operation", "/wms?SERVICE=WMS", "MissingParameterValue"},
		{"another service", "/wms?SERVICE=WFS&REQUEST=GetCapabilities", "InvalidParameterValue"},
		{"a query that is not encoded", "/wms?SERVICE=WMS&REQUEST=%zz", "InvalidParameterValue"},
		{"a point outside of the map", strings.Replace(change("GetMap", "GetFeatureInfo"), "FORMAT", "QUERY_LAYERS=rgb&I=256&J=1&FORMAT", 1), "InvalidPoint"},
		{"a layer that is not in the map", strings.Replace(change("GetMap", "GetFeatureInfo"), "FORMAT", "QUERY_LAYERS=dem&I=1&J=1&FORMAT", 1), "LayerNotDefined"},
		{"values as a film", strings.Replace(change("GetMap", "GetFeatureInfo"), "FORMAT", "QUERY_LAYERS=rgb&I=1&J=1&INFO_FORMAT=video/mp4&FORMAT", 1), "InvalidFormat"},
		{"a legend without a layer", "/wms?REQUEST=GetLegendGraphic", "MissingParameterValue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := get(s, c.url)
			var r report
			if err := xml.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/xml") {
				t.Fatalf("%d %s %v: %s", w.Code, w.Header().Get("Content-Type"), err, w.Body)
			}
			if r.XMLName.Space != "http://www.opengis.net/ogc" || len(r.Services) != 1 || r.Services[0].Code != c.code || r.Services[0].Text == "" {
				t.Errorf("%+v, want %s", r, c.code)
			}
			if strings.Contains(c.url, "GetMap") {
				old := get(s, strings.NewReplacer("VERSION=1.3.0", "VERSION=1.1.1", "CRS=", "SRS=").Replace(c.url))
				if kind := old.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/vnd.ogc.se_xml") {
					t.Errorf("1.1.1: %s: %s", kind, old.Body)
				}
			}
		})
	}
	if w := get(s, strings.Replace(inUTM1, "EPSG:32633", "EPSG:1", 1)+"&LAYERS=rgb"); !strings.Contains(w.Body.String(), `code="InvalidSRS"`) {
		t.Errorf("1.1.1: %s", w.Body)
	}
	for _, c := range []struct {
		url, code string
		status    int
	}{
		{"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=rgb&STYLE=default&FORMAT=image/png&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=3&TILEROW=8&TILECOL=0", "TileOutOfRange", 400},
		{"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=rgb&STYLE=default&FORMAT=image/png&TILEMATRIXSET=other&TILEMATRIX=3&TILEROW=8&TILECOL=0", "InvalidParameterValue", 400},
		{"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&STYLE=default", "MissingParameterValue", 400},
		{"/wmts?SERVICE=WMTS&REQUEST=GetTiles", "OperationNotSupported", 501},
		{"/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&UPDATESEQUENCE=x", "InvalidUpdateSequence", 400},
		{"/wmts?SERVICE=WMTS&REQUEST=GetFeatureInfo&VERSION=1.0.0&LAYER=rgb&STYLE=default&FORMAT=image/png&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=3&TILEROW=0&TILECOL=0&I=256&J=0", "PointIJOutOfRange", 400},
		{"/wmts?REQUEST=GetTile", "MissingParameterValue", 400},
		{"/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=2.0.0", "VersionNegotiationFailed", 400},
		{"/wmts/1.0.0/rgb/default/GoogleMapsCompatible/3/0/8.png", "TileOutOfRange", 404},
		{"/wmts/1.0.0/nothing/default/GoogleMapsCompatible/3/0/0.png", "InvalidParameterValue", 404},
		{"/wmts/1.0.0/rgb/default", "InvalidParameterValue", 404},
		{"/wmts/2.0.0", "InvalidParameterValue", 404},
	} {
		w := get(s, c.url)
		var r report
		if err := xml.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != c.status || len(r.Exceptions) != 1 || r.Exceptions[0].Code != c.code {
			t.Errorf("%s: %d %v %+v, want %s", c.url, w.Code, err, r, c.code)
		}
	}
	for path, status := range map[string]int{"/rgb/25/0/0.png": 404, "/rgb/3/8/0.png": 404, "/rgb/3/-1/0.png": 404, "/nothing/3/0/0.png": 404, "/rgb/3/0/0.webp": 400, "/rgb/a/b/c.png": 400,
		"/../../etc/passwd": 404, "/%2e%2e/%2e%2e/etc/passwd": 404, "/nothing/tile.json": 404, "/a/b/c/d/e/f": 404} {
		if w := get(s, path); w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
	if c := colorAt(decode(t, get(s, inUTM+"&LAYERS=rgb")), 9, 9); c.R != 200 {
		t.Errorf("after all that, a map has %v", c)
	}
}

func TestExceptionsInImages(t *testing.T) {
	s := fixture(t, nil)
	for _, kind := range []string{"INIMAGE", "BLANK", "application/vnd.ogc.se_inimage", "application/vnd.ogc.se_blank"} {
		im := decode(t, get(s, inUTM+"&LAYERS=nothing&BGCOLOR=0x00FF00&EXCEPTIONS="+kind))
		colors := map[color.NRGBA]bool{}
		for y := range 256 {
			for x := range 256 {
				colors[colorAt(im, x, y)] = true
			}
		}
		want := 1
		if strings.HasSuffix(strings.ToLower(kind), "inimage") {
			want = 2
		}
		if len(colors) != want || !colors[color.NRGBA{0, 255, 0, 255}] || im.Bounds().Dx() != 256 {
			t.Errorf("%s: colors %v", kind, colors)
		}
	}
}

func TestFeatureInfo(t *testing.T) {
	s := fixture(t, nil)
	info := strings.Replace(inUTM, "GetMap", "GetFeatureInfo", 1) + "&LAYERS=rgb,dem&QUERY_LAYERS=dem,rgb&I=100&J=50&INFO_FORMAT="
	for kind, want := range map[string]string{"text/plain": "band 1 = 100", "text/html": "<td>100</td>", "text/xml": `<Band number="1">100</Band>`, "application/json": `"values":[100]`} {
		if w := get(s, info+kind); !strings.Contains(w.Body.String(), want) || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
			t.Errorf("%s: %s", w.Header().Get("Content-Type"), w.Body)
		}
	}
	var got information
	w := get(s, "/wmts/1.0.0/days/default/2026-01-02/native-days/0/0/0/50/100.json")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Points) != 1 || *got.Points[0].Values[0] != 1100 || got.Points[0].Column != 100 || got.Points[0].Row != 50 {
		t.Errorf("%v: %s", err, w.Body)
	}
	old := strings.Replace(inUTM1, "GetMap", "GetFeatureInfo", 1) + "&LAYERS=dem&QUERY_LAYERS=dem&X=3&Y=4&INFO_FORMAT=application/json"
	if w := get(s, old); !strings.Contains(w.Body.String(), `"values":[null]`) {
		t.Errorf("no data: %s", w.Body)
	}
}

func TestTilesAreKept(t *testing.T) {
	s := fixture(t, nil)
	const path = "/rgb/14/8875/5705.png"
	first := get(s, path)
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("headers %v", first.Header())
	}
	if again := get(s, path); !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) {
		t.Error("the second answer differs")
	}
	if hits, misses, kept := s.cache.counts(); hits != 1 || misses != 1 || kept != 1 {
		t.Errorf("%d hits, %d misses, %d kept", hits, misses, kept)
	}
	if w := get(s, path, "If-None-Match", `"x", W/`+tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("status %d", w.Code)
	}
	if w := get(s, path, "If-None-Match", `"x"`); w.Code != 200 {
		t.Errorf("status %d", w.Code)
	}
	if other := get(s, path+"?BANDS=1"); other.Header().Get("ETag") == tag {
		t.Error("another style has the same tag")
	}
	q := httptest.NewRequest("HEAD", path, nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	if w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != fmt.Sprint(first.Body.Len()) {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", path, nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestTheTileCacheIsBounded(t *testing.T) {
	c := newTileCache(10 * (1000 + overhead + 4))
	for i := range 100 {
		if _, err := c.get(t.Context(), fmt.Sprintf("%04d", i), func() (answer, error) { return answer{body: make([]byte, 1000)}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, kept := c.counts(); kept != 10 {
		t.Errorf("%d kept", kept)
	}
	if _, err := c.get(t.Context(), "large", func() (answer, error) { return answer{body: make([]byte, 1<<20)}, nil }); err != nil {
		t.Fatal(err)
	}
	if _, _, kept := c.counts(); kept != 0 || c.room != 10*(1000+overhead+4) {
		t.Errorf("%d kept, room %d", kept, c.room)
	}
}

func TestManyRequestsAtATime(t *testing.T) {
	s := fixture(t, func(c *Config) { c.TileCache = -1; c.Concurrent = 3; c.PageMemory = 1 })
	urls := []string{"/rgb/14/8875/5705.png", "/dem/13/4437/2852.png", "/days/13/4437/2852.png?TIME=2026-01-02", inUTM + "&LAYERS=parts,dem", "/rgb/9/277/178.jpg"}
	want := make([][]byte, len(urls))
	for i, u := range urls {
		want[i] = get(s, u).Body.Bytes()
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 10 {
				k := (g + i) % len(urls)
				if w := get(s, urls[k]); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want[k]) {
					t.Errorf("%s: status %d, or another body", urls[k], w.Code)
				}
			}
		})
	}
	wg.Wait()
	w := get(s, "/metrics")
	if !strings.Contains(w.Body.String(), `quern_wms_request_seconds_count{operation="tile",status="200"}`) {
		t.Errorf("metrics: %s", w.Body)
	}
}

func TestABusyServerSaysSo(t *testing.T) {
	s := fixture(t, func(c *Config) { c.Concurrent = 1; c.Queue = 1; c.Timeout = 50 * time.Millisecond; c.TileCache = -1 })
	s.slots <- struct{}{} // a map that takes forever
	w := get(s, "/rgb/14/8875/5705.png")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "too long") {
		t.Errorf("after the timeout: %d %v %s", w.Code, w.Header(), w.Body)
	}
	s.waiting.Add(1)
	if w := get(s, inUTM+"&LAYERS=rgb"); w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "ServiceException") {
		t.Errorf("with a full queue: %d %v %s", w.Code, w.Header(), w.Body)
	}
	s.waiting.Add(-1)
	<-s.slots
	if w := get(s, "/rgb/14/8875/5705.png"); w.Code != 200 {
		t.Errorf("later: %d %s", w.Code, w.Body)
	}
}

func TestAPanicEndsOneRequest(t *testing.T) {
	s := fixture(t, nil)
	l := s.layers["rgb"]
	s.layers["rgb"] = &layer{} // something that must not be
	if w := get(s, "/rgb/14/8875/5705.png"); w.Code != 500 {
		t.Errorf("status %d", w.Code)
	}
	s.layers["rgb"] = l
	if w := get(s, "/rgb/14/8875/5705.png"); w.Code != 200 || s.metrics.panics.Load() != 1 {
		t.Errorf("status %d after %d panics", w.Code, s.metrics.panics.Load())
	}
}

func TestFilesThatChangeWhileTheyAreServed(t *testing.T) {
	folder := t.TempDir()
	names := []string{"deleted", "truncated", "healthy"}
	for _, n := range names {
		data, err := os.ReadFile(scene(t, 1024, 1024, 3, tiff.Options{BlockWidth: 128, BlockHeight: 128}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, n+".tif"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	layers, err := FindLayers(folder)
	if err != nil {
		t.Fatal(err)
	}
	s := server(t, Config{Layers: layers, PageMemory: 64 << 20})
	if err := os.Remove(filepath.Join(folder, "deleted.tif")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(folder, "truncated.tif"), 5000); err != nil {
		t.Fatal(err)
	}
	const box = "&LAYERS="
	if w := get(s, inUTM+box+"deleted"); w.Code != 200 || w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("a deleted file that is open: %d %s", w.Code, w.Body)
	}
	for range 2 {
		if w := get(s, inUTM+box+"truncated"); w.Code != 500 || !strings.Contains(w.Body.String(), "ServiceException") || strings.Contains(w.Body.String(), folder) {
			t.Errorf("a truncated file: %d %s", w.Code, w.Body)
		}
	}
	if w := get(s, inUTM+box+"healthy"); w.Code != 200 || w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("another file: %d %s", w.Code, w.Body)
	}
}

func TestLayersOfFolders(t *testing.T) {
	s := fixture(t, nil)
	var names []string
	for _, l := range s.order {
		names = append(names, fmt.Sprint(l.Name, " ", len(l.frames), " ", len(l.frames[0].images)))
	}
	if got := strings.Join(names, ", "); got != "days 3 1, dem 1 1, parts 1 2, rgb 1 1" {
		t.Error(got)
	}
	for name, want := range map[string]string{"a_20260131.tif": "2026-01-31T00:00:00Z", "2026-01-31.tif": "2026-01-31T00:00:00Z", "S2_20260131T101112_x.tif": "2026-01-31T10:11:12Z",
		"2026_01_31-1011.tif": "2026-01-31T10:11:00Z", "20261331.tif": "", "x.tif": "", "123456789.tif": ""} {
		at, ok := dateOf(name)
		if ok != (want != "") || ok && formatTime(at) != want {
			t.Errorf("%s: %v %v, want %s", name, at, ok, want)
		}
	}
	if _, err := FindLayers(t.TempDir()); err == nil {
		t.Error("an empty folder has layers")
	}
	if _, err := FindLayers(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a folder that is missing has layers")
	}
}

func TestCapabilitiesAreWellFormed(t *testing.T) {
	s := fixture(t, func(c *Config) { c.Title = `A "title" <with> & signs` })
	for _, path := range []string{"/wms?REQUEST=GetCapabilities", "/wms?REQUEST=GetCapabilities&VERSION=1.1.1", "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities", "/wmts/1.0.0/WMTSCapabilities.xml"} {
		w := get(s, path)
		d := xml.NewDecoder(w.Body)
		texts := map[string][]string{}
		last := ""
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				last = token.Name.Local
			case xml.CharData:
				if text := strings.TrimSpace(string(token)); text != "" {
					texts[last] = append(texts[last], text)
				}
			}
		}
		if texts["Title"][0] != s.config.Title {
			t.Errorf("%s: title %q", path, texts["Title"][0])
		}
		for _, name := range []string{"days", "dem", "parts", "rgb"} {
			if !strings.Contains(strings.Join(append(texts["Name"], texts["Identifier"]...), " "), name) {
				t.Errorf("%s: no layer %s", path, name)
			}
		}
	}
	sequence := s.version
	if w := get(s, "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE="+sequence); !strings.Contains(w.Body.String(), "CurrentUpdateSequence") {
		t.Errorf("the same sequence: %s", w.Body)
	}
	if w := get(s, "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE=2025-01-01T00:00:00Z"); w.Body.Len() < 10000 {
		t.Errorf("a client with an older sequence: %s", w.Body)
	}
	if w := get(s, "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE=9999"); !strings.Contains(w.Body.String(), "InvalidUpdateSequence") {
		t.Errorf("a greater sequence: %.300s", w.Body)
	}
	if w := get(s, "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&UPDATESEQUENCE="+sequence); strings.Contains(w.Body.String(), "Contents") || !strings.Contains(w.Body.String(), `updateSequence="`+sequence) {
		t.Errorf("WMTS, the same sequence: %.300s", w.Body)
	}
	var j tileJSON
	if err := json.Unmarshal(get(s, "/rgb/tile.json").Body.Bytes(), &j); err != nil || j.MinZoom != 13 || j.MaxZoom != 14 || math.Abs(j.Bounds[0]-15) > 1e-6 {
		t.Errorf("%v %+v", err, j)
	}
	if w := get(s, "/", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() > 100<<10 {
		t.Errorf("the page has %d bytes, %v", w.Body.Len(), w.Header())
	}
	if w := get(s, "/"); !strings.Contains(w.Body.String(), "<!doctype html>") {
		t.Error("the plain page is no HTML")
	}
	if w := get(s, legendPath("dem", "heat")); w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("legend: %s", w.Body)
	}
}

// children are the elements of an element, in the order of the schemas and document types of the standards.
var children = map[string]string{
	"WMS_Capabilities":         "Service Capability",
	"WMT_MS_Capabilities":      "Service Capability",
	"Service":                  "Name Title Abstract KeywordList OnlineResource ContactInformation Fees AccessConstraints LayerLimit MaxWidth MaxHeight",
	"Capability":               "Request Exception Layer",
	"Request":                  "GetCapabilities GetMap GetFeatureInfo",
	"GetCapabilities":          "Format DCPType",
	"GetMap":                   "Format DCPType",
	"GetFeatureInfo":           "Format DCPType",
	"EX_GeographicBoundingBox": "westBoundLongitude eastBoundLongitude southBoundLatitude northBoundLatitude",
	"LegendURL":                "Format OnlineResource",
	"Capabilities":             "ServiceIdentification OperationsMetadata Contents ServiceMetadataURL",
	"ServiceIdentification":    "Title Abstract ServiceType ServiceTypeVersion",
	"Contents":                 "Layer TileMatrixSet",
	"WGS84BoundingBox":         "LowerCorner UpperCorner",
	"Dimension":                "Identifier UOM Default Current Value",
	"TileMatrixSetLink":        "TileMatrixSet TileMatrixSetLimits",
	"TileMatrixLimits":         "TileMatrix MinTileRow MaxTileRow MinTileCol MaxTileCol",
	"TileMatrixSet":            "Identifier SupportedCRS WellKnownScaleSet TileMatrix",
	"TileMatrix":               "Identifier ScaleDenominator TopLeftCorner TileWidth TileHeight MatrixWidth MatrixHeight",
}

func TestElementsKeepTheOrderOfTheStandards(t *testing.T) {
	s := fixture(t, func(c *Config) { c.Abstract = "An abstract." })
	const layers = "Name Title Abstract CRS SRS EX_GeographicBoundingBox LatLonBoundingBox BoundingBox Dimension Extent Style Layer"
	const tiled = "Title Abstract WGS84BoundingBox Identifier Style Format InfoFormat Dimension TileMatrixSetLink ResourceURL"
	for path, own := range map[string]map[string]string{
		"/wms?REQUEST=GetCapabilities":               {"Layer": layers, "Style": "Name Title LegendURL"},
		"/wms?REQUEST=GetCapabilities&VERSION=1.1.1": {"Layer": layers, "Style": "Name Title LegendURL"},
		"/wmts/1.0.0/WMTSCapabilities.xml":           {"Layer": tiled, "Style": "Title Identifier LegendURL"},
	} {
		type element struct {
			name string
			last int
		}
		var open []*element
		seen := 0
		d := xml.NewDecoder(get(s, path).Body)
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if len(open) > 0 {
					parent := open[len(open)-1]
					order, known := own[parent.name]
					if !known {
						order, known = children[parent.name]
					}
					if known {
						at := slices.Index(strings.Fields(order), token.Name.Local)
						if at < parent.last {
							t.Errorf("%s: %s in %s", path, token.Name.Local, parent.name)
						}
						parent.last = at
						seen++
					}
				}
				open = append(open, &element{name: token.Name.Local})
			case xml.EndElement:
				open = open[:len(open)-1]
			}
		}
		if seen < 100 {
			t.Errorf("%s: %d elements", path, seen)
		}
	}
}

func TestADefaultTimeIsToldToClients(t *testing.T) {
	s := fixture(t, nil)
	for url, want := range map[string]string{
		inUTM + "&LAYERS=days":                 "99 Default value used: time=2026-01-03T12:30:00Z ISO8601",
		inUTM + "&LAYERS=days&TIME=2026-01-02": "",
		inUTM + "&LAYERS=dem":                  "",
	} {
		if got := get(s, url).Header().Get("Warning"); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}

func TestExtentsOnTheGlobe(t *testing.T) {
	for _, c := range []struct{ in, want [4]float64 }{
		{[4]float64{15, 47, 16, 48}, [4]float64{15, 47, 16, 48}},
		{[4]float64{-180.0083, -90.004, 180.0083, 90.004}, [4]float64{-180, -90, 180, 90}},
		{[4]float64{0, -10, 360, 10}, [4]float64{-180, -10, 180, 10}},
		{[4]float64{190, 0, 200, 1}, [4]float64{-170, 0, -160, 1}},
		{[4]float64{-200, 0, -190, 1}, [4]float64{160, 0, 170, 1}},
		{[4]float64{170, 0, 190, 1}, [4]float64{-180, 0, 180, 1}},
	} {
		if got := onGlobe(c.in); got != c.want {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

func TestUnusableFilesAreLeftOut(t *testing.T) {
	name := scene(t, 64, 64, 3, tiff.Options{}, nil)
	gray := scene(t, 64, 64, 1, tiff.Options{}, nil)
	damaged := filepath.Join(t.TempDir(), "damaged.tif")
	if err := os.WriteFile(damaged, []byte("II*\x00damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	var reported []string
	s := server(t, Config{
		Layers: []Layer{{Name: "a", Files: []string{damaged}}, {Name: "b", Files: []string{damaged, name}}, {Name: "c", Files: []string{name, gray}}, {Name: "d", Files: []string{gray}}},
		Unusable: func(l Layer, err error) error {
			reported = append(reported, l.Name)
			return nil
		},
	})
	if got := strings.Join(reported, " "); got != "a b c" {
		t.Errorf("reported: %s", got)
	}
	if got := strings.Join(s.Layers(), " "); got != "b d" {
		t.Errorf("served: %s", got)
	}
	if n := len(s.layers["b"].frames[0].images); n != 1 {
		t.Errorf("layer b has %d files", n)
	}
	if health := get(s, "/health"); health.Code != 200 || health.Body.String() != "ok\nnot shown: a\nnot shown: c\n" {
		t.Errorf("health: %d %q", health.Code, health.Body)
	}
	if metrics := get(s, "/metrics").Body.String(); !strings.Contains(metrics, "quern_wms_layers_missing 2\n") {
		t.Errorf("metrics: %s", metrics)
	}
	all := Config{Layers: []Layer{{Name: "a", Files: []string{damaged}}}, Unusable: func(Layer, error) error { return nil }}
	if other, err := New(s.renderer.Device(), all); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), damaged) {
		t.Errorf("a server without layers: %v", err)
		other.Close()
	}
	calls := 0
	all.Unusable = func(Layer, error) error { calls++; return errors.ErrUnsupported }
	if _, err := New(s.renderer.Device(), all); !errors.Is(err, errors.ErrUnsupported) || calls != 1 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

// TestALayerThatCannotBeDrawnIsLeftOut has a layer that opens, and fails only when the renderer gets it.
func TestALayerThatCannotBeDrawnIsLeftOut(t *testing.T) {
	good := scene(t, 64, 64, 1, tiff.Options{}, nil)
	computed := func(string) (*tiff.File, error) {
		h := tiff.Header{Width: 64, Height: 64, Bands: 1, Type: tiff.Complex64, Photometric: tiff.MinIsBlack}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
		return tiff.NewVirtual(tiff.Virtual{Header: h, Read: func(context.Context, tiff.VirtualBlock, []byte) error { return nil }})
	}
	open := func(name string) (*tiff.File, error) {
		if name == "complex" {
			return computed(name)
		}
		return tiff.Open(name)
	}
	var reasons []string
	unusable := func(l Layer, err error) error {
		reasons = append(reasons, l.Name+": "+err.Error())
		return nil
	}
	s := server(t, Config{Layers: []Layer{{Name: "bad", Files: []string{"complex"}}, {Name: "worse", Files: []string{good}, Default: Rendering{Shading: "no such"}}, {Name: "good", Files: []string{good}}}, Open: open, Unusable: unusable})
	if len(reasons) != 2 || !strings.Contains(reasons[0], "bad: wms: layer bad: ") || !strings.Contains(reasons[1], "no such") {
		t.Errorf("reasons: %q", reasons)
	}
	if got := strings.Join(s.Layers(), " "); got != "good" {
		t.Errorf("served: %s", got)
	}
	if w := get(s, inUTM+"&LAYERS=good"); w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("the other layer: %s", w.Body)
	}
	if w := get(s, inUTM+"&LAYERS=bad"); !strings.Contains(w.Body.String(), "LayerNotDefined") {
		t.Errorf("the layer: %s", w.Body)
	}
}

func TestPalettes(t *testing.T) {
	s := fixture(t, nil)
	for _, name := range []string{"image/png;%20mode=8bit", "image/png;mode=8bit", "image/png8", "IMAGE/PNG;+MODE=8BIT"} {
		w := get(s, strings.Replace(inUTM, "FORMAT=image/png", "FORMAT="+name, 1)+"&LAYERS=dem&TRANSPARENT=TRUE")
		if kind := w.Header().Get("Content-Type"); kind != "image/png; mode=8bit" {
			t.Fatalf("%s: %s %s", name, kind, w.Body)
		}
		got, err := png.Decode(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := got.(*image.Paletted); !ok {
			t.Fatalf("%s: %T", name, got)
		}
		want := decode(t, get(s, inUTM+"&LAYERS=dem&TRANSPARENT=TRUE"))
		for y := range 256 {
			for x := range 256 {
				if a, b := colorAt(got, x, y), colorAt(want, x, y); a != b {
					t.Fatalf("%s: pixel %d, %d is %v, in PNG %v", name, x, y, a, b)
				}
			}
		}
	}
	for _, path := range []string{"/dem/14/8875/5705.png8", "/wmts/1.0.0/dem/default/GoogleMapsCompatible/14/5705/8875.png8",
		"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=dem&STYLE=default&FORMAT=image/png;%20mode=8bit&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=14&TILEROW=5705&TILECOL=8875"} {
		if w := get(s, path); w.Code != 200 || w.Header().Get("Content-Type") != "image/png; mode=8bit" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
	if plain := get(s, "/dem/14/8875/5705.png").Header(); plain.Get("Content-Type") != "image/png" || plain.Get("ETag") == get(s, "/dem/14/8875/5705.png8").Header().Get("ETag") {
		t.Errorf("PNG is mistaken for PNG8: %v", plain)
	}
}

func TestConfigurationsThatCannotBeServed(t *testing.T) {
	name := scene(t, 64, 64, 3, tiff.Options{}, nil)
	plain := filepath.Join(t.TempDir(), "plain.tif")
	writeFile(t, plain, tiff.Header{Width: 16, Height: 16, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}, tiff.Options{}, texture)
	gray := scene(t, 64, 64, 1, tiff.Options{}, nil)
	s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{name}}}})
	for what, c := range map[string]Config{
		"no layers":         {},
		"a bad name":        {Layers: []Layer{{Name: "a/b", Files: []string{name}}}},
		"a reserved name":   {Layers: []Layer{{Name: "wms", Files: []string{name}}}},
		"no files":          {Layers: []Layer{{Name: "a"}}},
		"a missing file":    {Layers: []Layer{{Name: "a", Files: []string{name + "x"}}}},
		"no coordinates":    {Layers: []Layer{{Name: "a", Files: []string{plain}}}},
		"different bands":   {Layers: []Layer{{Name: "a", Files: []string{name, gray}}}},
		"the same name":     {Layers: []Layer{{Name: "a", Files: []string{name}}, {Name: "a", Files: []string{name}}}},
		"an unknown system": {Layers: []Layer{{Name: "a", Files: []string{name}}}, Systems: []int{1}},
		"an unknown ramp":   {Layers: []Layer{{Name: "a", Files: []string{gray}, Default: Rendering{Ramp: "pink"}}}},
		"a bad quality":     {Layers: []Layer{{Name: "a", Files: []string{name}}}, Quality: 101},
	} {
		if other, err := New(s.renderer.Device(), c); err == nil {
			t.Errorf("%s: no error", what)
			other.Close()
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, u := range []string{inUTM + "&LAYERS=rgb", inUTM1 + "&LAYERS=days&TIME=2026-01-02", "/rgb/14/8875/5705.png", "/wmts/1.0.0/rgb/default/GoogleMapsCompatible/14/5705/8875.png",
		"/wmts?SERVICE=WMTS&REQUEST=GetCapabilities", "/wms?REQUEST=GetLegendGraphic&LAYER=dem&STYLE=heat&WIDTH=5", "/dem/tile.json", "/layers.json"} {
		path, query, _ := strings.Cut(u, "?")
		f.Add(path, query)
	}
	s := fixture(f, func(c *Config) { c.MaxWidth, c.MaxHeight = 300, 300 })
	f.Fuzz(func(t *testing.T, path, query string) {
		q := httptest.NewRequest("GET", "/", nil)
		q.URL.Path, q.URL.RawQuery = path, query
		w := httptest.NewRecorder()
		s.ServeHTTP(w, q)
		if s.metrics.panics.Load() > 0 || w.Code == http.StatusInternalServerError {
			t.Errorf("%q ? %q: %d %s", path, query, w.Code, w.Body)
		}
	})
}
