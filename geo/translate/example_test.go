package translate_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/tiff"
	"quern.dev/geo/translate"
)

// scene writes an image of 4 x 2 pixels with values from 0 to 700.
func scene(name string) error {
	w, err := tiff.Create(name, tiff.Header{Width: 4, Height: 2, Bands: 1, Type: tiff.Uint16, Photometric: tiff.MinIsBlack}, tiff.Options{})
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: tiff.Bytes([]uint16{0, 100, 200, 300, 400, 500, 600, 700})}); err != nil {
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
	source, result := filepath.Join(folder, "scene.tif"), filepath.Join(folder, "small.tif")
	if err := scene(source); err != nil {
		log.Fatal(err)
	}
	f, err := tiff.Open(source)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	o := translate.Options{Width: 2, Resampling: translate.Average, Type: tiff.Uint8, Scale: &translate.Scale{From: &[2]float64{0, 1000}, To: [2]float64{0, 100}}}
	if err := translate.File(ctx, result, f.Image(), o, tiff.Options{}); err != nil {
		log.Fatal(err)
	}
	g, err := tiff.Open(result)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	pixels, err := tiff.Read[uint8](ctx, g.Image(), g.Image().All())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixels)
	// Output: [25 45]
}

func ExampleNew() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	source := filepath.Join(folder, "scene.tif")
	if err := scene(source); err != nil {
		log.Fatal(err)
	}
	f, err := tiff.Open(source)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	im, err := translate.New(ctx, f.Image(), translate.Options{Window: &translate.Window{X: 1, Y: 0, Width: 2, Height: 2}, Type: tiff.Uint8})
	if err != nil {
		log.Fatal(err)
	}
	err = im.Rows(ctx, func(rows tiff.Rows, n int) error {
		fmt.Println(n, "rows:", rows.Pixels)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 2 rows: [100 200 255 255]
}
