package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

// Word is an unsigned integer as wide as a component of a sample.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

// Blocks describes the blocks of one launch and the region of the image that the pixels belong to. All
// sizes are in pixels, and all steps in words.
type Blocks struct {
	Count         int // blocks
	Width, Height int // of a block
	Words         int // per pixel of a block
	PerSample     int // words of one sample
	X, Y          int // of the region
	RegionWidth   int
	RegionHeight  int
	PixelStep     int // between pixels of the region in memory
	RowStep       int
	BandStep      int
	Swap          bool // the bytes of words are in the other order
}

// Block is where a block is in the image, and the number of rows that it has. Its band is the first one.
type Block struct {
	X, Y, Rows, Band int32
}

func swapped[T Word](v T, size int) T {
	switch size {
	case 2:
		return T(bits.ReverseBytes16(uint16(v)))
	case 4:
		return T(bits.ReverseBytes32(uint32(v)))
	case 8:
		return T(bits.ReverseBytes64(uint64(v)))
	}
	return v
}

// target returns the index in the region of word k of a pixel of a block, or -1 if it is not in the region.
// bands has the place in the region of each band, or -1.
func target(g Blocks, b Block, x, y, k int, bands []int32) int {
	column, row := int(b.X)+x-g.X, int(b.Y)+y-g.Y
	if column < 0 || row < 0 || column >= g.RegionWidth || row >= g.RegionHeight {
		return -1
	}
	band := bands[int(b.Band)+k/g.PerSample]
	if band < 0 {
		return -1
	}
	return row*g.RowStep + column*g.PixelStep + int(band)*g.BandStep + k%g.PerSample
}

// place copies blocks without a predictor to the region: a thread per pixel.
//
//quern:kernel block=256 instantiate=uint8,uint16,uint32,uint64
func place[T Word](t kernel.Thread, g Blocks, size int, blocks []Block, bands []int32, src, dst []T) {
	pixels := g.Width * g.Height
	i := t.Global()
	if i >= pixels*g.Count {
		return
	}
	b := blocks[i/pixels]
	x, y := i%pixels%g.Width, i%pixels/g.Width
	if y >= int(b.Rows) {
		return
	}
	for k := range g.Words {
		if at := target(g, b, x, y, k, bands); at >= 0 {
			v := src[i*g.Words+k]
			if g.Swap {
				v = swapped(v, size)
			}
			dst[at] = v
		}
	}
}

// sum undoes predictor 2 and copies blocks to the region: a thread per row and word of a pixel.
//
//quern:kernel block=64 instantiate=uint8,uint16,uint32,uint64
func sum[T Word](t kernel.Thread, g Blocks, size int, blocks []Block, bands []int32, src, dst []T) {
	i := t.Global()
	if i >= g.Count*g.Height*g.Words {
		return
	}
	k, line := i%g.Words, i/g.Words
	b, y := blocks[line/g.Height], line%g.Height
	if y >= int(b.Rows) {
		return
	}
	var total T
	at := line*g.Width*g.Words + k
	for x := range g.Width {
		v := src[at]
		if g.Swap {
			v = swapped(v, size)
		}
		total += v
		if to := target(g, b, x, y, k, bands); to >= 0 {
			dst[to] = total
		}
		at += g.Words
	}
}

// sumBytes is the first half of undoing predictor 3: it sums the bytes of each row, in place. words is the
// number of floats per pixel, and a thread has a row and one of them.
//
//quern:kernel block=64
func sumBytes(t kernel.Thread, rows, rowBytes, words int, b []uint8) {
	i := t.Global()
	if i >= rows*words {
		return
	}
	var total uint8
	start := i / words * rowBytes
	for at := i % words; at < rowBytes; at += words {
		total += b[start+at]
		b[start+at] = total
	}
}

// join is the second half: it puts the bytes of each float together and copies it to the region.
// The most significant bytes of a row come first. A thread has a pixel.
//
//quern:kernel block=256 instantiate=uint16,uint32,uint64
func join[T Word](t kernel.Thread, g Blocks, size int, blocks []Block, bands []int32, src []uint8, dst []T) {
	pixels := g.Width * g.Height
	i := t.Global()
	if i >= pixels*g.Count {
		return
	}
	b := blocks[i/pixels]
	x, line := i%g.Width, i/g.Width
	y := line % g.Height
	if y >= int(b.Rows) {
		return
	}
	n := g.Width * g.Words // floats in a row
	for k := range g.Words {
		at := target(g, b, x, y, k, bands)
		if at < 0 {
			continue
		}
		var v uint64
		for j := range size {
			v = v<<8 | uint64(src[line*n*size+j*n+x*g.Words+k])
		}
		dst[at] = T(v)
	}
}
