package kernels

import "quern.dev/kernel"

// ReduceThreads is the number of threads of a block of reduce.
const ReduceThreads = 256

// reduce adds the elements of x to sum[0].
//
//quern:kernel block=256
func reduce(t kernel.Thread, x, sum []float32) {
	reduceSum(t, x, sum)
}

// reduceUnchecked is reduce without bounds checks.
//
//quern:kernel block=256 unchecked
func reduceUnchecked(t kernel.Thread, x, sum []float32) {
	reduceSum(t, x, sum)
}

func reduceSum(t kernel.Thread, x, sum []float32) {
	partial := kernel.Shared[[ReduceThreads]float32](t)
	var s float32
	for i := t.Global(); i < len(x); i += t.Stride() {
		s += x[i]
	}
	tx := t.ThreadIdx.X
	partial[tx] = s
	t.Sync()
	for half := ReduceThreads / 2; half > 0; half /= 2 {
		if tx < half {
			partial[tx] += partial[tx+half]
		}
		t.Sync()
	}
	if tx == 0 {
		kernel.AtomicAdd(&sum[0], partial[0])
	}
}
