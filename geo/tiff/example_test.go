package tiff_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/tiff"
)

// A COG with a coordinate system is written in parts, and a region of it and of an overview is read.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "tiff")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "image.tif")

	header := tiff.Header{Width: 1000, Height: 800, Bands: 1, Type: tiff.Uint16, Photometric: tiff.MinIsBlack, NoData: "65535"}
	header.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	header.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	header.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5000000, 0, -10}) // pixels of 10 m

	w, err := tiff.Create(name, header, tiff.Options{COG: true, BlockWidth: 256, BlockHeight: 256})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // does nothing after Close
	row := make([]uint16, header.Width)
	for y := range header.Height {
		for x := range row {
			row[x] = uint16(x + y)
		}
		if err := w.WriteRows(ctx, tiff.Rows{Pixels: tiff.Bytes(row)}); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := tiff.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	image := f.Image()
	pixels, err := tiff.Read[uint16](ctx, image, tiff.Region{X: 100, Y: 200, Width: 2, Height: 2})
	if err != nil {
		log.Fatal(err)
	}
	affine, _ := image.Geo.Affine()
	code, _ := image.Geo.Keys.EPSG()
	fmt.Println(image.Width, "x", image.Height, "pixels of", image.Type, image.Compression)
	fmt.Println("EPSG", code, "at", affine[0], affine[3])
	fmt.Println("pixels", pixels)
	for _, overview := range image.Overviews() {
		fmt.Println("overview", overview.Width, "x", overview.Height)
	}
	// Output:
	// 1000 x 800 pixels of uint16 DEFLATE
	// EPSG 32633 at 500000 5e+06
	// pixels [300 301 301 302]
	// overview 500 x 400
	// overview 250 x 200
}
