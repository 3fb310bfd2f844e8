package kernels

import "quern.dev/kernel"

// Positions are in units of 1/One of a pixel. They count from the first page of the table, and are those of the upper left
// one of the four pixels for bilinear interpolation.
const (
	FractionBits = 16
	One          = 1 << FractionBits
)

// Run is how many pixels of a row a thread of draw writes.
const Run = 16

// Map says what draw writes.
type Map struct {
	Width, Height          int // of the part of the map that is written
	Start, Stride          int // index of its first color in the map, and colors in a row of the map
	Shift                  int // of the distance of exact positions: 1<<Shift pixels; at least log2 Run
	Columns                int // exact positions in a row
	Left, Top, Right, Down int // positions in the image: from Left to Right and from Top to Down, inclusive
	Across                 int // pages in a row of the table
	Nearest                bool
	First                  bool // the map has nothing yet; otherwise colors are drawn over those that it has
}

// draw writes a map. lattice has exact positions, x and y of each, every 1<<Shift pixels from the center of the first
// pixel on; those between are interpolated. table has the index of the first color of each page.
//
//quern:kernel unchecked
func draw(t kernel.Thread, m Map, lattice []int64, table []int32, pages []uint32, dst []uint32) {
	part, y := t.Global2()
	x := part * Run
	if x >= m.Width || y >= m.Height {
		return
	}
	size := 1 << uint(m.Shift)
	node := 2 * ((y>>uint(m.Shift))*m.Columns + x>>uint(m.Shift))
	below := node + 2*m.Columns
	down, right := int64(y&(size-1)), int64(x&(size-1))
	// The positions at the left and the right side of the cell, in this row.
	x0 := lattice[node] + (lattice[below]-lattice[node])*down>>uint(m.Shift)
	y0 := lattice[node+1] + (lattice[below+1]-lattice[node+1])*down>>uint(m.Shift)
	x1 := lattice[node+2] + (lattice[below+2]-lattice[node+2])*down>>uint(m.Shift)
	y1 := lattice[node+3] + (lattice[below+3]-lattice[node+3])*down>>uint(m.Shift)
	dx, dy := x1-x0, y1-y0
	px, py := x0+dx*right>>uint(m.Shift), y0+dy*right>>uint(m.Shift)
	dx, dy = dx>>uint(m.Shift), dy>>uint(m.Shift)
	n := min(Run, m.Width-x)
	at := m.Start + y*m.Stride + x
	lastX, lastY := px+dx*int64(n-1), py+dy*int64(n-1)
	inside := min(px, lastX) >= int64(m.Left) && max(px, lastX) <= int64(m.Right) && min(py, lastY) >= int64(m.Top) && max(py, lastY) <= int64(m.Down)
	const page = FractionBits + PageShift
	if inside && !m.Nearest && px>>page == lastX>>page && py>>page == lastY>>page {
		first := int(table[int(py>>page)*m.Across+int(px>>page)])
		span(dst[at:at+n], pages[first:first+PagePixels], px, py, dx, dy, m.First)
		return
	}
	outside := max(px, lastX) < int64(m.Left) || min(px, lastX) > int64(m.Right) || max(py, lastY) < int64(m.Top) || min(py, lastY) > int64(m.Down)
	if outside {
		if m.First {
			out := dst[at : at+n]
			for i := range n {
				out[i] = 0
			}
		}
		return
	}
	for i := range n {
		var c uint32
		if inside || px >= int64(m.Left) && px <= int64(m.Right) && py >= int64(m.Top) && py <= int64(m.Down) {
			c = sample(m.Across, m.Nearest, table, pages, int(px), int(py))
		}
		if !m.First {
			c = over(c, dst[at+i])
		}
		dst[at+i] = c
		px, py = px+dx, py+dy
	}
}

// span writes up to Run pixels of a row whose positions are in one page, as bilinear does. The constant bound lets it be a
// function of its own on CPUs, where draw has too many variables for the registers.
func span(out, page []uint32, px, py, dx, dy int64, first bool) {
	//quern:nounroll
	for i := 0; i < Run; i++ {
		if i >= len(out) {
			return
		}
		fx, fy := uint64(px>>(FractionBits-8)&0xff), uint64(py>>(FractionBits-8)&0xff)
		from := int(py>>FractionBits&(PageSize-1))*PageStride + int(px>>FractionBits&(PageSize-1))
		p := page[from : from+PageStride+2]
		a, b, c, d := p[0], p[1], p[PageStride], p[PageStride+1]
		w := (fx*fy + 128) >> 8
		sum := spread(a)*(256-fx-fy+w) + spread(b)*(fx-w) + spread(c)*(fy-w) + spread(d)*w
		sum = (sum + 0x0080_0080_0080_0080) >> 8 & 0x00ff_00ff_00ff_00ff
		color := uint32(sum) | uint32(sum>>24)
		if a&b&c&d < 0xff000000 {
			color = edge(a, b, c, d, fx, fy, color)
			if !first {
				color = over(color, out[i])
			}
		}
		out[i] = color
		px, py = px+dx, py+dy
	}
}

// Affine maps a point, in GDAL's order.
type Affine [6]float64

// Apply maps a point.
func (a *Affine) Apply(x, y float64) (float64, float64) {
	return a[0] + float64(x*a[1]) + float64(y*a[2]), a[3] + float64(x*a[4]) + float64(y*a[5])
}

