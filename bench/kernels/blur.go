package kernels

import "quern.dev/kernel"

// Radius of the blurs in pixels.
const Radius = 8

// Weights is a symmetric filter: the weight of the center, then those at increasing
// distance.
type Weights [Radius + 1]float32

const (
	RowTile = 256 // pixels per block of the row blur, one per thread

	ColumnTileWidth  = 32 // pixels per block of the column blur
	ColumnTileHeight = 64
	ColumnThreads    = 8 // threads along a column
)

// blurRows convolves the rows of a w x h image. Pixels outside of the image equal the
// nearest border pixel.
//
//quern:kernel block=256
func blurRows(t kernel.Thread, weights Weights, w, h int, in, out []float32) {
	blurRow(t, weights, w, in, out)
}

// blurRowsUnchecked is blurRows without bounds checks.
//
//quern:kernel block=256 unchecked
func blurRowsUnchecked(t kernel.Thread, weights Weights, w, h int, in, out []float32) {
	blurRow(t, weights, w, in, out)
}

func blurRow(t kernel.Thread, weights Weights, w int, in, out []float32) {
	tile := kernel.Shared[[RowTile + 2*Radius]float32](t)
	row := t.BlockIdx.Y * w
	left := t.BlockIdx.X * RowTile
	for k := t.ThreadIdx.X; k < RowTile+2*Radius; k += RowTile {
		tile[k] = in[row+kernel.Clamp(left+k-Radius, 0, w-1)]
	}
	t.Sync()

	if x := left + t.ThreadIdx.X; x < w {
		centre := t.ThreadIdx.X + Radius
		sum := weights[0] * tile[centre]
		for k := 1; k <= Radius; k++ {
			sum += weights[k] * (tile[centre-k] + tile[centre+k])
		}
		out[row+x] = sum
	}
}

// blurColumns convolves the columns of a w x h image. Pixels outside of the image equal
// the nearest border pixel.
//
//quern:kernel block=32x8
func blurColumns(t kernel.Thread, weights Weights, w, h int, in, out []float32) {
	blurColumn(t, weights, w, h, in, out)
}

// blurColumnsUnchecked is blurColumns without bounds checks.
//
//quern:kernel block=32x8 unchecked
func blurColumnsUnchecked(t kernel.Thread, weights Weights, w, h int, in, out []float32) {
	blurColumn(t, weights, w, h, in, out)
}

func blurColumn(t kernel.Thread, weights Weights, w, h int, in, out []float32) {
	tile := kernel.Shared[[ColumnTileHeight + 2*Radius][ColumnTileWidth]float32](t)
	top := t.BlockIdx.Y * ColumnTileHeight
	column := t.ThreadIdx.X
	x := t.BlockIdx.X*ColumnTileWidth + column
	if x < w {
		for k := t.ThreadIdx.Y; k < ColumnTileHeight+2*Radius; k += ColumnThreads {
			tile[k][column] = in[kernel.Clamp(top+k-Radius, 0, h-1)*w+x]
		}
	}
	t.Sync()

	if x < w {
		for k := t.ThreadIdx.Y; k < ColumnTileHeight && top+k < h; k += ColumnThreads {
			centre := k + Radius
			sum := weights[0] * tile[centre][column]
			for j := 1; j <= Radius; j++ {
				sum += weights[j] * (tile[centre-j][column] + tile[centre+j][column])
			}
			out[(top+k)*w+x] = sum
		}
	}
}
