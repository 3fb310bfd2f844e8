package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels that price options.

func binomial(z Size) *Case {
	const rate, volatility = 0.02, 0.3
	options, steps := z.of(3, 64, 1<<13), z.of(61, kernels.BinomialLeaves-1, kernels.BinomialLeaves-1)
	spots, strikes, years := in(random(options, between(5, 30))), in(random(options, between(5, 30))), in(random(options, between(0.25, 2)))
	// Rounding of a rise in price enters with the power of the number of steps.
	puts := out[float32](options, Agreement{Tolerance: 1e-3})
	return &Case{
		Name: "binomial", Kernel: kernels.Binomial,
		Grid: gpu.Blocks(gpu.Dim3{X: options}, gpu.Dim3{X: kernels.BinomialThreads}),
		Args: []any{steps, float32(rate), float32(volatility), spots, strikes, years, puts},
		Unit: Items, Work: float64(options) * float64(steps+1) * float64(steps+2) / 2, // nodes
		ByHand: func() {
			byhand.Binomial(steps, rate, volatility, spots.Host, strikes.Host, years.Host, puts.Hand)
		},
	}
}

func asian(z Size) *Case {
	const spot, strike, rate, volatility, years = 100, 98, 0.03, 0.25, 1
	paths, rounds := z.of(700, 1<<12, 1<<22), z.of(3, 16, 16)
	step := years / float64(4*rounds)
	drift, deviation := float32((rate-volatility*volatility/2)*step), float32(volatility*math.Sqrt(step))
	seed := rand.Uint64()
	payoffs := out[float32](paths, Agreement{Tolerance: 1e-3})
	return &Case{
		Name: "asian", Kernel: kernels.Asian, Grid: linear(paths, 256),
		Args: []any{seed, rounds, float32(spot), float32(strike), drift, deviation, payoffs},
		Unit: Items, Work: 4 * float64(rounds) * float64(paths), // steps
		ByHand: func() { byhand.Asian(seed, rounds, spot, strike, drift, deviation, payoffs.Hand) },
	}
}