// coordinates writes the coordinates of the centers of pixels, from (x0, y0) on.
//
//quern:kernel
func coordinates(t kernel.Thread, x0, y0, width, height int, a Affine, xs, ys []float64) {
	x, y := t.Global2()
	if x >= width || y >= height {
		return
	}
	i := y*width + x
	xs[i], ys[i] = a.Apply(float64(x0+x)+0.5, float64(y0+y)+0.5)
}

// bounds turns coordinates into positions in pixels of an image of wide x high pixels, and finds those in the
// image: box[0] and box[1] become the least column and row, box[2] and box[3] the greatest.
//
//quern:kernel
func bounds(t kernel.Thread, wide, high int, a Affine, xs, ys []float64, box []int32) {
	i := t.Global()
	if i >= len(xs) {
		return
	}
	x, y := a.Apply(xs[i], ys[i])
	xs[i], ys[i] = x, y
	if x >= 0 && y >= 0 && x <= float64(wide) && y <= float64(high) {
		kernel.AtomicMin(&box[0], int32(x))
		kernel.AtomicMin(&box[1], int32(y))
		kernel.AtomicMax(&box[2], int32(x))
		kernel.AtomicMax(&box[3], int32(y))
	}
}

// exact writes a map at positions in pixels of the image, which are NaN where there is none. originX and originY are the
// position of the first page, in pixels of a level that has scaleX and scaleY pixels per pixel of the image.
//
//quern:kernel
func exact(t kernel.Thread, m Map, scaleX, scaleY, originX, originY float64, xs, ys []float64, table []int32, pages []uint32, dst []uint32) {
	x, y := t.Global2()
	if x >= m.Width || y >= m.Height {
		return
	}
	i := y*m.Width + x
	var c uint32
	px, py := float64((float64(xs[i]*scaleX)-originX)*One), float64((float64(ys[i]*scaleY)-originY)*One)
	if px >= float64(m.Left) && px <= float64(m.Right) && py >= float64(m.Top) && py <= float64(m.Down) {
		c = sample(m.Across, m.Nearest, table, pages, int(px), int(py))
	}
	at := m.Start + y*m.Stride + x
	if !m.First {
		c = over(c, dst[at])
	}
	dst[at] = c
}

// sample returns the color at a position inside the image, not multiplied with alpha.
//
//quern:unchecked
func sample(across int, nearest bool, table []int32, pages []uint32, x, y int) uint32 {
	fx, fy := uint64(x>>(FractionBits-8)&0xff), uint64(y>>(FractionBits-8)&0xff)
	x, y = x>>FractionBits, y>>FractionBits
	at := int(table[(y>>PageShift)*across+x>>PageShift]) + (y&(PageSize-1))*PageStride + x&(PageSize-1)
	if nearest {
		return divide(pages[at+int(fx>>7)+int(fy>>7)*PageStride])
	}
	return bilinear(pages[at], pages[at+1], pages[at+PageStride], pages[at+PageStride+1], fx, fy)
}

// bilinear interpolates between four colors, with the weights fx/256 of the right ones and fy/256 of the lower ones.
func bilinear(a, b, c, d uint32, fx, fy uint64) uint32 {
	// The weights add up to 256.
	w := (fx*fy + 128) >> 8
	sum := spread(a)*(256-fx-fy+w) + spread(b)*(fx-w) + spread(c)*(fy-w) + spread(d)*w
	sum = (sum + 0x0080_0080_0080_0080) >> 8 & 0x00ff_00ff_00ff_00ff
	color := uint32(sum) | uint32(sum>>24)
	if a&b&c&d < 0xff000000 {
		return edge(a, b, c, d, fx, fy, color)
	}
	return color
}

// edge gives what is opaque a sharp edge: alpha is that of the nearest pixel.
func edge(a, b, c, d uint32, fx, fy uint64, color uint32) uint32 {
	near := a
	switch {
	case fx >= 128 && fy >= 128:
		near = d
	case fx >= 128:
		near = b
	case fy >= 128:
		near = c
	}
	if near>>24 == 0 || color>>24 == 0 {
		return 0
	}
	if near>>24 == 255 {
		return divide(color) | 0xff000000
	}
	return divide(color)
}

// spread puts the bytes of a color into the 16-bit lanes of a word: red, blue, green, alpha.
func spread(c uint32) uint64 { return uint64(c&0x00ff00ff) | uint64(c&0xff00ff00)<<24 }

// divide returns a color that is not multiplied with its alpha.
func divide(c uint32) uint32 {
	a := c >> 24
	if a == 255 || a == 0 {
		return c
	}
	r, g, b := min((c&0xff*255+a/2)/a, 255), min((c>>8&0xff*255+a/2)/a, 255), min((c>>16&0xff*255+a/2)/a, 255)
	return r | g<<8 | b<<16 | a<<24
}

// over returns a color over another one.
func over(c, under uint32) uint32 {
	a := c >> 24
	if a == 255 {
		return c
	}
	if a == 0 {
		return under
	}
	rest := under >> 24 * (255 - a) // of 255
	sum := a*255 + rest
	var out uint32
	for shift := uint32(0); shift < 24; shift += 8 {
		v := (c>>shift&0xff)*a*255 + (under>>shift&0xff)*rest
		out |= (v + sum/2) / sum << shift
	}
	return out | (sum+127)/255<<24
}
