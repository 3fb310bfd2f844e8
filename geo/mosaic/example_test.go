package mosaic_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/mosaic"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// strip writes an image of 4 x 1 pixels of a value, and opens it.
func strip(name string, x float64, value uint8) (*tiff.File, error) {
	h := tiff.Header{Width: 4, Height: 1, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack, NoData: "0"}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{x, 1, 0, 5300000, 0, -1})
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: []byte{value, value, value, value}}); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tiff.Open(name)
}

func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	a, err := strip(filepath.Join(folder, "a.tif"), 500000, 10)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	b, err := strip(filepath.Join(folder, "b.tif"), 500002, 30)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	ctx := context.Background()
	result := filepath.Join(folder, "mosaic.tif")
	sources := []mosaic.Source{{Image: a.Image()}, {Image: b.Image()}}
	if err := mosaic.File(ctx, dev, result, sources, mosaic.Options{Order: mosaic.Nearest}); err != nil {
		log.Fatal(err)
	}
	f, err := tiff.Open(result)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	pixels, err := tiff.Read[uint8](ctx, f.Image(), f.Image().All())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixels)
	// Output: [10 10 10 30 30 30]
}
