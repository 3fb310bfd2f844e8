package kernels

import "quern.dev/kernel"

// A page has the colors of a square of an image for bilinear interpolation: page (i, j) serves the positions of
// which the upper left one of four pixels is in columns PageSize*i-1 to PageSize*(i+1)-2 and rows likewise, and has one
// column and one row more. Pixels outside of the image repeat those at its edge.
const (
	PageShift  = 8
	PageSize   = 1 << PageShift
	PageStride = PageSize + 1
	PagePixels = PageStride * PageStride
	// WindowPixels is the size of the largest window of an image that a page is made of: a page with a margin of a pixel.
	WindowPixels = (PageStride + 2) * (PageStride + 2)
)

// Sample is a type of samples that float64 holds exactly.
type Sample interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | float32 | float64
}

// Paint says how samples become colors.
type Paint struct {
	Width, Height int // of the image
	X, Y          int // of the page: its first column and row in the image, which may be -1
	Left, Top     int // of the window that is in memory
	Columns       int // of the window
	Stride        int // samples per pixel
	Bands         [3]int
	Alpha         int // band of alpha, or -1
	AlphaMax      float64
	Associated    bool // colors are multiplied with alpha in the file
	Ramp          int  // colors of a ramp for the first band, or 0 for three bands
	Low, Scale    [3]float64
	Masked        bool // mask has a byte per pixel of the window
	NoData        bool
	None          float64
	First         int // index of the page's first color
}

// paint writes a page.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func paint[T Sample](t kernel.Thread, p Paint, src []T, mask []uint8, ramp []uint32, pages []uint32) {
	x, y := t.Global2()
	if x >= PageStride || y >= PageStride {
		return
	}
	column, row := min(max(p.X+x, 0), p.Width-1), min(max(p.Y+y, 0), p.Height-1)
	pixel := (row-p.Top)*p.Columns + column - p.Left
	pages[p.First+y*PageStride+x] = color(&p, src, mask, ramp, pixel)
}

// color returns the color of a pixel of the window.
func color[T Sample](p *Paint, src []T, mask []uint8, ramp []uint32, pixel int) uint32 {
	if p.Masked && mask[pixel] == 0 {
		return 0
	}
	alpha := 1.0
	if p.Alpha >= 0 {
		alpha = min(max(float64(src[pixel*p.Stride+p.Alpha])/p.AlphaMax, 0), 1)
	}
	first := float64(src[pixel*p.Stride+p.Bands[0]])
	if p.Ramp > 0 {
		if first != first || p.NoData && first == p.None || alpha == 0 {
			return 0
		}
		at := min(max(float64((first-p.Low[0])*p.Scale[0]), 0), float64(p.Ramp-1))
		c := ramp[int(at)]
		return multiply(c&0xff, c>>8&0xff, c>>16&0xff, uint32(float64(float64(c>>24)*alpha)+0.5))
	}
	var level [3]uint32
	none := true
	for i := range 3 {
		v := float64(src[pixel*p.Stride+p.Bands[i]])
		if v != v {
			continue
		}
		none = none && p.NoData && v == p.None
		if p.Associated && alpha > 0 {
			v = v / alpha
		}
		level[i] = uint32(min(max(float64((v-p.Low[i])*p.Scale[i])+0.5, 0), 255))
	}
	if none || first != first {
		return 0
	}
	return multiply(level[0], level[1], level[2], uint32(float64(alpha*255)+0.5))
}

// multiply returns a color that is multiplied with its alpha.
func multiply(r, g, b, a uint32) uint32 {
	if a == 255 {
		return r | g<<8 | b<<16 | 0xff000000
	}
	return (r*a+127)/255 | (g*a+127)/255<<8 | (b*a+127)/255<<16 | a<<24
}

// Halving makes a page of half the resolution.
type Halving struct {
	Width, Height int // of the result's image
	Wide, High    int // of the larger image
	X, Y          int // of the page, as in Paint
	Across        int // pages in a row of the table
	Left, Top     int // first page of the table
	First         int // index of the page's first color
}

// halve averages the colors of 2 x 2 pixels. table has the index of the first color of each page of the larger image.
//
//quern:kernel
func halve(t kernel.Thread, h Halving, table []int32, pages []uint32) {
	x, y := t.Global2()
	if x >= PageStride || y >= PageStride {
		return
	}
	column, row := min(max(h.X+x, 0), h.Width-1), min(max(h.Y+y, 0), h.Height-1)
	var even, odd uint32
	for i := range 4 {
		c, r := min(2*column+i%2, h.Wide-1)+1, min(2*row+i/2, h.High-1)+1
		page := (r>>PageShift-h.Top)*h.Across + c>>PageShift - h.Left
		p := pages[int(table[page])+(r&(PageSize-1))*PageStride+c&(PageSize-1)]
		even, odd = even+p&0xff00ff, odd+p>>8&0xff00ff
	}
	even, odd = (even+0x20002)>>2&0xff00ff, (odd+0x20002)>>2&0xff00ff
	pages[h.First+y*PageStride+x] = even | odd<<8
}
