package algebra_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/algebra"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// scene writes an image of 3 x 1 pixels with a red and a near infrared band.
func scene(name string) error {
	w, err := tiff.Create(name, tiff.Header{Width: 3, Height: 1, Bands: 2, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}, tiff.Options{})
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: []byte{10, 90, 50, 50, 30, 10}}); err != nil {
		return err
	}
	return w.Close()
}

func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	source, result := filepath.Join(folder, "scene.tif"), filepath.Join(folder, "ndvi.tif")
	if err := scene(source); err != nil {
		log.Fatal(err)
	}
	f, err := tiff.Open(source)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	ctx := context.Background()
	red, nir := algebra.Band(0), algebra.Band(1)
	if err := algebra.File(ctx, dev, result, []*tiff.Image{f.Image()}, algebra.NDVI(nir, red), algebra.Options{}); err != nil {
		log.Fatal(err)
	}
	g, err := tiff.Open(result)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	index, err := tiff.Read[float32](ctx, g.Image(), g.Image().All())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(index)
	// Output: [0.8 0 -0.5]
}

func ExampleParse() {
	_, err := algebra.Parse("(b4-b1)/(b4+b1")
	fmt.Println(err)
	// Output: algebra: the expression "(b4-b1)/(b4+b1" at character 15: ")" is expected
}
