package kernels

import "quern.dev/kernel"

// source returns the index in the region of word k of a pixel of a block. Pixels beyond the region are those of its
// edge.
func source(g Blocks, b Block, x, y, k int) int {
	column, row := min(int(b.X)+x, g.RegionWidth-1), min(int(b.Y)+y, g.RegionHeight-1)
	return row*g.RowStep + column*g.PixelStep + (int(b.Band)+k/g.PerSample)*g.BandStep + k%g.PerSample
}

// store copies pixels to blocks without a predictor: a thread per pixel.
//
//quern:kernel block=256 instantiate=uint8,uint16,uint32,uint64
func store[T Word](t kernel.Thread, g Blocks, size int, blocks []Block, src, dst []T) {
	pixels := g.Width * g.Height
	i := t.Global()
	if i >= pixels*g.Count {
		return
	}
	b := blocks[i/pixels]
	x, y := i%pixels%g.Width, i%pixels/g.Width
	for k := range g.Words {
		v := src[source(g, b, x, y, k)]
		if g.Swap {
			v = swapped(v, size)
		}
		dst[i*g.Words+k] = v
	}
}

// difference copies pixels to blocks with predictor 2: a thread per pixel.
//
//quern:kernel block=256 instantiate=uint8,uint16,uint32,uint64
func difference[T Word](t kernel.Thread, g Blocks, size int, blocks []Block, src, dst []T) {
	pixels := g.Width * g.Height
	i := t.Global()
	if i >= pixels*g.Count {
		return
	}
	b := blocks[i/pixels]
	x, y := i%pixels%g.Width, i%pixels/g.Width
	for k := range g.Words {
		v := src[source(g, b, x, y, k)]
		if x > 0 {
			v -= src[source(g, b, x-1, y, k)]
		}
		if g.Swap {
			v = swapped(v, size)
		}
		dst[i*g.Words+k] = v
	}
}

// split copies pixels to blocks with predictor 3: a thread per pixel. The bytes of a row are differences of
// those one pixel before, in the order of significance.
//
//quern:kernel block=256 instantiate=uint16,uint32,uint64
func split[T Word](t kernel.Thread, g Blocks, size int, blocks []Block, src []T, dst []uint8) {
	pixels := g.Width * g.Height
	i := t.Global()
	if i >= pixels*g.Count {
		return
	}
	b := blocks[i/pixels]
	x, line := i%g.Width, i/g.Width
	y := line % g.Height
	n := g.Width * g.Words
	for k := range g.Words {
		v := uint64(src[source(g, b, x, y, k)])
		// Before the first pixel of a plane of bytes is the last one of the plane before.
		before := uint64(0)
		if x > 0 {
			before = uint64(src[source(g, b, x-1, y, k)])
		}
		last := uint64(src[source(g, b, g.Width-1, y, k)])
		for j := range size {
			shift := 8 * (size - 1 - j)
			d := uint8(v >> shift)
			switch {
			case x > 0:
				d -= uint8(before >> shift)
			case j > 0:
				d -= uint8(last >> (shift + 8))
			}
			dst[line*n*size+j*n+x*g.Words+k] = d
		}
	}
}
