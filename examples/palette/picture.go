package main

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // registers the decoder
	_ "image/jpeg"
	"math"
	"os"
	"slices"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// picture is an image of pixels 0xRRGGBB, row by row.
type picture struct {
	width, height int
	pixels        []uint32
}

// open reads a picture, or paints a beach.
func open(path string, backend gpu.Backend) (*picture, error) {
	if path == "" {
		if backend == gpu.Sim {
			return beach(48, 32), nil
		}
		return beach(960, 640), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; want a JPEG, PNG or GIF file", path, err)
	}
	b := m.Bounds()
	return paintBy(b.Dx(), b.Dy(), func(x, y int) color.Color { return m.At(b.Min.X+x, b.Min.Y+y) }), nil
}

func paintBy(width, height int, at func(x, y int) color.Color) *picture {
	p := &picture{width, height, make([]uint32, width*height)}
	for i := range p.pixels {
		r, g, b, _ := at(i%width, i/width).RGBA()
		p.pixels[i] = r>>8<<16 | g>>8<<8 | b>>8
	}
	return p
}

// draw writes the picture in the colors of the palette, with a strip below that shows them,
// as wide as their shares.
func (p *picture) draw(path string, palette []rgb, labels []uint8, shares []float64) error {
	strip := max(p.height/10, 4)
	var colors color.Palette
	for _, c := range palette {
		v := c.packed()
		colors = append(colors, color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255})
	}
	m := image.NewPaletted(image.Rect(0, 0, p.width, p.height+strip), colors)
	copy(m.Pix, labels)
	until := 0.0
	x := 0
	for _, k := range byShare(shares) {
		until += shares[k]
		for ; x < p.width && float64(x) < until*float64(p.width); x++ {
			for y := p.height; y < p.height+strip; y++ {
				m.SetColorIndex(x, y, uint8(k))
			}
		}
	}
	return example.WritePNG(path, m)
}

// sharesOf returns the share of the pixels that have each label.
func sharesOf(labels []uint8, n int) []float64 {
	shares := make([]float64, n)
	for _, k := range labels {
		shares[k] += 1 / float64(len(labels))
	}
	return shares
}

// byShare returns the numbers of the palette colors, those with the most pixels first.
func byShare(shares []float64) []int {
	order := make([]int, len(shares))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	return order
}

// beach paints a beach in the evening.
func beach(width, height int) *picture {
	mix := func(a, b [3]float64, share float64) (c [3]float64) {
		share = min(max(share, 0), 1)
		for i := range c {
			c[i] = a[i] + (b[i]-a[i])*share
		}
		return c
	}
	return paintBy(width, height, func(px, py int) color.Color {
		x, y := float64(px)/float64(height), float64(py)/float64(height)
		fromSun := math.Hypot(x-1.05, y-0.42)
		c := mix([3]float64{36, 60, 120}, [3]float64{250, 150, 90}, y/0.5) // sky
		c = mix(c, [3]float64{255, 226, 150}, math.Exp(-4*fromSun))
		if fromSun < 0.07 {
			c = [3]float64{255, 246, 214}
		}
		if hill := 0.43 - 0.13*math.Exp(-40*(x-0.3)*(x-0.3)) - 0.08*math.Exp(-20*(x-0.62)*(x-0.62)) + 0.006*math.Sin(70*x); y > hill {
			c = mix([3]float64{70, 52, 92}, [3]float64{118, 76, 96}, (y-hill)/0.15)
		}
		shore := 0.74 + 0.03*math.Sin(3*x+0.5) + 0.008*math.Sin(17*x)
		switch {
		case y > shore+0.012: // sand
			c = mix([3]float64{206, 152, 104}, [3]float64{126, 84, 62}, (y-shore)/0.3+0.15*math.Sin(60*y+9*math.Sin(5*x)))
		case y > shore: // foam
			c = [3]float64{240, 226, 210}
		case y > 0.5: // sea, with the reflection of the sun
			c = mix([3]float64{196, 118, 92}, [3]float64{22, 78, 104}, (y-0.5)/0.2)
			if math.Abs(x-1.05) < (0.03+0.4*(y-0.5))*(0.6+0.4*math.Sin(160*y*y)*math.Sin(23*x+90*y)) {
				c = mix(c, [3]float64{255, 214, 140}, 0.7)
			}
		}
		switch boat := math.Abs(x-0.55) + 0.35*math.Abs(y-0.56); { // a sail and its hull
		case y < 0.6 && y > 0.45 && x > 0.55 && x < 0.55+0.6*(y-0.45):
			c = [3]float64{232, 222, 214}
		case y >= 0.6 && y < 0.622 && boat < 0.12:
			c = [3]float64{150, 30, 40}
		}
		return color.RGBA{uint8(c[0]), uint8(c[1]), uint8(c[2]), 255}
	})
}
