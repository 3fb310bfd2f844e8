package kernels

import "quern.dev/kernel"

// ell multiplies a sparse matrix in ELLPACK format with x, one row per thread. Each row
// has up to width elements. Element k of row i is at k*len(y)+i; a negative column marks
// the end of a shorter row.
//
//quern:kernel block=256 also=unchecked
func ell(t kernel.Thread, width int, columns []int32, values, x, y []float32) {
	i := t.Global()
	if i >= len(y) {
		return
	}
	var sum float32
	for k := range width {
		column := columns[k*len(y)+i]
		if column < 0 {
			break
		}
		sum += values[k*len(y)+i] * x[column]
	}
	y[i] = sum
}
