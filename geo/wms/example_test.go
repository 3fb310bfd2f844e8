package wms_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"quern.dev/geo/tiff"
	"quern.dev/geo/wms"
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
	w, err := tiff.Create(name, h, tiff.Options{COG: true})
	if err != nil {
		return err
	}
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: pixels}); err != nil {
		return err
	}
	return w.Close()
}

func Example() {
	folder, err := os.MkdirTemp("", "wms")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := writeScene(filepath.Join(folder, "scene.tif")); err != nil {
		log.Fatal(err)
	}
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	layers, err := wms.FindLayers(folder)
	if err != nil {
		log.Fatal(err)
	}
	s, err := wms.New(dev, wms.Config{Layers: layers, PageMemory: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	web := httptest.NewServer(s) // in a program: http.ListenAndServe(":8080", s)
	defer web.Close()
	a, err := http.Get(web.URL + "/scene/14/8874/5705.png")
	if err != nil {
		log.Fatal(err)
	}
	defer a.Body.Close()
	fmt.Println(layers[0].Name, a.StatusCode, a.Header.Get("Content-Type"))
	// Output: scene 200 image/png
}
