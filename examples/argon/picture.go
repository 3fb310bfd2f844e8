package main

import (
	"cmp"
	"context"
	"image"
	"image/color"
	"math"
	"slices"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// draw writes a picture of the atoms in a cube at a corner of the box, in the color of their
// speed. Those farther away are darker.
func (m *simulation) draw(ctx context.Context, path string) error {
	const pixels, deepest = 900, 5
	shown := min(float64(m.Side), 17)
	position, velocity := make([]vector, m.n), make([]vector, m.n)
	if err := gpu.Download(ctx, m.s, position, m.position); err != nil {
		return err
	}
	if err := gpu.Download(ctx, m.s, velocity, m.velocity); err != nil {
		return err
	}
	order := make([]int, m.n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(position[b].Z, position[a].Z) })
	out := image.NewRGBA(image.Rect(0, 0, pixels, pixels))
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = 255
	}
	scale := pixels / shown
	for _, i := range order {
		p, v := position[i], velocity[i]
		depth := float64(p.Z) / deepest
		if depth > 1 || float64(p.X) > shown+0.5 || float64(p.Y) > shown+0.5 {
			continue
		}
		c := example.Hot.At(0.25 + 0.2*math.Sqrt(float64(v.Dot(v))))
		sphere(out, float64(p.X)*scale, float64(p.Y)*scale, scale/2, c, 1-0.85*depth)
	}
	return example.WritePNG(path, out)
}

// sphere draws a ball, lit from the upper left.
func sphere(out *image.RGBA, x, y, radius float64, c color.RGBA, brightness float64) {
	for py := int(y - radius); py <= int(y+radius); py++ {
		for px := int(x - radius); px <= int(x+radius); px++ {
			dx, dy := (float64(px)+0.5-x)/radius, (float64(py)+0.5-y)/radius
			dz := math.Sqrt(1 - dx*dx - dy*dy)
			if math.IsNaN(dz) || !(image.Point{px, py}).In(out.Rect) {
				continue
			}
			lit := brightness * (0.25 + 0.75*max(0, -0.45*dx-0.55*dy+0.7*dz))
			level := func(v uint8) uint8 { return uint8(min(255, float64(v)*lit)) }
			out.SetRGBA(px, py, color.RGBA{level(c.R), level(c.G), level(c.B), 255})
		}
	}
}
