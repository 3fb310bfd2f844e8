package gdal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quern.dev/geo/gdal"
	"quern.dev/geo/tiff"
)

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "gdal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "heights.asc")
	text := "ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 2000\ncellsize 10\nNODATA_value -9999\n1 2 3\n4 -9999 6\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	f, err := gdal.Open(name, gdal.Options{})
	if errors.Is(err, gdal.ErrMissing) {
		return // the error says what to install
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	im := f.Image()
	place, _ := im.Geo.Affine()
	pixels, err := tiff.Read[int32](context.Background(), im, im.All())
	driver, _ := f.Driver()
	fmt.Println(driver, place, im.NoData, pixels, err)
}
