package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels on photographs.

func anyByte(r *rand.Rand) uint8 { return uint8(r.Uint32()) }

func bilateral(z Size) *Case {
	const radius, sharpness = kernels.BilateralRadius, 8
	w, h := z.of(45, 128, 4096), z.of(19, 128, 4096)
	var weights kernels.BilateralWeights
	for y := range weights {
		for x := range weights[y] {
			square := (x-radius)*(x-radius) + (y-radius)*(y-radius)
			weights[y][x] = float32(math.Exp(-float64(square) / 8))
		}
	}
	src, dst := in(random(w*h, between(0, 1))), out[float32](w*h, rounding)
	return &Case{
		Name: "bilateral", Kernel: kernels.Bilateral, Grid: plane(w, h),
		Args: []any{weights, float32(sharpness), w, h, src, dst},
		Unit: Items, Work: float64(w) * float64(h), // pixels
		ByHand: func() { byhand.Bilateral(weights, sharpness, w, h, src.Host, dst.Hand) },
	}
}

func median(z Size) *Case {
	w, h := z.of(45, 1024, 16384), z.of(37, 512, 8192)
	src, dst := in(random(w*h, anyByte)), out[uint8](w*h, exact)
	return &Case{
		Name: "median", Kernel: kernels.Median, Grid: plane(w, h),
		Args: []any{w, h, src, dst},
		Unit: Bytes, Work: 2 * float64(w) * float64(h),
		ByHand: func() { byhand.Median(w, h, src.Host, dst.Hand) },
	}
}

func yuv(z Size) *Case {
	n := z.of(5_003, 1<<22, 1<<26)
	pixels := in(random(n, func(r *rand.Rand) kernels.RGB {
		v := r.Uint32()
		return kernels.RGB{R: uint8(v), G: uint8(v >> 8), B: uint8(v >> 16)}
	}))
	y, u, v := out[uint8](n, exact), out[uint8](n, exact), out[uint8](n, exact)
	return &Case{
		Name: "yuv", Kernel: kernels.YUV, Grid: linear(n, 256),
		Args: []any{pixels, y, u, v},
		Unit: Bytes, Work: 6 * float64(n),
		ByHand: func() { byhand.YUV(pixels.Host, y.Hand, u.Hand, v.Hand) },
	}
}

func integral(z Size) *Case {
	w, h := z.of(601, 4096, 8192), z.of(5, 4096, 8192)
	src, dst := in(random(w*h, anyByte)), out[uint32](w*h, exact)
	return &Case{
		Name: "integral", Kernel: kernels.Integral,
		Grid: gpu.Blocks(gpu.Dim3{X: h}, gpu.Dim3{X: kernels.IntegralThreads}),
		Args: []any{w, src, dst},
		Unit: Bytes, Work: 5 * float64(w) * float64(h),
		ByHand: func() { byhand.Integral(w, src.Host, dst.Hand) },
	}
}
