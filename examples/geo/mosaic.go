package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"quern.dev/geo/crs"
	"quern.dev/geo/mosaic"
	"quern.dev/geo/ortho"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// join orthorectifies photographs and joins them to mosaic.tif. What is between is computed where the mosaic reads it.
func join(ctx context.Context, w io.Writer, dev *gpu.Device, photos []photo, folder string) (err error) {
	begin := time.Now()
	system, err := crs.EPSG(epsg)
	if err != nil {
		return err
	}
	file, err := tiff.Open(filepath.Join(folder, "surface.tif"))
	if err != nil {
		return err
	}
	defer file.Close()
	surface, err := ortho.NewSurface(ctx, file.Image(), ortho.SurfaceOptions{})
	if err != nil {
		return err
	}
	images := ortho.NewImages(dev, surface, ortho.Options{
		Target: system, Resolution: [2]float64{pixel, pixel}, Resampling: warp.Bilinear, Alpha: true, Tolerance: 0.5,
	})
	defer func() { err = errors.Join(err, images.Close()) }()
	var sources []mosaic.Source
	for _, p := range photos {
		f, err := tiff.Open(p.name)
		if err != nil {
			return err
		}
		defer f.Close()
		rectified, err := images.Add(ctx, f.Image(), p.sensor)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		sources = append(sources, mosaic.Source{Image: rectified.Image(), Center: &[2]float64{p.x, p.y}})
	}
	err = mosaic.File(ctx, dev, filepath.Join(folder, "mosaic.tif"), sources, mosaic.Options{
		Order: mosaic.Nearest, Seams: true, Blend: mosaic.Multiband, Balance: mosaic.Gain,
		Resolution: [2]float64{pixel, pixel}, AlignPixels: true,
		File: tiff.Options{COG: true},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-10s %8.2f s  %s\n", "mosaic", time.Since(begin).Seconds(), filepath.Join(folder, "mosaic.tif"))
	return nil
}

// verify compares a mosaic with the landscape: it fits best where it is, and colors differ little
// but for the exposure.
func verify(ctx context.Context, w io.Writer, l *landscape, name string) error {
	f, err := tiff.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	im := f.Image()
	pixels, err := tiff.Read[uint8](ctx, im, im.All())
	if err != nil {
		return err
	}
	a, ok := im.Geo.Affine()
	if !ok {
		return fmt.Errorf("%s has no place on the Earth", name)
	}
	left, top := int(math.Round((a[0]-west)/pixel)), int(math.Round((north-a[3])/pixel))
	// correlation compares greens with those of the ground some pixels away.
	correlation := func(dx, dy int) (r, brightness float64, count int) {
		var n, sx, sy, sxx, syy, sxy float64
		for y := range im.Height {
			for x := range im.Width {
				gx, gy := x+left+dx, y+top+dy
				if gx < 0 || gy < 0 || gx >= l.size || gy >= l.size || pixels[4*(y*im.Width+x)+3] == 0 {
					continue
				}
				u, v := float64(pixels[4*(y*im.Width+x)+1]), float64(l.ground.Pixels[gy*l.size+gx]>>8&0xff)
				n, sx, sy, sxx, syy, sxy = n+1, sx+u, sy+v, sxx+u*u, syy+v*v, sxy+u*v
			}
		}
		return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy)), sx / sy, int(n)
	}
	best, brightness, count := correlation(0, 0)
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if r, _, _ := correlation(dx, dy); r > best {
				return fmt.Errorf("the mosaic fits the landscape better when moved by %d, %d pixels: correlation %.4f instead of %.4f", dx, dy, r, best)
			}
		}
	}
	covered := 100 * float64(count) / float64(l.size*l.size)
	if covered < 90 || best < 0.85 || math.Abs(brightness-1) > 0.1 {
		return fmt.Errorf("the mosaic covers %.1f %% of the landscape, is %.3f times as bright, and has a correlation of %.4f", covered, brightness, best)
	}
	fmt.Fprintf(w, "verified: the mosaic covers %.1f %% of the landscape, in its place to the pixel, %.2f times as bright, with a correlation of %.3f\n", covered, brightness, best)
	return nil
}
