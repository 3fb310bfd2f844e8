package warp_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// writeScene writes an image of 100 x 100 pixels of 10 meters in UTM zone 33N.
func writeScene(name string) error {
	h := tiff.Header{Width: 100, Height: 100, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
	pixels := make([]byte, h.Width*h.Height)
	for i := range pixels {
		pixels[i] = byte(i % 100)
	}
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		return err
	}
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: pixels}); err != nil {
		return err
	}
	return w.Close()
}

func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "warp")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	scene, web := filepath.Join(folder, "scene.tif"), filepath.Join(folder, "web.tif")
	if err := writeScene(scene); err != nil {
		log.Fatal(err)
	}

	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	f, err := tiff.Open(scene)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	mercator, err := crs.EPSG(3857)
	if err != nil {
		log.Fatal(err)
	}
	options := warp.Options{Target: mercator, Resampling: warp.Bilinear, Resolution: [2]float64{20, 20}, AlignPixels: true, Alpha: true}
	if err := warp.File(ctx, dev, web, []*tiff.Image{f.Image()}, options); err != nil {
		log.Fatal(err)
	}

	g, err := tiff.Open(web)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	im := g.Image()
	place, _ := im.Geo.Affine()
	fmt.Println(im.Width, im.Height, im.Bands, place)
	// Output: 74 75 2 [1.6698e+06 20 0 6.0825e+06 0 -20]
}

func ExampleWarper_Read() {
	folder, err := os.MkdirTemp("", "warp")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	scene := filepath.Join(folder, "scene.tif")
	if err := writeScene(scene); err != nil {
		log.Fatal(err)
	}
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	f, err := tiff.Open(scene)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	// The same place, with pixels of half the size.
	w, err := warp.New(dev, []*tiff.Image{f.Image()}, warp.Options{Resampling: warp.Bilinear, Resolution: [2]float64{5, 5}})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	pixels := make([]byte, 6)
	if err := w.Read(context.Background(), tiff.Region{X: 10, Y: 10, Width: 6, Height: 1}, pixels, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Header().Width, w.Header().Height, pixels)
	// Output: 200 200 [5 5 6 6 7 7]
}
