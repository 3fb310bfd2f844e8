package suite

import (
	"math/rand/v2"

	shared "quern.dev/bench/kernels"
	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels that are limited by floating-point arithmetic.

func mandelbrot(z Size) *Case {
	w, h, limit := z.of(61, 512, 4096), z.of(43, 512, 4096), z.of(64, 256, 512)
	// Near the border of the set, one rounding changes the count.
	steps := out[int32](w*h, Agreement{Outliers: 0.02})
	return &Case{
		Name: "mandelbrot", Kernel: kernels.Mandelbrot,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(w, 16), Y: ceilDiv(h, 16)}, gpu.Dim3{X: 16, Y: 16}),
		Args: []any{w, h, limit, steps},
		Unit: Items, Work: float64(w) * float64(h),
		ByHand: func() { byhand.Mandelbrot(w, h, limit, steps.Hand) },
	}
}

// FlopsPerPair is the conventional number of operations per pair of bodies: 3
// subtractions, 9 for the squares and the force, 1 for the root, 6 to add, and the
// softening.
const FlopsPerPair = 20

func nbody(z Size) *Case {
	n := z.of(300, 4096, 132*6*2*256)
	bodies := in(random(n, func(r *rand.Rand) kernels.Body {
		return kernels.Body{X: r.Float32(), Y: r.Float32(), Z: r.Float32(), Mass: r.Float32() / float32(n)}
	}))
	accelerations := out[kernels.Acceleration](n, Agreement{Tolerance: 1e-3})
	return &Case{
		Name: "nbody", Kernel: kernels.NBody,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, kernels.BodyTile*kernels.BodiesEach)}, gpu.Dim3{X: kernels.BodyTile}),
		Args: []any{bodies, accelerations},
		Unit: Flops, Work: FlopsPerPair * float64(n) * float64(n),
		ByHand: func() { byhand.NBody(bodies.Host, accelerations.Hand) },
	}
}

// product returns the case of a matrix product with blocks of 16x16 threads that compute
// tile x tile elements.
func product(name string, pair shared.Pair, tile, m, n, k int) *Case {
	a, b := in(random(m*k, between(-1, 1))), in(random(k*n, between(-1, 1)))
	c := out[float32](m*n, Agreement{Tolerance: 1e-6 * float64(k)})
	return &Case{
		Name: name, Kernel: pair,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, tile), Y: ceilDiv(m, tile)}, gpu.Dim3{X: 16, Y: 16}),
		Args: []any{m, n, k, a, b, c},
		Unit: Flops, Work: 2 * float64(m) * float64(n) * float64(k),
		ByHand: func() { byhand.Matmul(m, n, k, a.Host, b.Host, c.Hand) },
	}
}

func tileMatmul(z Size) *Case {
	return product("tile_matmul", shared.TileMatmul, shared.Tile, z.of(37, 512, 4096), z.of(21, 512, 4096), z.of(40, 512, 4096))
}

func registerMatmul(z Size) *Case {
	return product("register_matmul", shared.RegisterMatmul, shared.BlockTile, z.of(128, 512, 4096), z.of(128, 512, 4096), z.of(32, 512, 4096))
}

func pi(z Size) *Case {
	blocks, rounds := z.of(3, 64, 132*16), z.of(5, 64, 512)
	const threads = 256
	seed := rand.Uint32()
	// For points on the circle, rounding decides.
	hits := inOut(make([]uint32, 1), Agreement{Tolerance: 1e-5})
	return &Case{
		Name: "pi", Kernel: kernels.Pi,
		Grid: gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: threads}),
		Args: []any{rounds, seed, hits},
		Unit: Items, Work: 2 * float64(blocks*threads) * float64(rounds),
		ByHand: func() { byhand.Pi(blocks*threads, rounds, seed, hits.Hand) },
	}
}

func blackScholes(z Size) *Case {
	const rate, volatility = 0.02, 0.3
	n := z.of(1_003, 1<<19, 1<<26)
	spots, strikes := in(random(n, between(5, 30))), in(random(n, between(1, 100)))
	years := in(random(n, between(0.25, 10)))
	// Results are prices up to 100, and differences of them.
	agree := Agreement{Tolerance: 1e-4}
	calls, puts := out[float32](n, agree), out[float32](n, agree)
	return &Case{
		Name: "black_scholes", Kernel: kernels.BlackScholes,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 256)}, gpu.Dim3{X: 256}),
		Args: []any{float32(rate), float32(volatility), spots, strikes, years, calls, puts},
		Unit: Bytes, Work: 20 * float64(n),
		ByHand: func() {
			byhand.BlackScholes(rate, volatility, spots.Host, strikes.Host, years.Host, calls.Hand, puts.Hand)
		},
	}
}
