package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quern.dev/geo/crs"
	"quern.dev/geo/fly"
	"quern.dev/geo/ortho"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// The camera of the drone.
const (
	fieldOfView = 60.0 // degrees, horizontal
	overlap     = 0.5  // of neighboring photographs
)

// photo is a photograph and where it was taken from.
type photo struct {
	name   string
	sensor *ortho.Sensor
	x, y   float64
}

// camera returns the camera of photographs of a size.
func camera(width, height int) ortho.Camera {
	f := float64(width) / 2 / math.Tan(fieldOfView/2*math.Pi/180)
	return ortho.Camera{Width: width, Height: height, FX: f, FY: f, CX: float64(width-1) / 2, CY: float64(height-1) / 2}
}

// survey photographs a landscape, and writes the photographs, their poses and the surface.
func survey(ctx context.Context, w io.Writer, dev *gpu.Device, l *landscape, folder string) (photos []photo, err error) {
	begin := time.Now()
	system, err := crs.EPSG(epsg)
	if err != nil {
		return nil, err
	}
	if err := writeSurface(ctx, l, filepath.Join(folder, "surface.tif")); err != nil {
		return nil, err
	}
	scene, err := fly.NewScene(ctx, dev, l.ground, l.top, system, fly.Options{})
	if err != nil {
		return nil, err
	}
	defer scene.Close()
	// A photograph has about the resolution of the ground, and a third of its width.
	width := max(l.size/3&^3, 64)
	view := fly.View{Width: width, Height: width * 3 / 4, Samples: 2}
	r, err := scene.NewRenderer(view)
	if err != nil {
		return nil, err
	}
	frame, err := gpu.Alloc[uint8](dev, 4*view.Width*view.Height)
	if err != nil {
		return nil, err
	}
	defer frame.Close()
	pixels := make([]byte, frame.Len())
	cam := camera(view.Width, view.Height)
	above := float64(width) * pixel / 2 / math.Tan(fieldOfView/2*math.Pi/180)
	var poses strings.Builder
	poses.WriteString("filename,x,y,z,omega,phi,kappa\n")
	stepX, stepY := float64(view.Width)*pixel*(1-overlap), float64(view.Height)*pixel*(1-overlap)
	columns, rows := int(math.Ceil(l.meters()/stepX)), int(math.Ceil(l.meters()/stepY))
	for row := range rows {
		for column := range columns {
			x := west + (float64(column)+0.5)*l.meters()/float64(columns)
			y := north - (float64(row)+0.5)*l.meters()/float64(rows)
			n := len(photos)
			z, kappa := 345+above+3*math.Sin(float64(n)), 8*math.Sin(float64(3*n)) // a little wind
			c := fly.Camera{X: x, Y: y, Altitude: z, Heading: -kappa, Pitch: -90, FieldOfView: fieldOfView}
			if err := r.Render(dev.DefaultStream(), frame, c); err != nil {
				return nil, err
			}
			if err := gpu.Download(ctx, dev.DefaultStream(), pixels, frame); err != nil {
				return nil, err
			}
			p := photo{name: filepath.Join(folder, fmt.Sprintf("photo-%03d.tif", n)), x: x, y: y}
			if p.sensor, err = ortho.Frame(cam, ortho.OmegaPhiKappa(system, x, y, z, 0, 0, kappa)); err != nil {
				return nil, err
			}
			exposure := 1 + 0.12*math.Sin(float64(5*n))
			if err := writePhoto(ctx, p.name, view, pixels, exposure); err != nil {
				return nil, err
			}
			fmt.Fprintf(&poses, "%s,%v,%v,%v,0,0,%v\n", filepath.Base(p.name), x, y, z, kappa)
			photos = append(photos, p)
		}
	}
	fmt.Fprintf(w, "%-10s %8.2f s  %d photographs of %d x %d pixels\n", "survey", time.Since(begin).Seconds(), len(photos), view.Width, view.Height)
	model := fmt.Sprintf(`{"drone": {"projection_type": "perspective", "width": %d, "height": %d, "focal": %v}}`, view.Width, view.Height, cam.FX/float64(view.Width))
	return photos, errors.Join(os.WriteFile(filepath.Join(folder, "poses.csv"), []byte(poses.String()), 0o666), os.WriteFile(filepath.Join(folder, "cameras.json"), []byte(model+"\n"), 0o666))
}

// writePhoto writes a frame as a photograph with an exposure of its own.
func writePhoto(ctx context.Context, name string, v fly.View, frame []byte, exposure float64) error {
	w, err := tiff.Create(name, tiff.Header{Width: v.Width, Height: v.Height, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}, tiff.Options{})
	if err != nil {
		return err
	}
	defer w.Abort()
	pixels := make([]byte, 0, 3*v.Width*v.Height)
	for i := 0; i < len(frame); i += 4 {
		for _, c := range frame[i : i+3] {
			pixels = append(pixels, byte(min(255, math.Round(exposure*float64(c)))))
		}
	}
	if err := w.WriteRows(ctx, tiff.Rows{Pixels: pixels}); err != nil {
		return err
	}
	return w.Close()
}

// writeSurface writes the surface of a landscape.
func writeSurface(ctx context.Context, l *landscape, name string) error {
	h := tiff.Header{Width: l.top.Width, Height: l.top.Height, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: epsg})
	h.Geo.SetAffine(l.top.Affine)
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.WriteRows(ctx, tiff.Rows{Pixels: tiff.Bytes(l.top.Heights)}); err != nil {
		return err
	}
	return w.Close()
}
