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

// Axes are axes of two arrays, the first one being the outermost: how many elements they have, and
// how far apart these are in both arrays.
type Axes struct {
	Count            int
	Extent, From, To [MostAxes]int
}

// MostAxes is how many axes the transpositions take, apart from those of a matrix or row.
const MostAxes = 8

// Append adds an axis inside the others.
func (a *Axes) Append(extent, from, to int) {
	a.Extent[a.Count], a.From[a.Count], a.To[a.Count] = extent, from, to
	a.Count++
}

// place returns where element i of the axes begins in both arrays.
//
//quern:unchecked
func (a *Axes) place(i int) (from, to int) {
	//quern:unroll
	for k := range MostAxes {
		if axis := MostAxes - 1 - k; axis < a.Count {
			rest := i / a.Extent[axis]
			j := i - rest*a.Extent[axis]
			from += j * a.From[axis]
			to += j * a.To[axis]
			i = rest
		}
	}
	return from, to
}

// transpose writes the transposes of matrices of rows x columns elements to others. The tiles
// are numbered along the rows, then along the matrices, which begin at the elements of the axes;
// the elements are of any type of the same size.
//
//quern:kernel block=TransposeTile,TransposeRows instantiate=uint8,uint16,uint32,uint64
func transpose[T Bits](t kernel.Thread, rows, columns, strideFrom, strideTo int, matrices Axes, from, to []T) {
	tile := kernel.Shared[[TransposeTile][TransposeTile + 1]T](t)
	tiles := (columns + TransposeTile - 1) / TransposeTile
	all := (rows + TransposeTile - 1) / TransposeTile * tiles
	i, matrix := t.BlockIdx.X%all, t.BlockIdx.X/all
	row, column := i/tiles*TransposeTile, i%tiles*TransposeTile
	firstFrom, firstTo := matrices.place(matrix)
	x, y := t.ThreadIdx.X, t.ThreadIdx.Y
	for i := y; i < TransposeTile; i += TransposeRows {
		if row+i < rows && column+x < columns {
			tile[i][x] = from[firstFrom+(row+i)*strideFrom+column+x]
		}
	}
	t.Sync()
	for i := y; i < TransposeTile; i += TransposeRows {
		if column+i < columns && row+x < rows {
			to[firstTo+(column+i)*strideTo+row+x] = tile[x][i]
		}
	}
}

// moveRows writes rows of width elements, one row after another. The elements of row i begin in from
// at element i of the axes, and are stride apart. A thread moves elements of one row.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func moveRows[T Bits](t kernel.Thread, rows, width, stride int, axes Axes, from, to []T) {
	row := t.BlockIdx.X*t.BlockDim.Y + t.ThreadIdx.Y
	if row >= rows {
		return
	}
	first, _ := axes.place(row)
	for i := t.BlockIdx.Y*t.BlockDim.X + t.ThreadIdx.X; i < width; i += t.GridDim.Y * t.BlockDim.X {
		to[row*width+i] = from[first+i*stride]
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
