package wms

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/geo/tiff"
)

// requests are what clients of TestAServerUnderAttack send, changed at random.
var requests = []string{
	inUTM + "&LAYERS=rgb", inUTM + "&LAYERS=dem,rgb&TRANSPARENT=TRUE", inUTM1 + "&LAYERS=days&TIME=2026-01-02", inUTM + "&LAYERS=parts&EXACT=TRUE",
	inUTM + "&LAYERS=dem&RAMP=heat&RESCALE=0,300", inUTM + "&LAYERS=swapped", inUTM + "&LAYERS=broken", inUTM + "&LAYERS=cut", "/rgb/14/8875/5705.png", "/broken/13/4437/2852.png", "/swapped/14/8875/5705.jpg",
	"/wmts/1.0.0/rgb/default/GoogleMapsCompatible/14/5705/8875.png", "/wms?SERVICE=WMS&REQUEST=GetCapabilities", "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities",
	"/wms?REQUEST=GetLegendGraphic&LAYER=dem&STYLE=heat", "/dem/tile.json", "/layers.json", "/health", "/metrics", "/",
	strings.Replace(inUTM, "GetMap", "GetFeatureInfo", 1) + "&LAYERS=dem&QUERY_LAYERS=dem&I=5&J=7&INFO_FORMAT=application/json",
	inUTM + "&LAYERS=nothing", inUTM + "&LAYERS=rgb&BBOX=1,1,0,0", "/wms?REQUEST=GetMap", "/../../etc/passwd", "/rgb/99/0/0.png", "/wms?%zz",
}

// change makes a request that may or may not be valid.
func change(r *rand.Rand, u string) string {
	number := func() string {
		return []string{"0", "-1", "1", "17", "300", "4097", "1e308", "NaN", "", "%00", "9999999999999999999"}[r.IntN(11)]
	}
	path, query, _ := strings.Cut(u, "?")
	fields := strings.Split(query, "&")
	switch r.IntN(8) {
	case 0: // a field is missing
		i := r.IntN(len(fields))
		fields = append(fields[:i:i], fields[i+1:]...)
	case 1:
		fields = append(fields, []string{"WIDTH", "HEIGHT", "I", "J", "BBOX", "TIME", "CRS", "STYLES", "FORMAT", "EXCEPTIONS"}[r.IntN(10)]+"="+number())
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	case 2: // another part of the map
		x, y, size := 499000+r.Float64()*3000, 5296000+r.Float64()*4000, 1+r.Float64()*3000
		for i, f := range fields {
			if strings.HasPrefix(f, "BBOX=") {
				fields[i] = fmt.Sprintf("BBOX=%.1f,%.1f,%.1f,%.1f", x, y, x+size, y+size)
			}
		}
	case 3: // bytes of the path
		b := []byte(path)
		b[r.IntN(len(b))] = "/a0.%\x7f"[r.IntN(6)]
		path = "/" + url.PathEscape(string(b[1:]))
	}
	if query == "" {
		return path
	}
	return path + "?" + strings.Join(fields, "&")
}

