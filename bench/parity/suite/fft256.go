package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

func fft256(z Size) *Case {
	const n = kernels.RowSize
	rows := z.of(8, 4096, 1<<17)
	twiddles := make([]kernel.Vec2[float32], n)
	for k := range twiddles {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / n)
		twiddles[k] = kernel.V2(float32(cos), float32(sin))
	}
	number := func(r *rand.Rand) kernel.Vec2[float32] { return kernel.V2(2*r.Float32()-1, 2*r.Float32()-1) }
	w, src := in(twiddles), in(random(rows*n, number))
	dst := out[kernel.Vec2[float32]](rows*n, Agreement{Tolerance: 1e-4})
	return &Case{
		Name: "fft256", Kernel: kernels.FFT256,
		Grid: gpu.Blocks(gpu.Dim3{X: rows / kernels.RowsPerBlock}, gpu.Dim3{X: n / 4, Y: kernels.RowsPerBlock}),
		Args: []any{w, src, dst},
		Unit: Bytes, Work: 16 * n * float64(rows),
		ByHand: func() { byhand.FFT256(w.Host, src.Host, dst.Hand) },
	}
}
