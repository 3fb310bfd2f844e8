package tiff

import (
	"image"
	"image/color"
)

// upsampleToRGB converts a decoded JPEG block to RGB. Colors of half the resolution are
// interpolated: a sample is 3/4 the nearer one and 1/4 the farther one in each direction, as
// libjpeg does, so that results agree with GDAL's.
func upsampleToRGB(dst []byte, p *image.YCbCr, b block) {
	sx, sy := 1, 1
	switch p.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		sx = 2
	case image.YCbCrSubsampleRatio420:
		sx, sy = 2, 2
	case image.YCbCrSubsampleRatio444:
	default:
		nearestToRGB(dst, p, b)
		return
	}
	cw, ch := (b.width+sx-1)/sx, (p.Rect.Dy()+sy-1)/sy
	cb, cr := newChroma(p.Cb, p.CStride, cw, ch, sx, sy), newChroma(p.Cr, p.CStride, cw, ch, sx, sy)
	for y := range b.rows {
		cbRow, crRow := cb.row(y), cr.row(y)
		luma := p.Y[y*p.YStride:][:b.width]
		out := dst[y*b.width*3:][:3*b.width]
		for x, v := range luma {
			out[3*x], out[3*x+1], out[3*x+2] = color.YCbCrToRGB(v, cbRow[x], crRow[x])
		}
	}
}

// nearestToRGB repeats the samples of colors.
func nearestToRGB(dst []byte, p *image.YCbCr, b block) {
	for y := range b.rows {
		for x := range b.width {
			c := p.COffset(x, y)
			i := (y*b.width + x) * 3
			dst[i], dst[i+1], dst[i+2] = color.YCbCrToRGB(p.Y[p.YOffset(x, y)], p.Cb[c], p.Cr[c])
		}
	}
}

// chroma is a plane of colors of which rows are made at full resolution.
type chroma struct {
	pix                   []byte
	stride, width, height int
	sx, sy                int
	sums                  []int // 4 times the vertically interpolated samples
	out                   []byte
}

func newChroma(pix []byte, stride, width, height, sx, sy int) *chroma {
	return &chroma{pix: pix, stride: stride, width: width, height: height, sx: sx, sy: sy,
		sums: make([]int, width), out: make([]byte, width*sx)}
}

func (c *chroma) row(y int) []byte {
	near := c.pix[y/c.sy*c.stride:][:c.width]
	if c.sx == 1 {
		return near
	}
	if c.sy == 1 {
		c.widenRow(near)
		return c.out
	}
	other := y/2 - 1
	if y&1 == 1 {
		other = y/2 + 1
	}
	other = min(max(other, 0), c.height-1)
	far := c.pix[other*c.stride:][:c.width]
	for x := range c.sums {
		c.sums[x] = 3*int(near[x]) + int(far[x])
	}
	c.widenSums()
	return c.out
}

// widenRow doubles a row (libjpeg's h2v1).
func (c *chroma) widenRow(in []byte) {
	last := c.width - 1
	for x, v := range in {
		left, right := int(in[max(x-1, 0)]), int(in[min(x+1, last)])
		c.out[2*x] = byte((3*int(v) + left + 1) >> 2)
		c.out[2*x+1] = byte((3*int(v) + right + 2) >> 2)
	}
	c.out[0], c.out[2*last+1] = in[0], in[last]
}

// widenSums doubles a row of vertical sums (libjpeg's h2v2).
func (c *chroma) widenSums() {
	last := c.width - 1
	for x, v := range c.sums {
		left, right := c.sums[max(x-1, 0)], c.sums[min(x+1, last)]
		c.out[2*x] = byte((3*v + left + 8) >> 4)
		c.out[2*x+1] = byte((3*v + right + 7) >> 4)
	}
	c.out[0] = byte((4*c.sums[0] + 8) >> 4)
	c.out[2*last+1] = byte((4*c.sums[last] + 7) >> 4)
}
