package kernels

import "quern.dev/kernel"

// TransposeTile is the side of the tiles of the transpositions. A thread moves four elements.
const (
	TransposeTile = 32
	TransposeRows = 8
)

// Bits is elements of the sizes that the transpositions move.
type Bits interface {
	uint8 | uint16 | uint32 | uint64
}

// transpose writes the transposes of matrices of rows x columns elements to others. The tiles
// are numbered along the rows, then along the matrices; the elements are of any type of the
// same size.
//
//quern:kernel block=TransposeTile,TransposeRows instantiate=uint8,uint16,uint32,uint64
func transpose[T Bits](t kernel.Thread, rows, columns, strideFrom, strideTo, stepFrom, stepTo int, from, to []T) {
	tile := kernel.Shared[[TransposeTile][TransposeTile + 1]T](t)
	tiles := (columns + TransposeTile - 1) / TransposeTile
	all := (rows + TransposeTile - 1) / TransposeTile * tiles
	i, matrix := t.BlockIdx.X%all, t.BlockIdx.X/all
	row, column := i/tiles*TransposeTile, i%tiles*TransposeTile
	x, y := t.ThreadIdx.X, t.ThreadIdx.Y
	for i := y; i < TransposeTile; i += TransposeRows {
		if row+i < rows && column+x < columns {
			tile[i][x] = from[matrix*stepFrom+(row+i)*strideFrom+column+x]
		}
	}
	t.Sync()
	for i := y; i < TransposeTile; i += TransposeRows {
		if column+i < columns && row+x < rows {
			to[matrix*stepTo+(column+i)*strideTo+row+x] = tile[x][i]
		}
	}
}

// transposeSquare transposes a square matrix of n x n elements in place. Block b exchanges
// the tile in row i and column j, j <= i, with the one in row j and column i, where b is
// i*(i+1)/2 + j.
//
//quern:kernel block=TransposeTile,TransposeRows instantiate=uint8,uint16,uint32,uint64
func transposeSquare[T Bits](t kernel.Thread, n, stride int, data []T) {
	lower := kernel.Shared[[TransposeTile][TransposeTile + 1]T](t)
	upper := kernel.Shared[[TransposeTile][TransposeTile + 1]T](t)
	i := int(kernel.Sqrt(float64(2*t.BlockIdx.X)+0.25) - 0.5)
	for i*(i+1)/2 > t.BlockIdx.X { // rounding
		i--
	}
	for (i+1)*(i+2)/2 <= t.BlockIdx.X {
		i++
	}
	row, column := i*TransposeTile, (t.BlockIdx.X-i*(i+1)/2)*TransposeTile
	x, y := t.ThreadIdx.X, t.ThreadIdx.Y
	for i := y; i < TransposeTile; i += TransposeRows {
		if row+i < n && column+x < n {
			lower[i][x] = data[(row+i)*stride+column+x]
		}
		if column+i < n && row+x < n {
			upper[i][x] = data[(column+i)*stride+row+x]
		}
	}
	t.Sync()
	for i := y; i < TransposeTile; i += TransposeRows {
		if row+i < n && column+x < n {
			data[(row+i)*stride+column+x] = upper[x][i]
		}
		if row != column && column+i < n && row+x < n {
			data[(column+i)*stride+row+x] = lower[x][i]
		}
	}
}
