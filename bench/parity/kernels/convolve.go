package kernels

import "quern.dev/kernel"

const (
	// FilterRadius is the radius of convolve's filter in pixels.
	FilterRadius = 3

	// ConvolveTile is the side of the square of pixels that one block computes.
	ConvolveTile = 32

	// ConvolveRows is the number of rows of threads per block.
	ConvolveRows = 8

	filterSide   = 2*FilterRadius + 1
	convolveSide = ConvolveTile + 2*FilterRadius
)

// Filter holds the weights of the pixels around one, by row.
type Filter [filterSide][filterSide]float32

// convolve filters a w x h image. Pixels outside of the image equal the nearest border
// pixel.
//
//quern:kernel block=32x8
func convolve(t kernel.Thread, filter Filter, w, h int, in, out []float32) {
	convolveTile(t, filter, w, h, in, out)
}

// convolveUnchecked is convolve without bounds checks.
//
//quern:kernel block=32x8 unchecked
func convolveUnchecked(t kernel.Thread, filter Filter, w, h int, in, out []float32) {
	convolveTile(t, filter, w, h, in, out)
}

func convolveTile(t kernel.Thread, filter Filter, w, h int, in, out []float32) {
	tile := kernel.Shared[[convolveSide][convolveSide]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	left, top := t.BlockIdx.X*ConvolveTile, t.BlockIdx.Y*ConvolveTile
	for i := ty*ConvolveTile + tx; i < convolveSide*convolveSide; i += ConvolveTile * ConvolveRows {
		row, column := i/convolveSide, i%convolveSide
		x := kernel.Clamp(left+column-FilterRadius, 0, w-1)
		y := kernel.Clamp(top+row-FilterRadius, 0, h-1)
		tile[row][column] = in[y*w+x]
	}
	t.Sync()
	x := left + tx
	if x >= w {
		return
	}
	for row := ty; row < ConvolveTile && top+row < h; row += ConvolveRows {
		var sum float32
		for j := range filterSide {
			for i := range filterSide {
				sum += filter[j][i] * tile[row+j][tx+i]
			}
		}
		out[(top+row)*w+x] = sum
	}
}
