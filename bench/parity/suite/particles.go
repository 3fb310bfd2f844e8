package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Particles and trajectories.

// flat returns a grid for n elements with blocks of 256 threads.
func flat(n int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 256)}, gpu.Dim3{X: 256})
}

const (
	particleStep = 0.01

	// particleBytes is what a step moves per particle: it reads all fields and writes all
	// but the mass.
	particleBytes = 4 * (8 + 7)
)

func particlesAOS(z Size) *Case {
	n := z.of(300, 1<<21, 1<<23)
	symmetric := between(-1, 1)
	particles := inOut(random(n, func(r *rand.Rand) kernels.Particle {
		return kernels.Particle{
			X: symmetric(r), Y: symmetric(r), Z: symmetric(r),
			VX: symmetric(r), VY: symmetric(r), VZ: symmetric(r),
			Mass: 2 * r.Float32(), Age: r.Float32(),
		}
	}), rounding)
	return &Case{
		Name: "particles_aos", Kernel: kernels.ParticlesAOS, Grid: flat(n),
		Args: []any{float32(particleStep), particles},
		Unit: Bytes, Work: particleBytes * float64(n),
		ByHand: func() { byhand.ParticlesAOS(particleStep, particles.Hand) },
	}
}

func particlesSOA(z Size) *Case {
	n := z.of(300, 1<<21, 1<<23)
	field := func(lo, hi float32) *Array[float32] { return inOut(random(n, between(lo, hi)), rounding) }
	px, py, pz := field(-1, 1), field(-1, 1), field(-1, 1)
	vx, vy, vz := field(-1, 1), field(-1, 1), field(-1, 1)
	mass, age := in(random(n, between(0, 2))), field(0, 1)
	return &Case{
		Name: "particles_soa", Kernel: kernels.ParticlesSOA, Grid: flat(n),
		Args: []any{float32(particleStep), px, py, pz, vx, vy, vz, mass, age},
		Unit: Bytes, Work: particleBytes * float64(n),
		ByHand: func() {
			byhand.ParticlesSOA(particleStep, px.Hand, py.Hand, pz.Hand, vx.Hand, vy.Hand, vz.Hand, mass.Host, age.Hand)
		},
	}
}

func lavaMD(z Size) *Case {
	const a2 = 0.5
	boxes, per := z.of(3, 3, 12), z.of(5, 64, 100)
	n := boxes * boxes * boxes * per
	coordinate := between(0.1, 1)
	positions := in(random(n, func(r *rand.Rand) kernel.Vec4[float32] {
		x, y, z := coordinate(r), coordinate(r), coordinate(r)
		return kernel.V4(x, y, z, (x*x+y*y+z*z)/2)
	}))
	charges := in(random(n, between(0.1, 1)))
	forces := out[kernel.Vec4[float32]](n, Agreement{Tolerance: 3e-4})
	pairsAlong := float64(3*boxes - 2) // pairs of boxes that touch, in one dimension
	return &Case{
		Name: "lavamd", Kernel: kernels.LavaMD,
		Grid: gpu.Blocks(gpu.Dim3{X: boxes, Y: boxes, Z: boxes}, gpu.Dim3{X: kernels.BoxThreads}),
		Args: []any{boxes, per, float32(a2), positions, charges, forces},
		Unit: Items, Work: pairsAlong * pairsAlong * pairsAlong * float64(per) * float64(per),
		ByHand: func() { byhand.LavaMD(boxes, per, a2, positions.Host, charges.Host, forces.Hand) },
	}
}

// LorenzFlops is the number of operations per step of lorenz: four slopes of 8, four sums of
// a point and a multiple of a slope of 6, and the mean slope of 15.
const LorenzFlops = 4*8 + 4*6 + 15

func lorenz(z Size) *Case {
	const h, sigma, rho, beta = 0.002, 10, 28, 8. / 3
	n, steps := z.of(100, 1<<14, 1<<19), z.of(50, 100, 200)
	states := inOut(random(n, func(r *rand.Rand) kernel.Vec3[float64] {
		return kernel.V3(5*double(r), 5*double(r), 20+5*double(r))
	}), Agreement{Tolerance: 1e-8})
	return &Case{
		Name: "lorenz", Kernel: kernels.Lorenz, Grid: flat(n),
		Args: []any{steps, float64(h), float64(sigma), float64(rho), float64(beta), states},
		Unit: Flops, Work: LorenzFlops * float64(n) * float64(steps),
		ByHand: func() { byhand.Lorenz(steps, h, sigma, rho, beta, states.Hand) },
	}
}
