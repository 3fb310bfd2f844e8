package main

import (
	"math"

	"quern.dev/kernel"
)

// The Gaussian is separable: one pass over the rows, then one over the columns.
// Each block first loads the pixels that its outputs need into shared memory.
// Outside the image, the border pixel is repeated.
const (
	maxRadius = 32 // in pixels; the tiles have a margin of this width on each side

	rowTile = 256 // outputs per block of blurRows, one per thread

	columnTileWidth  = 32 // outputs per block of blurColumns
	columnTileHeight = 64
	columnThreads    = 8 // threads along a column, each with 64/8 outputs
)

// blurRows convolves the rows of each plane. Weights holds the center weight and
// those of one side; the radius is len(weights) - 1. Block (x, y, c) computes 256
// pixels of row y of plane c.
//
//quern:kernel block=256
func blurRows(t kernel.Thread, weights []float32, w, h int, in, out []float32) {
	tile := kernel.Shared[[rowTile + 2*maxRadius]float32](t)
	weight := kernel.Shared[[maxRadius + 1]float32](t)
	radius := min(len(weights)-1, maxRadius)
	row := (t.BlockIdx.Z*h + t.BlockIdx.Y) * w
	left := t.BlockIdx.X * rowTile

	if k := t.ThreadIdx.X; k <= radius {
		weight[k] = weights[k]
	}
	for k := t.ThreadIdx.X; k < rowTile+2*radius; k += rowTile {
		tile[k] = in[row+kernel.Clamp(left+k-radius, 0, w-1)]
	}
	t.Sync()

	if x := left + t.ThreadIdx.X; x < w {
		centre := t.ThreadIdx.X + radius
		sum := weight[0] * tile[centre]
		for k := 1; k <= radius; k++ {
			sum += weight[k] * (tile[centre-k] + tile[centre+k])
		}
		out[row+x] = sum
	}
}

// blurColumns convolves the columns of each plane like blurRows does the rows.
// Block (x, y, c) computes 32x64 pixels of plane c.
//
//quern:kernel block=32x8
func blurColumns(t kernel.Thread, weights []float32, w, h int, in, out []float32) {
	tile := kernel.Shared[[columnTileHeight + 2*maxRadius][columnTileWidth]float32](t)
	weight := kernel.Shared[[maxRadius + 1]float32](t)
	radius := min(len(weights)-1, maxRadius)
	plane := t.BlockIdx.Z * h * w
	top := t.BlockIdx.Y * columnTileHeight
	column := t.ThreadIdx.X
	x := t.BlockIdx.X*columnTileWidth + column

	if t.ThreadIdx.Y == 0 {
		for k := column; k <= radius; k += columnTileWidth {
			weight[k] = weights[k]
		}
	}
	if x < w {
		for k := t.ThreadIdx.Y; k < columnTileHeight+2*radius; k += columnThreads {
			tile[k][column] = in[plane+kernel.Clamp(top+k-radius, 0, h-1)*w+x]
		}
	}
	t.Sync()

	if x < w {
		for k := t.ThreadIdx.Y; k < columnTileHeight && top+k < h; k += columnThreads {
			centre := k + radius
			sum := weight[0] * tile[centre][column]
			for j := 1; j <= radius; j++ {
				sum += weight[j] * (tile[centre-j][column] + tile[centre+j][column])
			}
			out[plane+(top+k)*w+x] = sum
		}
	}
}

// maxSigma is the largest standard deviation whose Gaussian fits the tiles.
const maxSigma = maxRadius / 3.0

// gaussian returns the center weight of a Gaussian and those of one side, up to
// three standard deviations. All weights, counting the side ones twice, sum to 1.
// Sigma is in pixels, above 0 and at most maxSigma.
func gaussian(sigma float64) []float32 {
	radius := max(1, int(math.Ceil(3*sigma)))
	exact := make([]float64, radius+1)
	var sum float64
	for k := range exact {
		x := float64(k) / sigma
		exact[k] = math.Exp(-x * x / 2)
		sum += exact[k]
		if k > 0 {
			sum += exact[k]
		}
	}
	weights := make([]float32, radius+1)
	for k, e := range exact {
		weights[k] = float32(e / sum)
	}
	return weights
}
