package wms

import (
	"context"
	"path/filepath"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// texture is a value of a smooth image with some noise.
func texture(x, y, band int) float64 {
	v := uint32(x*7919 + y*104729 + band*1299709)
	v ^= v >> 13
	v *= 0x5bd1e995
	v ^= v >> 15
	return 100 + 40*float64((x/8+y/16+band*3)%17)/17 + 20*float64((x/64)%5) + float64(v%16)
}

// scene writes a file of 10 m pixels in UTM zone 33N and returns its name.
func scene(t testing.TB, width, height, bands int, opt tiff.Options, set func(h *tiff.Header)) string {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: bands, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}
	if bands >= 3 {
		h.Photometric = tiff.RGB
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
	if set != nil {
		set(&h)
	}
	return writeFile(t, filepath.Join(t.TempDir(), "scene.tif"), h, opt, texture)
}

// writeFile writes a file of a header's size and type.
func writeFile(t testing.TB, name string, h tiff.Header, opt tiff.Options, value func(x, y, band int) float64) string {
	t.Helper()
	n := h.Width * h.Height * h.Bands
	at := func(i int) float64 { return value(i/h.Bands%h.Width, i/h.Bands/h.Width, i%h.Bands) }
	var pixels []byte
	switch h.Type {
	case tiff.Uint8:
		p := make([]uint8, n)
		for i := range p {
			p[i] = uint8(at(i))
		}
		pixels = p
	case tiff.Float32:
		p := make([]float32, n)
		for i := range p {
			p[i] = float32(at(i))
		}
		pixels = tiff.Bytes(p)
	default:
		t.Fatalf("type %v", h.Type)
	}
	w, err := tiff.Create(name, h, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: pixels}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// server returns a server on the CPU.
func server(t testing.TB, c Config) *Server {
	t.Helper()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(dev, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
