package suite

import (
	"math/rand/v2"

	shared "quern.dev/bench/kernels"
	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels that are limited by memory bandwidth.

func saxpy(z Size) *Case {
	const a = 1.5
	n := z.of(10_007, 1<<22, 1<<26)
	x, y := in(random(n, between(-1, 1))), inOut(random(n, between(-1, 1)), Agreement{Tolerance: 1e-5})
	return &Case{
		Name: "saxpy", Kernel: shared.Saxpy,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 256)}, gpu.Dim3{X: 256}),
		Args: []any{float32(a), x, y},
		Unit: Bytes, Work: 12 * float64(n),
		ByHand: func() { byhand.Saxpy(a, x.Host, y.Hand) },
	}
}

func transpose(z Size) *Case {
	w, h := z.of(70, 2048, 8192), z.of(45, 2048, 8192)
	src, dst := in(random(w*h, between(-1, 1))), out[float32](w*h, exact)
	return &Case{
		Name: "transpose", Kernel: kernels.Transpose,
		Grid: gpu.Blocks(
			gpu.Dim3{X: ceilDiv(w, kernels.TransposeTile), Y: ceilDiv(h, kernels.TransposeTile)},
			gpu.Dim3{X: kernels.TransposeTile, Y: kernels.TransposeRows}),
		Args: []any{w, h, src, dst},
		Unit: Bytes, Work: 8 * float64(w) * float64(h),
		ByHand: func() { byhand.Transpose(w, h, src.Host, dst.Hand) },
	}
}

func reduce(z Size) *Case {
	n := z.of(5_003, 1<<23, 1<<27)
	// The devices add in a different order than the hand-written version.
	x, sum := in(random(n, between(0, 1))), inOut(make([]float32, 1), Agreement{Tolerance: 1e-4})
	return &Case{
		Name: "reduce", Kernel: kernels.Reduce,
		Grid: gpu.Blocks(gpu.Dim3{X: z.of(3, 2*8, 132*8)}, gpu.Dim3{X: kernels.ReduceThreads}),
		Args: []any{x, sum},
		Unit: Bytes, Work: 4 * float64(n),
		ByHand: func() { byhand.Reduce(x.Host, sum.Hand) },
	}
}

func histogram(z Size) *Case {
	n := z.of(5_003, 1<<24, 1<<28)
	data := in(random(n, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) }))
	bins := inOut(make([]uint32, 256), exact)
	return &Case{
		Name: "histogram", Kernel: kernels.Histogram,
		Grid: gpu.Blocks(gpu.Dim3{X: z.of(3, 2*8, 132*8)}, gpu.Dim3{X: kernels.HistogramThreads}),
		Args: []any{data, bins},
		Unit: Bytes, Work: float64(n),
		ByHand: func() { byhand.Histogram(data.Host, bins.Hand) },
	}
}
