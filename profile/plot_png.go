package profile

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// pngScale is the number of pixels of a PNG per unit of a plot.
const pngScale = 2

// WritePNG writes the plot of [Pattern.WriteSVG] for light pages as an image.
func (p *Pattern) WritePNG(w io.Writer) error {
	f := p.plot()
	c, err := newCanvas(f.width*pngScale, f.height*pngScale)
	if err != nil {
		return fmt.Errorf("profile: write plot: %w", err)
	}
	for i := range f.shapes {
		c.draw(&f.shapes[i])
	}
	if err := png.Encode(w, c.image); err != nil {
		return fmt.Errorf("profile: write plot: %w", err)
	}
	return nil
}

// canvas is an image that shapes are drawn on.
type canvas struct {
	image         *image.RGBA
	regular, bold font.Face
}

func newCanvas(width, height int) (*canvas, error) {
	c := &canvas{image: image.NewRGBA(image.Rect(0, 0, width, height))}
	for _, f := range []struct {
		data []byte
		size float64
		to   *font.Face
	}{{goregular.TTF, 12, &c.regular}, {gobold.TTF, 14, &c.bold}} {
		parsed, err := opentype.Parse(f.data)
		if err != nil {
			return nil, err
		}
		if *f.to, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size * pngScale, DPI: 72, Hinting: font.HintingNone}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *canvas) draw(s *shape) {
	ink := image.NewUniform(lightColor(s.class))
	switch s.kind {
	case barShape:
		c.fill(ink, s.x, s.y, s.x2, s.y, s.x2, s.y2, s.x, s.y2)
	case lineShape:
		c.stroke(ink, 1, s.x, s.y, s.x2, s.y2)
	case pathShape:
		for i := 2; i < len(s.points); i += 2 {
			c.stroke(ink, 2, s.points[i-2], s.points[i-1], s.points[i], s.points[i+1])
		}
	case textShape:
		face := c.regular
		if s.bold {
			face = c.bold
		}
		d := font.Drawer{Dst: c.image, Src: ink, Face: face}
		width := float64(d.MeasureString(s.text)) / 64
		d.Dot = fixed.P(int(s.x*pngScale-s.anchor*width), int(s.y*pngScale))
		d.DrawString(s.text)
	}
}

// stroke draws a line.
func (c *canvas) stroke(ink image.Image, width, x, y, x2, y2 float64) {
	length := math.Hypot(x2-x, y2-y)
	if length == 0 {
		return
	}
	dx, dy := (y2-y)/length*width/2, (x-x2)/length*width/2
	c.fill(ink, x-dx, y-dy, x+dx, y+dy, x2+dx, y2+dy, x2-dx, y2-dy)
}

// fill fills a polygon.
func (c *canvas) fill(ink image.Image, corners ...float64) {
	size := c.image.Bounds().Size()
	r := vector.NewRasterizer(size.X, size.Y)
	for i := 0; i < len(corners); i += 2 {
		x, y := float32(corners[i]*pngScale), float32(corners[i+1]*pngScale)
		if i == 0 {
			r.MoveTo(x, y)
		} else {
			r.LineTo(x, y)
		}
	}
	r.ClosePath()
	r.DrawOp = draw.Over
	r.Draw(c.image, c.image.Bounds(), ink, image.Point{})
}

// lightColor returns a color of plotColors.
func lightColor(class string) color.Color {
	for _, c := range plotColors {
		if c.class == class {
			n, err := strconv.ParseUint(c.light[1:], 16, 32)
			if err == nil {
				return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
			}
		}
	}
	return color.Black
}