// TestAServerUnderAttack has 64 clients with valid and invalid requests, many of which leave early, while files are
// replaced and cut off. The server goes on, and keeps neither goroutines nor memory of the device.
func TestAServerUnderAttack(t *testing.T) {
	folder := t.TempDir()
	swapped, broken, cut := filepath.Join(folder, "swapped.tif"), filepath.Join(folder, "broken.tif"), filepath.Join(folder, "cut.tif")
	paint := func(name string, value float64) string {
		h := tiff.Header{Width: 512, Height: 512, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 5, 0, 5300000, 0, -5})
		return writeFile(t, name, h, tiff.Options{BlockWidth: 128, BlockHeight: 128}, func(x, y, band int) float64 { return value + float64((x^y)&15) })
	}
	paint(swapped, 90)
	paint(broken, 160)
	paint(cut, 160)
	before := runtime.NumGoroutine()
	s := fixture(t, func(c *Config) {
		c.Layers = append(c.Layers, Layer{Name: "swapped", Files: []string{swapped}}, Layer{Name: "broken", Files: []string{broken}}, Layer{Name: "cut", Files: []string{cut}})
		c.MaxWidth, c.MaxHeight, c.Concurrent, c.Queue, c.Timeout = 512, 512, 2, 8, 20*time.Second
		c.TileCache, c.BlockMemory = 1<<20, 1<<20 // maps are made again and again
	})
	if err := os.Truncate(broken, 700); err != nil { // before anything of it is read and kept
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	clients, each := 64, 20
	if testing.Short() {
		each = 8
	}
	var answers, left, busy, failed atomic.Int64
	stop := make(chan struct{})
	var files, all sync.WaitGroup
	files.Go(func() { // another file takes the name, and one is cut off in its place
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			if err := os.Rename(paint(filepath.Join(folder, "new.tif"), float64(i%100)), swapped); err != nil {
				t.Error(err)
			}
			if err := os.Truncate(cut, 700); i == 0 && err != nil {
				t.Error(err)
			}
		}
	})
	for i := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for range each {
				u := requests[r.IntN(len(requests))]
				if r.IntN(2) == 0 {
					u = change(r, u)
				}
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(3) == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), time.Duration(r.IntN(20))*time.Millisecond)
				}
				status, kind, body, err := fetch(ctx, client, web.URL+u)
				cancel()
				switch {
				case errors.Is(err, context.DeadlineExceeded):
					left.Add(1)
					continue
				case err != nil:
					if _, bad := url.Parse(web.URL + u); bad == nil {
						t.Errorf("%s: %v", u, err)
					}
					continue
				}
				answers.Add(1)
				switch {
				case status == http.StatusServiceUnavailable:
					busy.Add(1)
				case status == http.StatusInternalServerError && (strings.Contains(u, "broken") || strings.Contains(u, "cut")):
					failed.Add(1)
				case status >= 500:
					t.Errorf("%s: status %d: %.200s", u, status, body)
				case status == http.StatusOK:
					check(t, u, kind, body)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	files.Wait()
	t.Logf("%d answers, %d of them busy and %d of a file that was cut off; %d clients left", answers.Load(), busy.Load(), failed.Load(), left.Load())
	if answers.Load() < int64(clients*each/4) || !testing.Short() && left.Load() == 0 {
		t.Errorf("%d answers, and %d clients left", answers.Load(), left.Load())
	}
	if status := get(s, inUTM+"&LAYERS=broken").Code; status != http.StatusInternalServerError {
		t.Errorf("the file that was cut off is answered with status %d", status)
	}
	if s.metrics.panics.Load() != 0 {
		t.Error("the server panicked")
	}
	// The server still draws.
	if c := colorAt(decode(t, get(s, inUTM+"&LAYERS=rgb")), 128, 128); c.R != 200 || c.G != 100 || c.B != 50 {
		t.Errorf("a color is %v", c)
	}
	transport.CloseIdleConnections()
	web.Close() // waits for requests
	if n := len(s.slots); n != 0 || s.waiting.Load() != 0 || s.metrics.inFlight.Load() != 0 {
		t.Errorf("%d maps are being made, %d wait, %d requests are under way", n, s.waiting.Load(), s.metrics.inFlight.Load())
	}
	if lanes, pages := s.renderer.Idle(); !lanes || !pages {
		t.Errorf("all lanes are back: %v; all pages are free or idle: %v", lanes, pages)
	}
	// Device memory that is left is an error of Device.Close, which the fixture reports.
	for wait := time.Millisecond; ; wait *= 2 {
		if n := runtime.NumGoroutine(); n <= before+runtime.GOMAXPROCS(0)+4 { // the device has some of its own
			break
		} else if wait > 2*time.Second {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before and %d after:\n%s", before, n, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(wait)
	}
}

func fetch(ctx context.Context, client *http.Client, u string) (status int, kind string, body []byte, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return 0, "", nil, err
	}
	w, err := client.Do(q)
	if err != nil {
		return 0, "", nil, err
	}
	defer w.Body.Close()
	body, err = io.ReadAll(w.Body)
	return w.StatusCode, w.Header.Get("Content-Type"), body, err
}

// check reports a body that is not of its type.
func check(t *testing.T, u, kind string, body []byte) {
	var err error
	switch {
	case kind == "image/png", kind == "image/jpeg":
		_, _, err = image.Decode(bytes.NewReader(body))
	case strings.Contains(kind, "xml"):
		d := xml.NewDecoder(bytes.NewReader(body))
		for err == nil {
			_, err = d.Token()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		t.Errorf("%s: %s: %v", u, kind, err)
	}
}
