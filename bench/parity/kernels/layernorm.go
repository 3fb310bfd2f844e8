package kernels

import "quern.dev/kernel"

// LayerNormRows is the number of rows per block of layerNorm, one per warp.
const LayerNormRows = 8

// layerNorm normalizes each row of a matrix to mean 0 and variance 1, then multiplies by
// scale and adds shift.
//
//quern:kernel block=32*LayerNormRows also=unchecked
func layerNorm(t kernel.Thread, rows, columns int, epsilon float32, scale, shift, in, out []float32) {
	row := t.BlockIdx.X*LayerNormRows + t.Warp()
	if row >= rows {
		return
	}
	first := row * columns
	var sum float32
	for c := t.Lane(); c < columns; c += 32 {
		sum += in[first+c]
	}
	mean := kernel.WarpReduceAdd(t, sum) / float32(columns)
	var squares float32
	for c := t.Lane(); c < columns; c += 32 {
		d := in[first+c] - mean
		squares += d * d
	}
	variance := kernel.WarpReduceAdd(t, squares) / float32(columns)
	factor := kernel.Rsqrt(variance + epsilon)
	for c := t.Lane(); c < columns; c += 32 {
		out[first+c] = (in[first+c]-mean)*factor*scale[c] + shift[c]
	}
}
