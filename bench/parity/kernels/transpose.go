package kernels

import "quern.dev/kernel"

const (
	// TransposeTile is the side of the square that one block transposes.
	TransposeTile = 32

	// TransposeRows is the number of rows of threads per block.
	TransposeRows = 8
)

// transpose writes the w x h matrix in to out as an h x w matrix.
//
//quern:kernel block=32x8
func transpose(t kernel.Thread, w, h int, in, out []float32) {
	transposeTile(t, w, h, in, out)
}

// transposeUnchecked is transpose without bounds checks.
//
//quern:kernel block=32x8 unchecked
func transposeUnchecked(t kernel.Thread, w, h int, in, out []float32) {
	transposeTile(t, w, h, in, out)
}

func transposeTile(t kernel.Thread, w, h int, in, out []float32) {
	tile := kernel.Shared[[TransposeTile][TransposeTile + 1]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	x, y := t.BlockIdx.X*TransposeTile+tx, t.BlockIdx.Y*TransposeTile+ty
	for k := 0; k < TransposeTile; k += TransposeRows {
		if x < w && y+k < h {
			tile[ty+k][tx] = in[(y+k)*w+x]
		}
	}
	t.Sync()
	column, row := t.BlockIdx.Y*TransposeTile+tx, t.BlockIdx.X*TransposeTile+ty
	for k := 0; k < TransposeTile; k += TransposeRows {
		if column < h && row+k < w {
			out[(row+k)*h+column] = tile[tx][ty+k]
		}
	}
}
