package wms

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// discard is a response that nobody reads.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { d.bytes += len(p); return len(p), nil }

// BenchmarkTiles asks for different tiles of 256 x 256 pixels of a reprojected image of three bands, as many at a time as there are
// cores, without a cache of tiles. It runs on the best device, or on the one that QUERN_DEVICE names.
func BenchmarkTiles(b *testing.B) {
	name := scene(b, 4096, 4096, 3, tiff.Options{COG: true}, nil)
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	s, err := New(dev, Config{Layers: []Layer{{Name: "scene", Files: []string{name}}}, TileCache: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e, _ := extentIn(s.order[0].bounds, s.systems[0])
	for z := 10; z <= 14; z++ { // all pages are made before the time is taken
		x0, y0, x1, y1 := tilesIn(e, z)
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				get(s, fmt.Sprintf("/scene/%d/%d/%d.png", z, x, y))
			}
		}
	}
	for _, extension := range []string{"png", "png8", "jpg"} {
		b.Run(dev.ID()+"/"+extension, func(b *testing.B) {
			var mu sync.Mutex
			var times []time.Duration
			bytes, seed := 0, uint64(0)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				mu.Lock()
				seed++
				r := rand.New(rand.NewPCG(seed, 1))
				mu.Unlock()
				d := &discard{header: http.Header{}}
				var mine []time.Duration
				for pb.Next() {
					z := 10 + r.IntN(5)
					x0, y0, x1, y1 := tilesIn(e, z)
					q := httptest.NewRequest("GET", fmt.Sprintf("/scene/%d/%d/%d.%s", z, x0+r.IntN(x1-x0), y0+r.IntN(y1-y0), extension), nil)
					begin := time.Now()
					s.ServeHTTP(d, q)
					mine = append(mine, time.Since(begin))
				}
				mu.Lock()
				defer mu.Unlock()
				bytes += d.bytes
				times = append(times, mine...)
			})
			slices.Sort(times)
			b.ReportMetric(float64(len(times))/b.Elapsed().Seconds(), "tiles/s")
			b.ReportMetric(float64(bytes)/float64(len(times)), "bytes/tile")
			b.ReportMetric(times[len(times)*99/100].Seconds()*1e3, "p99-ms")
		})
	}
}
