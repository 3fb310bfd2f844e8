package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Simulations of particles, spins and waves.

// lennardJones places a particle near most of the points of a lattice with eight points
// per cell, so that none are very close to each other.
func lennardJones(z Size) *Case {
	const edge, cutoff, spacing = 2.5, 2.5, 1.25
	cells := z.of(3, 12, 64)
	starts := make([]int32, 1, cells*cells*cells+1)
	var particles []kernel.Vec4[float32]
	at := func(cell, point int) float32 {
		return edge*float32(cell) + spacing*(float32(point)+0.5) + 0.2*(rand.Float32()-0.5)
	}
	for cell := range cells * cells * cells {
		for point := range 8 {
			if rand.IntN(10) < 3 {
				continue
			}
			particles = append(particles, kernel.V4(
				at(cell%cells, point&1), at(cell/cells%cells, point>>1&1), at(cell/(cells*cells), point>>2), 0))
		}
		starts = append(starts, int32(len(particles)))
	}
	s, positions := in(starts), in(particles)
	// Large forces from opposite sides cancel.
	forces := out[kernel.Vec4[float32]](len(particles), Agreement{Tolerance: 2e-3})
	return &Case{
		Name: "lennard_jones", Kernel: kernels.LennardJones, Grid: linear(len(particles), 128),
		Args: []any{cells, float32(edge), float32(cutoff), s, positions, forces},
		Unit: Items, Work: float64(len(particles)),
		ByHand: func() { byhand.LennardJones(cells, edge, cutoff, s.Host, positions.Host, forces.Hand) },
	}
}

func ising(z Size) *Case {
	const beta, color, step = 0.42, 1, 3
	w, h := z.of(104, 1024, 16384), z.of(38, 1024, 16384)
	seed := rand.Uint32()
	var chances [5]float32
	for i := range chances {
		chances[i] = float32(math.Exp(-2 * beta * float64(2*i-4)))
	}
	spins := inOut(random(w*h, func(r *rand.Rand) int8 { return int8(2*(r.Uint32()&1)) - 1 }), exact)
	return &Case{
		Name: "ising", Kernel: kernels.Ising, Grid: plane(w/8, h),
		Args: []any{w, h, color, seed, uint32(step), chances, spins},
		Unit: Items, Work: float64(w) * float64(h) / 2, // spins
		ByHand: func() { byhand.Ising(w, h, color, seed, step, chances, spins.Hand) },
	}
}

func wave(z Size) *Case {
	const courant = 0.1 // square of the Courant number
	nx, ny, nz := z.of(45, 256, 512), z.of(19, 128, 512), z.of(11, 40, 256)
	weights := kernels.WaveWeights{-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560}
	for i := range weights {
		weights[i] *= courant
	}
	n := nx * ny * nz
	previous, current := in(random(n, between(-1, 1))), in(random(n, between(-1, 1)))
	next := inOut(make([]float32, n), rounding)
	return &Case{
		Name: "wave", Kernel: kernels.Wave,
		Grid: gpu.Blocks(
			gpu.Dim3{X: ceilDiv(nx, kernels.WaveWidth), Y: ceilDiv(ny, kernels.WaveHeight)},
			gpu.Dim3{X: kernels.WaveWidth, Y: kernels.WaveHeight}),
		Args: []any{weights, nx, ny, nz, previous, current, next},
		Unit: Bytes, Work: 12 * float64(n),
		ByHand: func() { byhand.Wave(weights, nx, ny, nz, previous.Host, current.Host, next.Hand) },
	}
}
