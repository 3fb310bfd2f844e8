package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels on grids whose points read their neighbors.

// rounding is the agreement of sums of a few numbers.
var rounding = Agreement{Tolerance: 2e-5}

func stencil(z Size) *Case {
	nx, ny, nz := z.of(37, 256, 512), z.of(11, 128, 512), z.of(7, 64, 512)
	weights := kernels.StencilWeights{0.25, 0.05, 0.025, 0.01}
	src, dst := in(random(nx*ny*nz, between(-1, 1))), inOut(make([]float32, nx*ny*nz), rounding)
	return &Case{
		Name: "stencil", Kernel: kernels.Stencil,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(nx, 32), Y: ceilDiv(ny, 4), Z: ceilDiv(nz, 2)}, gpu.Dim3{X: 32, Y: 4, Z: 2}),
		Args: []any{weights, nx, ny, nz, src, dst},
		Unit: Bytes, Work: 8 * float64(nx) * float64(ny) * float64(nz),
		ByHand: func() { byhand.Stencil(weights, nx, ny, nz, src.Host, dst.Hand) },
	}
}

func convolve(z Size) *Case {
	w, h := z.of(45, 1024, 8192), z.of(37, 1024, 8192)
	var filter kernels.Filter
	for y := range filter {
		for x := range filter[y] {
			filter[y][x] = rand.Float32() / 49
		}
	}
	src, dst := in(random(w*h, between(-1, 1))), out[float32](w*h, rounding)
	return &Case{
		Name: "convolve", Kernel: kernels.Convolve,
		Grid: gpu.Blocks(
			gpu.Dim3{X: ceilDiv(w, kernels.ConvolveTile), Y: ceilDiv(h, kernels.ConvolveTile)},
			gpu.Dim3{X: kernels.ConvolveTile, Y: kernels.ConvolveRows}),
		Args: []any{filter, w, h, src, dst},
		Unit: Bytes, Work: 8 * float64(w) * float64(h),
		ByHand: func() { byhand.Convolve(filter, w, h, src.Host, dst.Hand) },
	}
}

// plane returns a grid for an image with blocks of 32x8 threads.
func plane(w, h int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: ceilDiv(w, 32), Y: ceilDiv(h, 8)}, gpu.Dim3{X: 32, Y: 8})
}

func life(z Size) *Case {
	w, h := z.of(45, 2048, 16384), z.of(37, 2048, 16384)
	src := in(random(w*h, func(r *rand.Rand) uint8 { return uint8(r.Uint32() & 1) }))
	dst := out[uint8](w*h, exact)
	return &Case{
		Name: "life", Kernel: kernels.Life, Grid: plane(w, h),
		Args: []any{w, h, src, dst},
		Unit: Bytes, Work: 2 * float64(w) * float64(h),
		ByHand: func() { byhand.Life(w, h, src.Host, dst.Hand) },
	}
}

func lbm(z Size) *Case {
	const omega = 1.2
	w, h := z.of(45, 512, 4096), z.of(7, 512, 4096)
	src := in(random(kernels.Directions*w*h, between(0.05, 0.15)))
	dst := out[float32](kernels.Directions*w*h, rounding)
	return &Case{
		Name: "lbm", Kernel: kernels.LBM,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(w, 128), Y: h}, gpu.Dim3{X: 128}),
		Args: []any{w, h, float32(omega), src, dst},
		Unit: Bytes, Work: 8 * kernels.Directions * float64(w) * float64(h),
		ByHand: func() { byhand.LBM(w, h, omega, src.Host, dst.Hand) },
	}
}

func rotate(z Size) *Case {
	w, h := z.of(45, 2048, 8192), z.of(37, 2048, 8192)
	sin, cos := math.Sincos(0.3)
	m := kernels.Affine{
		A: float32(cos), B: float32(-sin), C: float32(w) * 0.2,
		D: float32(sin), E: float32(cos), F: float32(h) * -0.1,
	}
	src := in(random(w*h, between(0, 1)))
	// Rounding of the coordinates is up to 1e-3 pixels.
	dst := out[float32](w*h, Agreement{Tolerance: 3e-3, Outliers: 1e-5})
	return &Case{
		Name: "rotate", Kernel: kernels.Rotate, Grid: plane(w, h),
		Args: []any{m, w, h, src, dst},
		Unit: Bytes, Work: 8 * float64(w) * float64(h),
		ByHand: func() { byhand.Rotate(m, w, h, src.Host, dst.Hand) },
	}
}
