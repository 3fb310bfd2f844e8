package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"quern.dev/geo/fly"
	"quern.dev/geo/tiff"
	"quern.dev/geo/wms"
	"quern.dev/gpu"
	"quern.dev/video"
)

// film films an orbit over the mosaic, or only draws it if there is no ffmpeg.
func film(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	open := func(name string) (*tiff.File, error) { return tiff.Open(filepath.Join(o.out, name)) }
	ground, err := open("mosaic.tif")
	if err != nil {
		return err
	}
	defer ground.Close()
	surface, err := open("surface.tif")
	if err != nil {
		return err
	}
	defer surface.Close()
	scene, err := fly.Load(ctx, dev, ground.Image(), surface.Image(), fly.Options{Sun: &fly.Sun{Azimuth: 140, Elevation: 40, Ambient: 0.5, Shadows: true}})
	if err != nil {
		return err
	}
	defer scene.Close()
	x, y := scene.Center()
	side, _ := scene.Size()
	path, err := fly.Orbit(scene, fly.Map(x, y, 0), 0.3*side, 0.2*side)
	if err != nil {
		return err
	}
	flight, err := scene.Plan(path)
	if err != nil {
		return err
	}
	seconds := map[gpu.Backend]float64{gpu.CUDA: 20, gpu.CPU: 4, gpu.Sim: 0.2}[dev.Backend()]
	flight = flight.WithSeconds(seconds)
	view, rate := fly.View{Width: o.width, Height: o.width * 9 / 16, Visibility: 4 * side}, video.FPS(25)
	begin := time.Now()
	var stats fly.Stats
	result := "not written: ffmpeg is not installed"
	if _, missing := exec.LookPath("ffmpeg"); missing == nil {
		result = filepath.Join(o.out, "flight.mp4")
		stats, err = fly.Film(ctx, flight, result, fly.FilmOptions{View: view, Video: video.Options{Rate: rate, FastStart: true}})
	} else {
		stats, err = fly.Draw(ctx, flight, view, rate)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-10s %8.2f s  %s\n%-10s %10s  %d frames of %d x %d, %.0f per second drawn\n", "film", time.Since(begin).Seconds(), result, "", "", stats.Frames, view.Width, view.Height, stats.RenderRate())
	return nil
}

// commands prints the commands that repeat the steps after the survey.
func commands(w io.Writer, folder string) {
	in := func(name string) string { return filepath.Join(folder, name) }
	fmt.Fprintf(w, `
The same with the command line, once the photographs are there:
  quern geo mosaic -dem %s -cameras %s -exterior %s -r bilinear -tr %g %g -tap -tolerance 0.5 -order nearest -seams -blend multiband -balance gain -of COG -overwrite %s %s
  quern geo fly %s --dem %s --orbit 150,100 --duration 20 --sun 140,40 --shadows --overwrite -o %s
  quern geo serve %s

`, in("surface.tif"), in("cameras.json"), in("poses.csv"), pixel, pixel, in("photo-*.tif"), in("mosaic.tif"), in("mosaic.tif"), in("surface.tif"), in("flight.mp4"), in("mosaic.tif"))
}

// serve serves the mosaic, asks the server for a picture of it, and waits for an interrupt if an
// address is given.
func serve(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	layers, err := wms.FindLayers(filepath.Join(o.out, "mosaic.tif"))
	if err != nil {
		return err
	}
	server, err := wms.New(dev, wms.Config{Title: "Quern's example", Layers: layers})
	if err != nil {
		return err
	}
	address := o.listen
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return errors.Join(fmt.Errorf("%w; -listen names another address", err), server.Close())
	}
	h := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	err = picture(ctx, "http://"+l.Addr().String(), layers[0].Name, filepath.Join(o.out, "map.png"))
	if err == nil {
		fmt.Fprintf(w, "wrote %s\n", filepath.Join(o.out, "map.png"))
	}
	if err == nil && o.listen != "" {
		fmt.Fprintf(w, "\nThe map is at http://%s/ until you press Ctrl-C.\n", l.Addr())
		select {
		case <-ctx.Done():
		case err = <-ended:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return errors.Join(err, h.Shutdown(last), server.Close())
}

// picture asks a map server for a picture of a layer.
func picture(ctx context.Context, server, layer, name string) error {
	f, err := tiff.Open(filepath.Join(filepath.Dir(name), "mosaic.tif"))
	if err != nil {
		return err
	}
	defer f.Close()
	im := f.Image()
	a, ok := im.Geo.Affine()
	if !ok {
		return errors.New("the mosaic has no place on the Earth")
	}
	side := a[1] * float64(max(im.Width, im.Height))
	q := url.Values{
		"SERVICE": {"WMS"}, "VERSION": {"1.3.0"}, "REQUEST": {"GetMap"}, "LAYERS": {layer}, "STYLES": {""}, "FORMAT": {"image/png"}, "WIDTH": {"512"}, "HEIGHT": {"512"},
		"CRS": {fmt.Sprintf("EPSG:%d", epsg)}, "BBOX": {fmt.Sprintf("%f,%f,%f,%f", a[0], a[3]-side, a[0]+side, a[3])},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/wms?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if kind := answer.Header.Get("Content-Type"); kind != "image/png" {
		return fmt.Errorf("the map server answered with %s: %s", kind, body)
	}
	return os.WriteFile(name, body, 0o666)
}
