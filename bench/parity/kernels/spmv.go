package kernels

import "quern.dev/kernel"

// spmv multiplies a sparse matrix in CSR format with x, one row per thread. Row i has the
// elements starts[i] to starts[i+1]-1.
//
//quern:kernel block=128
func spmv(t kernel.Thread, starts, columns []int32, values, x, y []float32) {
	spmvRow(t, starts, columns, values, x, y)
}

// spmvUnchecked is spmv without bounds checks.
//
//quern:kernel block=128 unchecked
func spmvUnchecked(t kernel.Thread, starts, columns []int32, values, x, y []float32) {
	spmvRow(t, starts, columns, values, x, y)
}

func spmvRow(t kernel.Thread, starts, columns []int32, values, x, y []float32) {
	i := t.Global()
	if i >= len(y) {
		return
	}
	var sum float32
	for e := starts[i]; e < starts[i+1]; e++ {
		sum += values[e] * x[columns[e]]
	}
	y[i] = sum
}
