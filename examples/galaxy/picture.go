package main

import (
	"context"
	"image"
	"image/color"
	"math"

	"quern.dev/examples/internal/example"
	"quern.dev/filter"
	"quern.dev/gpu"
)

// shown is the width of the picture in units of length.
const shown = 7

// tint is the color of the light of each galaxy.
var tint = [2][3]float64{{1.0, 0.62, 0.30}, {0.35, 0.65, 1.0}}

// draw writes a picture of the bodies: points, in the glow that a wide blur makes of them.
func (m *simulation) draw(ctx context.Context, scope *gpu.Scope, width int, path string) error {
	height := width * 2 / 3
	size := 2 * width * height
	var light, sharp, glow *gpu.Buffer[float32]
	if err := example.Acquire(scope, size, &light, &sharp, &glow); err != nil {
		return err
	}
	if err := gpu.Zero(m.s, light); err != nil {
		return err
	}
	if err := LaunchExpose(m.s, gpu.Linear(m.n), width, height, float32(width)/shown, m.position, light); err != nil {
		return err
	}
	view := func(b *gpu.Buffer[float32]) filter.Image[float32] {
		return filter.Image[float32]{Width: width, Height: height, Channels: 2, Data: b}
	}
	if err := filter.Gaussian(m.s, view(sharp), view(light), float64(width)/1400, 0, filter.Boundary{}); err != nil {
		return err
	}
	if err := filter.Gaussian(m.s, view(glow), view(light), float64(width)/120, 0, filter.Boundary{}); err != nil {
		return err
	}
	points, clouds := make([]float32, size), make([]float32, size)
	if err := gpu.Download(ctx, m.s, points, sharp); err != nil {
		return err
	}
	if err := gpu.Download(ctx, m.s, clouds, glow); err != nil {
		return err
	}
	// The exposure makes the picture as bright for few bodies as for many.
	exposure := 0.12 * float64(width*height) / float64(m.n)
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		var sum [3]float64
		for galaxy, tint := range tint {
			at := 2*i + galaxy
			v := exposure * (0.25*math.Sqrt(float64(m.n)/65536)*float64(points[at]) + 0.5*float64(clouds[at]))
			for c := range sum {
				sum[c] += v * tint[c]
			}
		}
		level := func(c int) uint8 { return uint8(255 * math.Pow(1-math.Exp(-sum[c]), 1/1.8)) }
		out.SetRGBA(i%width, i/width, color.RGBA{level(0), level(1), level(2), 255})
	}
	return example.WritePNG(path, out)
}
