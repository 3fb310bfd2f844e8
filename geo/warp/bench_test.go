package warp

import (
	"path/filepath"
	"testing"

	"quern.dev/geo/tiff"
)

// BenchmarkWarp reads, warps and writes an image of 2048 x 2048 pixels with 3 bands, without compression.
func BenchmarkWarp(b *testing.B) {
	folder := b.TempDir()
	name := filepath.Join(folder, "source.tif")
	scene[uint8](b, name, 2048, 2048, 3, "plain", tiff.Options{Compression: tiff.None})
	dev := cpu(b)
	sources := openImages(b, name)
	for _, r := range []Resampling{Nearest, Bilinear, Cubic, CubicSpline, Lanczos, Average} {
		b.Run(r.String(), func(b *testing.B) {
			o := Options{Target: epsg(b, 3857), Resampling: r, File: tiff.Options{Compression: tiff.None}}
			w, err := New(dev, sources, o)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			pixels := float64(w.Header().Width * w.Header().Height)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.WriteFile(b.Context(), filepath.Join(folder, "out.tif")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(pixels*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpixel/s")
		})
	}
}
