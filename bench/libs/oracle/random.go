package main

import (
	"fmt"

	"quern.dev/gpu"
	"quern.dev/random"
)

// samples is how many numbers a distribution is tested with.
const samples = 100000

// ksBound is the distance of Kolmogorov and Smirnov that one in 10^6 sets of samples exceeds.
const ksBound = "2.7 / x.size**0.5"

func randomCases(q *suite) {
	s := q.s
	src := random.Source{Seed: q.rng.Uint64(), Stream: q.rng.Uint64()}
	distribution(q, "Uniform float32", "stats.uniform(-2, 5)", func(x *gpu.Buffer[float32]) error { return random.Uniform(s, src, x, -2, 3) })
	distribution(q, "Normal float32", "stats.norm(3, 0.5)", func(x *gpu.Buffer[float32]) error { return random.Normal(s, src, x, 3, 0.5) })
	distribution(q, "Normal float64", "stats.norm(3, 0.5)", func(x *gpu.Buffer[float64]) error { return random.Normal(s, src, x, 3, 0.5) })
	distribution(q, "Exponential float64", "stats.expon(0, 2)", func(x *gpu.Buffer[float64]) error { return random.Exponential(s, src, x, 2) })
	shape := 0.1 + 5*q.rng.Float64()
	distribution(q, "Gamma float64", fmt.Sprintf("stats.gamma(%v, 0, 1.5)", shape), func(x *gpu.Buffer[float64]) error { return random.Gamma(s, src, x, shape, 1.5) })
	distribution(q, "Beta float64", fmt.Sprintf("stats.beta(%v, 2)", shape), func(x *gpu.Buffer[float64]) error { return random.Beta(s, src, x, shape, 2) })
	mean := 50 * q.rng.Float64()
	discrete(q, "Poisson", fmt.Sprintf("stats.poisson(%v)", mean), func(x *gpu.Buffer[int64]) error { return random.Poisson(s, src, x, mean) })
	discrete(q, "Integers", "stats.randint(-5, 37)", func(x *gpu.Buffer[int64]) error { return random.Integers(s, src, x, -5, 37) })

	t := q.test("random.Bernoulli", "0.3", "5 * (0.3 * 0.7 / x.size)**0.5").of("xp.mean(x)")
	coins := output[bool](t, "x", samples)
	t.run(func() error { return random.Bernoulli(s, src, coins, 0.3) })

	n := q.size(q.most)
	t = q.test("random.Permutation", "xp.arange(got.size)", "0").of("xp.sort(got)")
	order := output[int32](t, "got", n)
	t.run(func() error { return random.Permutation(s, src, order, n) })

	// Blocks of points are the same in any order of a sequence.
	dimensions := q.size(100)
	t = q.test("random.Points", "xp.sort(qmc.Sobol(x.shape[1], scramble=False, bits=32).random(x.shape[0]), 0)", "0").of("xp.sort(x, 0)").onHost()
	points := output[float64](t, "x", 256, dimensions)
	t.run(func() error {
		sobol, err := random.NewSobol(s, dimensions)
		if err != nil {
			return err
		}
		q.close = append(q.close, sobol.Close)
		return random.Points(s, sobol, 0, points)
	})
}

// distribution compares samples with a continuous distribution of scipy.stats, by its cumulative
// function: what kstest makes of a name has changed between versions of SciPy.
func distribution[T float32 | float64](q *suite, name, of string, fill func(*gpu.Buffer[T]) error) {
	t := q.test("random."+name, "0.", ksBound).of("stats.kstest(x, " + of + ".cdf).statistic").onHost()
	x := output[T](t, "x", samples)
	t.run(func() error { return fill(x) })
}

// discrete compares the distribution function of samples with one of scipy.stats.
func discrete(q *suite, name, of string, fill func(*gpu.Buffer[int64]) error) {
	const values = "xp.arange(x.min() - 1, x.max() + 2)"
	t := q.test("random."+name, of+".cdf("+values+")", ksBound).of("xp.searchsorted(xp.sort(x), " + values + ", 'right') / x.size").onHost()
	x := output[int64](t, "x", samples)
	t.run(func() error { return fill(x) })
}
