package terrain_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/geo/terrain"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// hill writes a surface that rises by 1 m per meter to the east.
func hill(name string) error {
	h := tiff.Header{Width: 5, Height: 4, Bands: 1, Type: tiff.Int16, Photometric: tiff.MinIsBlack}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 1, 0, 5300000, 0, -1})
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		return err
	}
	defer w.Abort()
	var heights []int16
	for range h.Height {
		heights = append(heights, 100, 101, 102, 103, 104)
	}
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: tiff.Bytes(heights)}); err != nil {
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
	source, result := filepath.Join(folder, "dem.tif"), filepath.Join(folder, "slope.tif")
	if err := hill(source); err != nil {
		log.Fatal(err)
	}
	dem, err := tiff.Open(source)
	if err != nil {
		log.Fatal(err)
	}
	defer dem.Close()
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	ctx := context.Background()
	if err := terrain.File(ctx, dev, result, dem.Image(), terrain.Slope{Percent: true}, terrain.Options{ComputeEdges: true}); err != nil {
		log.Fatal(err)
	}
	f, err := tiff.Open(result)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	slopes, err := tiff.Read[float32](ctx, f.Image(), tiff.Region{Y: 1, Width: 5, Height: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(slopes)
	// Output: [100 100 100 100 100]
}
