package wms

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	"quern.dev/geo/tiff"
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

// BenchmarkTiles asks for different tiles of 256 x 256 pixels of a reprojected image of three bands.
func BenchmarkTiles(b *testing.B) {
	name := scene(b, 4096, 4096, 3, tiff.Options{COG: true}, nil)
	for _, extension := range []string{"png", "jpg"} {
		b.Run(extension, func(b *testing.B) {
			s := server(b, Config{Layers: []Layer{{Name: "scene", Files: []string{name}}}, TileCache: -1})
			r := rand.New(rand.NewPCG(1, 1))
			e, _ := extentIn(s.order[0].bounds, s.systems[0])
			d := &discard{header: http.Header{}}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				z := 9 + n%4
				x0, y0, x1, y1 := tilesIn(e, z)
				q := httptest.NewRequest("GET", fmt.Sprintf("/scene/%d/%d/%d.%s", z, x0+r.IntN(x1-x0), y0+r.IntN(y1-y0), extension), nil)
				s.ServeHTTP(d, q)
				n++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tiles/s")
			b.ReportMetric(float64(d.bytes)/float64(b.N), "bytes/tile")
		})
	}
}
