package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// tensorMatmul returns the case of a bfloat16 matrix product on tensor cores.
func tensorMatmul(z Size) *Case {
	m, n, k := z.of(128, 512, 4096), z.of(256, 512, 4096), z.of(192, 512, 4096)
	chunk := func(r *rand.Rand) (c kernels.Chunk) {
		for i := range c {
			c[i] = kernel.ToBFloat16(2*r.Float32() - 1)
		}
		return c
	}
	a, b := in(random(m*k/8, chunk)), in(random(k/8*n, chunk))
	c := out[kernel.Vec2[float32]](m*n/2, Agreement{Tolerance: 1e-6 * float64(k)})
	return &Case{
		Name: "tensor_matmul", Kernel: kernels.TensorMatmul,
		Grid: gpu.Blocks(gpu.Dim3{X: n / kernels.TensorN, Y: m / kernels.TensorM}, gpu.Dim3{X: kernels.TensorThreads}),
		Args: []any{n / 8, k / 8, a, b, c},
		Unit: Flops, Work: 2 * float64(m) * float64(n) * float64(k),
		ByHand:     func() { byhand.TensorMatmul(m, n, k, a.Host, b.Host, c.Hand) },
		TwinShared: kernels.TensorShared,
	}
}
