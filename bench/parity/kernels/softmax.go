package kernels

import (
	"math"

	"quern.dev/kernel"
)

// SoftmaxThreads is the number of threads per block of softmax.
const SoftmaxThreads = 256

// softmax computes the softmax of each row of a matrix, one row per block.
//
//quern:kernel block=SoftmaxThreads also=unchecked
func softmax(t kernel.Thread, columns int, in, out []float32) {
	partial := kernel.Shared[[SoftmaxThreads / 32]float32](t)
	first := t.BlockIdx.X * columns
	most := float32(-math.MaxFloat32)
	for c := t.ThreadIdx.X; c < columns; c += SoftmaxThreads {
		most = max(most, in[first+c])
	}
	most = kernel.WarpReduceMax(t, most)
	if t.Lane() == 0 {
		partial[t.Warp()] = most
	}
	t.Sync()
	for _, p := range partial {
		most = max(most, p)
	}
	t.Sync()
	var sum float32
	for c := t.ThreadIdx.X; c < columns; c += SoftmaxThreads {
		sum += kernel.Exp(in[first+c] - most)
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		partial[t.Warp()] = sum
	}
	t.Sync()
	sum = 0
	for _, p := range partial {
		sum += p
	}
	for c := t.ThreadIdx.X; c < columns; c += SoftmaxThreads {
		out[first+c] = kernel.Exp(in[first+c]-most) / sum
	}
}
