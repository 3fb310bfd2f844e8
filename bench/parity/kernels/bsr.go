package kernels

import "quern.dev/kernel"

// BSRSide is the number of rows and columns of a block of bsr.
const BSRSide = 4

// bsr multiplies a sparse matrix of blocks of 4 x 4 elements with x, one row per thread.
// Row i of blocks has the blocks starts[i] to starts[i+1]-1.
//
//quern:kernel block=128 also=unchecked
func bsr(t kernel.Thread, starts, columns []int32, values [][BSRSide][BSRSide]float32, x [][BSRSide]float32, y []float32) {
	i := t.Global()
	if i >= len(y) {
		return
	}
	blocks, row := i/BSRSide, i%BSRSide
	var sum float32
	for e := starts[blocks]; e < starts[blocks+1]; e++ {
		a, b := values[e][row], x[columns[e]]
		for k := range BSRSide {
			sum += a[k] * b[k]
		}
	}
	y[i] = sum
}
