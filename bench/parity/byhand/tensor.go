package byhand

import (
	"quern.dev/bench/parity/kernels"
	"quern.dev/kernel"
)

// TensorMatmul is Matmul for row-major matrices of bfloat16.
func TensorMatmul(m, n, k int, a, b []kernels.Chunk, c []kernel.Vec2[float32]) {
	sums := make([]float32, m*n)
	Matmul(m, n, k, widen(a), widen(b), sums)
	parallel(len(c), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c[i] = kernel.Vec2[float32]{X: sums[2*i], Y: sums[2*i+1]}
		}
	})
}

func widen(chunks []kernels.Chunk) []float32 {
	out := make([]float32, 8*len(chunks))
	parallel(len(chunks), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range chunks[i] {
				out[8*i+j] = v.Float32()
			}
		}
	})
	return out
}
