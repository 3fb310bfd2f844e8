package ortho_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/crs"
	"quern.dev/geo/mosaic"
	"quern.dev/geo/ortho"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// photo writes an image of 4 x 3 pixels, and opens it.
func photo(name string) (*tiff.File, error) {
	w, err := tiff.Create(name, tiff.Header{Width: 4, Height: 3, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}, tiff.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}); err != nil {
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
	f, err := photo(filepath.Join(folder, "photo.tif"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	utm, err := crs.EPSG(32633)
	if err != nil {
		log.Fatal(err)
	}
	// The camera looks straight down from 100 m above the ground, turned by 180 degrees: a pixel shows 10 m.
	camera := ortho.Camera{Width: 4, Height: 3, FX: 10, FY: 10, CX: 1.5, CY: 1}
	sensor, err := ortho.Frame(camera, ortho.OmegaPhiKappa(utm, 500020, 5300015, 350, 0, 0, 180))
	if err != nil {
		log.Fatal(err)
	}
	o := ortho.Options{Target: utm, Extent: &warp.Extent{MinX: 500000, MinY: 5300000, MaxX: 500040, MaxY: 5300030}, Resolution: [2]float64{10, 10}}
	image, err := ortho.New(context.Background(), dev, f.Image(), sensor, ortho.Flat(250), o)
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	pixels := make([]byte, 4*2) // with alpha
	if err := image.Read(context.Background(), tiff.Region{Width: 4, Height: 1}, pixels, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixels)
	// Output: [12 255 11 255 10 255 9 255]
}

// A mosaic reads photographs as if they were orthorectified.
func ExampleImages() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	f, err := photo(filepath.Join(folder, "photo.tif"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	utm, err := crs.EPSG(32633)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	images := ortho.NewImages(dev, ortho.Flat(250), ortho.Options{Target: utm, Resolution: [2]float64{10, 10}})
	defer images.Close()
	var sources []mosaic.Source
	camera := ortho.Camera{Width: 4, Height: 3, FX: 10, FY: 10, CX: 1.5, CY: 1}
	for _, x := range []float64{500020, 500050} {
		sensor, err := ortho.Frame(camera, ortho.OmegaPhiKappa(utm, x, 5300015, 350, 0, 0, 0))
		if err != nil {
			log.Fatal(err)
		}
		rectified, err := images.Add(ctx, f.Image(), sensor)
		if err != nil {
			log.Fatal(err)
		}
		sources = append(sources, mosaic.Source{Image: rectified.Image()})
	}
	name := filepath.Join(folder, "mosaic.tif")
	err = mosaic.File(ctx, dev, name, sources, mosaic.Options{Resolution: [2]float64{10, 10}, AlignPixels: true})
	if err != nil {
		log.Fatal(err)
	}
	joined, err := tiff.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer joined.Close()
	pixels, err := tiff.Read[uint8](ctx, joined.Image(), tiff.Region{Width: 7, Height: 1, Bands: []int{0}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixels)
	// Output: [1 2 3 1 2 3 4]
}
