package kernels

import "quern.dev/kernel"

// ReduceThreads is the number of threads per block of reduce.
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
	partial := kernel.Shared[[ReduceThreads / 32]float32](t)
	var s float32
	for i := t.Global(); i < len(x); i += t.Stride() {
		s += x[i]
	}
	s = kernel.WarpReduceAdd(t, s)
	if t.Lane() == 0 {
		partial[t.Warp()] = s
	}
	t.Sync()
	if t.Warp() == 0 {
		var p float32
		if t.Lane() < len(partial) {
			p = partial[t.Lane()]
		}
		p = kernel.WarpReduceAdd(t, p)
		if t.Lane() == 0 {
			kernel.AtomicAdd(&sum[0], p)
		}
	}
}
