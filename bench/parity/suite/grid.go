package suite

import (
	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels on grids, of the kinds found in Rodinia and PolyBench.

func hotspot(z Size) *Case {
	const rx, ry, rz, step = 0.1, 0.1, 0.0125, 0.5
	w, h, steps := z.of(50, 2048, 8192), z.of(37, 1024, 4096), z.of(3, 2, 2)
	inner := kernels.HotspotSide - 2*steps
	temperature, power := in(random(w*h, between(320, 340))), in(random(w*h, between(0, 0.5)))
	dst := out[float32](w*h, rounding)
	return &Case{
		Name: "hotspot", Kernel: kernels.Hotspot,
		Grid: gpu.Blocks(
			gpu.Dim3{X: ceilDiv(w, inner), Y: ceilDiv(h, inner)},
			gpu.Dim3{X: kernels.HotspotSide, Y: kernels.HotspotSide}),
		Args: []any{w, h, steps, float32(rx), float32(ry), float32(rz), float32(step), temperature, power, dst},
		Unit: Bytes, Work: 12 * float64(w) * float64(h),
		ByHand: func() { byhand.Hotspot(w, h, steps, rx, ry, rz, step, temperature.Host, power.Host, dst.Hand) },
	}
}

func srad1(z Size) *Case {
	const q0 = 0.05
	w, h := z.of(50, 1024, 4096), z.of(37, 1024, 4096)
	image := in(random(w*h, between(1, 2)))
	result := func() *Array[float32] { return out[float32](w*h, rounding) }
	dn, ds, dw, de, c := result(), result(), result(), result(), result()
	return &Case{
		Name: "srad1", Kernel: kernels.SRAD1, Grid: plane(w, h),
		Args: []any{w, h, float32(q0), image, dn, ds, dw, de, c},
		Unit: Bytes, Work: 24 * float64(w) * float64(h),
		ByHand: func() { byhand.SRAD1(w, h, q0, image.Host, dn.Hand, ds.Hand, dw.Hand, de.Hand, c.Hand) },
	}
}

func srad2(z Size) *Case {
	const lambda = 0.5
	w, h := z.of(50, 2048, 4096), z.of(37, 2048, 4096)
	difference := func() *Array[float32] { return in(random(w*h, between(-1, 1))) }
	dn, ds, dw, de := difference(), difference(), difference(), difference()
	c, image := in(random(w*h, between(0, 1))), inOut(random(w*h, between(1, 2)), rounding)
	return &Case{
		Name: "srad2", Kernel: kernels.SRAD2, Grid: plane(w, h),
		Args: []any{w, h, float32(lambda), dn, ds, dw, de, c, image},
		Unit: Bytes, Work: 28 * float64(w) * float64(h),
		ByHand: func() { byhand.SRAD2(w, h, lambda, dn.Host, ds.Host, dw.Host, de.Host, c.Host, image.Hand) },
	}
}

func fdtd(z Size) *Case {
	w, h := z.of(50, 4096, 8192), z.of(37, 2048, 4096)
	field := func() []float32 { return random(w*h, between(-1, 1)) }
	ex, ey, hz := in(field()), in(field()), inOut(field(), rounding)
	return &Case{
		Name: "fdtd", Kernel: kernels.FDTD, Grid: plane(w, h),
		Args: []any{w, h, ex, ey, hz},
		Unit: Bytes, Work: 16 * float64(w) * float64(h),
		ByHand: func() { byhand.FDTD(w, h, ex.Host, ey.Host, hz.Hand) },
	}
}

func stencil27(z Size) *Case {
	const c0, c1, c2, c3 = 0.25, 0.05, 0.025, 0.01
	n := z.of(15, 128, 384)
	src, dst := in(random(n*n*n, between(-1, 1))), inOut(make([]float32, n*n*n), rounding)
	return &Case{
		Name: "stencil27", Kernel: kernels.Stencil27,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 32), Y: ceilDiv(n, 4), Z: ceilDiv(n, 2)}, gpu.Dim3{X: 32, Y: 4, Z: 2}),
		Args: []any{n, float32(c0), float32(c1), float32(c2), float32(c3), src, dst},
		Unit: Bytes, Work: 8 * float64(n) * float64(n) * float64(n),
		ByHand: func() { byhand.Stencil(kernels.StencilWeights{c0, c1, c2, c3}, n, n, n, src.Host, dst.Hand) },
	}
}

func jacobi(z Size) *Case {
	w, h := z.of(50, 4096, 8192), z.of(37, 2048, 8192)
	src, dst := in(random(w*h, between(-1, 1))), inOut(make([]float32, w*h), rounding)
	return &Case{
		Name: "jacobi", Kernel: kernels.Jacobi, Grid: plane(w, h),
		Args: []any{w, h, src, dst},
		Unit: Bytes, Work: 8 * float64(w) * float64(h),
		ByHand: func() { byhand.Jacobi(w, h, src.Host, dst.Hand) },
	}
}
