package wms

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
