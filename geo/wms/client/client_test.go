package client_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/geo/wms"
	"quern.dev/geo/wms/client"
	"quern.dev/gpu"
)

// value is the sample of the image that the server has.
func value(x, y, band int) uint8 {
	return uint8(128 + 100*math.Sin(float64(x+40*band)/30)*math.Cos(float64(y)/25))
}

// serve starts a server with an image of 600 x 500 pixels of 10 m in UTM zone 33N.
func serve(t testing.TB, wrap func(http.Handler) http.Handler) (address string, dev *gpu.Device) {
	t.Helper()
	h := tiff.Header{Width: 600, Height: 500, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
	pixels := make([]byte, h.Width*h.Height*3)
	for i := range pixels {
		pixels[i] = value(i/3%h.Width, i/3/h.Width, i%3)
	}
	name := filepath.Join(t.TempDir(), "scene.tif")
	w, err := tiff.Create(name, h, tiff.Options{COG: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteRows(context.Background(), tiff.Rows{Pixels: pixels}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if dev, err = gpu.Open(gpu.Config{Device: "cpu"}); err != nil {
		t.Fatal(err)
	}
	s, err := wms.New(dev, wms.Config{Layers: []wms.Layer{{Name: "scene", Files: []string{name}}}, PageMemory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = s
	if wrap != nil {
		handler = wrap(s)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		if err := errors.Join(s.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return server.URL, dev
}

// check compares an image in the server's own grid with what the server has.
func check(t *testing.T, s *client.Source, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	im := s.Image()
	a, _ := im.Geo.Affine()
	code, _ := im.Geo.Keys.EPSG()
	if code != 32633 || a[0] > 500000 || a[3] < 5300000 || a[1] != 10 {
		t.Fatalf("EPSG:%d %v", code, a)
	}
	dx, dy := int(math.Round((500000-a[0])/10)), int(math.Round((a[3]-5300000)/10))
	got, err := tiff.Read[uint8](t.Context(), im, tiff.Region{X: dx, Y: dy, Width: 600, Height: 500})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		x, y, band := i/4%600, i/4/600, i%4
		want := uint8(255)
		if band < 3 {
			want = value(x, y, band)
		}
		if math.Abs(float64(v)-float64(want)) > 1 {
			t.Fatalf("pixel %d, %d, band %d: %d, want %d", x, y, band, v, want)
		}
	}
}

func TestSourcesHaveTheServersPixels(t *testing.T) {
	base, _ := serve(t, nil)
	extent := [4]float64{500000, 5295000, 506000, 5300000}
	for _, version := range []string{"", "1.1.1"} {
		s, err := client.OpenWMS(t.Context(), client.WMS{URL: base + "/wms", Version: version, Layers: []string{"scene"}, EPSG: 32633, Extent: extent, PixelSize: 10, TileSize: 208}, client.Options{})
		check(t, s, err)
	}
	s, err := client.OpenWMTS(t.Context(), client.WMTS{URL: base + "/wmts/1.0.0/WMTSCapabilities.xml", Layer: "scene", MatrixSet: "native-scene", Extent: extent}, client.Options{})
	check(t, s, err)
}

func TestAMapIsASourceOfWarp(t *testing.T) {
	base, dev := serve(t, nil)
	utm, err := crs.EPSG(32633)
	if err != nil {
		t.Fatal(err)
	}
	mercator, err := crs.EPSG(3857)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := crs.NewTransform(utm, mercator)
	if err != nil {
		t.Fatal(err)
	}
	x0, y0, _ := tr.Forward(501000, 5296000)
	x1, y1, _ := tr.Forward(505000, 5299000)
	sources := map[string]func() (*client.Source, error){
		"XYZ": func() (*client.Source, error) {
			return client.OpenXYZ(t.Context(), client.XYZ{URL: base + "/scene/{z}/{x}/{y}.png", Extent: [4]float64{x0 - 200, y0 - 200, x1 + 200, y1 + 200}, MinZoom: 10, MaxZoom: 15}, client.Options{})
		},
		"WMTS": func() (*client.Source, error) {
			return client.OpenWMTS(t.Context(), client.WMTS{URL: base + "/wmts/1.0.0/WMTSCapabilities.xml", Layer: "scene", Extent: [4]float64{x0 - 200, y0 - 200, x1 + 200, y1 + 200}, PixelSize: 5}, client.Options{})
		},
		"WMS in degrees": func() (*client.Source, error) {
			return client.OpenWMS(t.Context(), client.WMS{URL: base + "/wms?MAP=x", Layers: []string{"scene"}, EPSG: 4326, Extent: [4]float64{15, 47.8, 15.08, 47.86}, PixelSize: 0.00005}, client.Options{})
		},
	}
	for name, open := range sources {
		s, err := open()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w, err := warp.New(dev, []*tiff.Image{s.Image()}, warp.Options{Target: utm, Resampling: warp.Bilinear, Extent: &warp.Extent{MinX: 501500, MinY: 5296500, MaxX: 504500, MaxY: 5298500}, Resolution: [2]float64{10, 10}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pixels := make([]byte, 300*200*4)
		if err := w.Read(t.Context(), tiff.Region{Width: 300, Height: 200}, pixels, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, v := range pixels {
			want := 255.0
			if i%4 < 3 {
				want = float64(value(i/4%300+150, i/4/300+150, i%4))
			}
			if math.Abs(float64(v)-want) > 6 {
				t.Fatalf("%s: sample %d is %d, want %v", name, i, v, want)
			}
		}
		if err := errors.Join(w.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestRequestsAreRepeated(t *testing.T) {
	var requests, failures atomic.Int64
	base, _ := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if n := requests.Add(1); n%3 != 0 {
				failures.Add(1)
				http.Error(w, "try again", []int{503, 429, 500}[n%3])
				return
			}
			h.ServeHTTP(w, q)
		})
	})
	extent := [4]float64{500000, 5295000, 506000, 5300000}
	s, err := client.OpenWMS(t.Context(), client.WMS{URL: base + "/wms", Layers: []string{"scene"}, EPSG: 32633, Extent: extent, PixelSize: 10}, client.Options{Attempts: 10, Pause: time.Millisecond, Parallel: 1})
	check(t, s, err)
	if failures.Load() == 0 {
		t.Error("no request failed")
	}
}

func TestFailures(t *testing.T) {
	base, _ := serve(t, nil)
	extent := [4]float64{500000, 5295000, 506000, 5300000}
	read := func(s *client.Source, err error) error {
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = tiff.Read[uint8](t.Context(), s.Image(), tiff.Region{Width: 10, Height: 10})
		return err
	}
	quick := client.Options{Attempts: 1}
	err := read(client.OpenWMS(t.Context(), client.WMS{URL: base + "/wms", Layers: []string{"nothing"}, EPSG: 32633, Extent: extent, PixelSize: 10}, quick))
	var service *client.ServiceError
	if !errors.As(err, &service) || service.Code != "LayerNotDefined" || !errors.Is(err, client.ErrService) {
		t.Errorf("an unknown layer: %v", err)
	}
	mode := "html"
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch mode {
		case "html":
			fmt.Fprint(w, "<html>hello")
		case "large":
			_, _ = w.Write(make([]byte, 5000))
		case "status":
			http.Error(w, "not for you", http.StatusForbidden)
		case "absent":
			http.NotFound(w, q)
		case "slow":
			<-q.Context().Done()
		}
	}))
	defer odd.Close()
	tiles := client.XYZ{URL: odd.URL + "/{z}/{x}/{y}.png", Extent: [4]float64{0, 0, 1000, 1000}, MaxZoom: 12}
	for _, c := range []struct {
		mode string
		want error
	}{{"html", client.ErrAnswer}, {"large", client.ErrAnswer}, {"status", client.ErrService}, {"absent", nil}, {"slow", context.DeadlineExceeded}} {
		mode = c.mode
		err := read(client.OpenXYZ(t.Context(), tiles, client.Options{Attempts: 2, Pause: time.Millisecond, AnswerBytes: 4000, Timeout: 50 * time.Millisecond}))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.mode, err, c.want)
		}
	}
	s, err := client.OpenXYZ(t.Context(), tiles, quick)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := tiff.Read[uint8](t.Context(), s.Image(), tiff.Region{Width: 10, Height: 10}); err == nil {
		t.Error("a closed source can be read")
	}
	for what, err := range map[string]error{
		"extent":   read(client.OpenWMS(t.Context(), client.WMS{URL: base, Layers: []string{"a"}, EPSG: 3857, PixelSize: 1}, quick)),
		"pixels":   read(client.OpenWMS(t.Context(), client.WMS{URL: base, Layers: []string{"a"}, EPSG: 3857, Extent: extent}, quick)),
		"address":  read(client.OpenWMS(t.Context(), client.WMS{URL: "file:///etc/passwd", Layers: []string{"a"}, EPSG: 3857, Extent: extent, PixelSize: 1}, quick)),
		"layers":   read(client.OpenWMS(t.Context(), client.WMS{URL: base, EPSG: 3857, Extent: extent, PixelSize: 1}, quick)),
		"huge":     read(client.OpenWMS(t.Context(), client.WMS{URL: base, Layers: []string{"a"}, EPSG: 3857, Extent: extent, PixelSize: 1e-5}, quick)),
		"template": read(client.OpenXYZ(t.Context(), client.XYZ{URL: base, Extent: extent, MaxZoom: 3}, quick)),
		"levels":   read(client.OpenXYZ(t.Context(), client.XYZ{URL: tiles.URL, Extent: extent, MaxZoom: 99}, quick)),
		"layer":    read(client.OpenWMTS(t.Context(), client.WMTS{URL: base + "/wmts/1.0.0/WMTSCapabilities.xml", Layer: "nothing", Extent: extent}, quick)),
	} {
		if !errors.Is(err, client.ErrArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := read(client.OpenWMTS(t.Context(), client.WMTS{URL: base + "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=9", Layer: "x", Extent: extent}, quick)); !strings.Contains(fmt.Sprint(err), "VersionNegotiationFailed") {
		t.Errorf("an exception instead of capabilities: %v", err)
	}
}

func ExampleOpenXYZ() {
	ctx := context.Background()
	s, err := client.OpenXYZ(ctx, client.XYZ{
		URL:     "https://tiles.example.com/ortho/{z}/{x}/{y}.png",
		Extent:  [4]float64{1113000, 6446000, 1114000, 6447000}, // meters of EPSG:3857
		MinZoom: 10, MaxZoom: 17,
	}, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	im := s.Image()
	code, _ := im.Geo.Keys.EPSG()
	fmt.Println(im.Width, im.Height, im.Bands, code) // nothing was requested yet
	// Output: 1024 1024 4 3857
}
