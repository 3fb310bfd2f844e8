package random_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/random"
)

// The seeds are fixed, so the tests always have the same results. The bounds are
// those that a correct generator exceeds with a probability of about 1e-4.

const samples = 1 << 17

// drawn returns numbers that the CPU device has drawn.
func drawn[T any](t *testing.T, n int, fill func(s *gpu.Stream, dst *gpu.Buffer[T]) error) []T {
	t.Helper()
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	dst := gputest.Alloc[T](t, dev, n)
	if err := fill(dev.DefaultStream(), dst); err != nil {
		t.Fatal(err)
	}
	return gputest.Download(t, dev, dst)
}

func floats[T random.Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// kolmogorovSmirnov compares the empirical distribution of x with a cumulative
// distribution function.
func kolmogorovSmirnov(t *testing.T, name string, x []float64, cdf func(x float64) float64) {
	t.Helper()
	x = slices.Clone(x)
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	if d *= math.Sqrt(n); !(d < 2.23) {
		t.Errorf("%s: the Kolmogorov-Smirnov statistic is %.3f", name, d)
	}
}

// chiSquared compares counts with expected ones, which are at least 5 or merged with
// their neighbors.
func chiSquared(t *testing.T, name string, counts []int, expected func(k int) float64) {
	t.Helper()
	sum, degrees := 0.0, -1.0
	have, want := 0.0, 0.0
	for k, c := range counts {
		have += float64(c)
		want += expected(k)
		if want >= 10 {
			sum += (have - want) * (have - want) / want
			degrees++
			have, want = 0, 0
		}
	}
	sum += (have - want) * (have - want) / 10
	// Wilson and Hilferty's approximation by a normal distribution.
	a := 2 / (9 * degrees)
	if z := (math.Cbrt(sum/degrees) - (1 - a)) / math.Sqrt(a); !(z < 3.8) {
		t.Errorf("%s: chi-squared is %.1f with %.0f degrees of freedom", name, sum, degrees)
	}
}

// moments compares the mean and the variance of x with exact ones. fourth is the
// fourth central moment.
func moments(t *testing.T, name string, x []float64, mean, variance, fourth float64) {
	t.Helper()
	n, sum, squares := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		sum += v - mean
		squares += (v - mean) * (v - mean)
	}
	if z := sum / math.Sqrt(n*variance); !(math.Abs(z) < 4) {
		t.Errorf("%s: the mean differs by %.2f standard errors", name, z)
	}
	if z := (squares - n*variance) / math.Sqrt(n*(fourth-variance*variance)); !(math.Abs(z) < 4) {
		t.Errorf("%s: the variance differs by %.2f standard errors", name, z)
	}
}

func uniformCDF(x float64) float64 { return x }
func normalCDF(x float64) float64  { return math.Erfc(-x/math.Sqrt2) / 2 }

// gammaCDF is the regularized lower incomplete gamma function.
func gammaCDF(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1.0; n < 10000 && term > sum*1e-16; n++ {
			term *= x / (a + n)
			sum += term
		}
		return front * sum
	}
	// Lentz's method for the continued fraction.
	b := x + 1 - a
	c, d := 1e300, 1/b
	h := d
	for n := 1.0; n < 10000; n++ {
		an := -n * (n - a)
		b += 2
		d = 1 / (an*d + b)
		c = b + an/c
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return 1 - front*h
}

// betaCDF is the regularized incomplete beta function.
func betaCDF(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(1, x))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaCDF(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	c, d := 1.0, 1/(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 10000; m++ {
		e := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / (1 + e*d)
		c = 1 + e/c
		h *= d * c
		e = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / (1 + e*d)
		c = 1 + e/c
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return front * h
}

// verifyFloats tests a distribution in both precisions.
func verifyFloats(t *testing.T, name string, mean, variance, fourth float64, cdf func(x float64) float64,
	fill32 func(s *gpu.Stream, dst *gpu.Buffer[float32]) error, fill64 func(s *gpu.Stream, dst *gpu.Buffer[float64]) error) {
	t.Helper()
	for n, x := range map[string][]float64{
		name + " float32": floats(drawn(t, samples, fill32)),
		name + " float64": drawn(t, samples, fill64),
	} {
		moments(t, n, x, mean, variance, fourth)
		kolmogorovSmirnov(t, n, x, cdf)
		counts := make([]int, 256)
		for _, v := range x {
			counts[min(int(256*cdf(v)), 255)]++
		}
		chiSquared(t, n, counts, func(int) float64 { return samples / 256 })
	}
}

func TestContinuousDistributions(t *testing.T) {
	src := random.Source{Seed: 42}
	verifyFloats(t, "Uniform", 0.5, 1.0/12, 1.0/80, uniformCDF,
		func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Uniform(s, src, dst, 0, 1) },
		func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Uniform(s, src, dst, 0, 1) })
	verifyFloats(t, "Uniform from -5 to 3", -1, 64.0/12, 4096.0/80, func(x float64) float64 { return (x + 5) / 8 },
		func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Uniform(s, src, dst, -5, 3) },
		func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Uniform(s, src, dst, -5, 3) })
	verifyFloats(t, "Normal", 0, 1, 3, normalCDF,
		func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Normal(s, src, dst, 0, 1) },
		func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Normal(s, src, dst, 0, 1) })
	verifyFloats(t, "Normal with mean 5 and deviation 3", 5, 9, 243, func(x float64) float64 { return normalCDF((x - 5) / 3) },
		func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Normal(s, src, dst, 5, 3) },
		func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Normal(s, src, dst, 5, 3) })
	verifyFloats(t, "Exponential", 2, 4, 9*16, func(x float64) float64 { return -math.Expm1(-x / 2) },
		func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Exponential(s, src, dst, 2) },
		func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Exponential(s, src, dst, 2) })
	for _, a := range []float64{0.1, 0.7, 1, 2.5, 30, 4000} {
		const scale = 0.5
		verifyFloats(t, fmt.Sprint("Gamma with shape ", a), a*scale, a*scale*scale, (3*a*a+6*a)*math.Pow(scale, 4),
			func(x float64) float64 { return gammaCDF(a, x/scale) },
			func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Gamma(s, src, dst, a, scale) },
			func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Gamma(s, src, dst, a, scale) })
	}
	for _, p := range [][2]float64{{2, 5}, {0.5, 0.5}, {1, 1}, {30, 0.8}, {100, 200}} {
		a, b := p[0], p[1]
		sum := a + b
		variance := a * b / (sum * sum * (sum + 1))
		excess := 6 * ((a-b)*(a-b)*(sum+1) - a*b*(sum+2)) / (a * b * (sum + 2) * (sum + 3))
		verifyFloats(t, fmt.Sprint("Beta ", a, b), a/sum, variance, (3+excess)*variance*variance,
			func(x float64) float64 { return betaCDF(a, b, x) },
			func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Beta(s, src, dst, a, b) },
			func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Beta(s, src, dst, a, b) })
	}
}

func TestPoissonDistribution(t *testing.T) {
	for _, mean := range []float64{0.01, 1, 3.3, 9.99, 10, 12.5, 40, 1000, 1e6} {
		name := fmt.Sprint("Poisson with mean ", mean)
		x := drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[int64]) error {
			return random.Poisson(s, random.Source{Seed: 3, Stream: 1}, dst, mean)
		})
		low := int(max(0, mean-8*math.Sqrt(mean)-20))
		counts := make([]int, int(16*math.Sqrt(mean))+60)
		f := make([]float64, len(x))
		for i, k := range x {
			f[i] = float64(k)
			counts[min(max(int(k)-low, 0), len(counts)-1)]++
		}
		moments(t, name, f, mean, mean, mean+3*mean*mean)
		chiSquared(t, name, counts, func(k int) float64 {
			lg, _ := math.Lgamma(float64(low+k) + 1)
			return samples * math.Exp(float64(low+k)*math.Log(mean)-mean-lg)
		})
	}
	// Means beyond what a table can hold are nearly normal.
	for _, mean := range []float64{1e9, 1e15} {
		x := drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[int64]) error {
			return random.Poisson(s, random.Source{Seed: 3}, dst, mean)
		})
		f := make([]float64, len(x))
		for i, k := range x {
			f[i] = (float64(k) - mean) / math.Sqrt(mean)
		}
		moments(t, fmt.Sprint("Poisson with mean ", mean), f, 0, 1, 3)
		kolmogorovSmirnov(t, fmt.Sprint("Poisson with mean ", mean), f, normalCDF)
	}
}

func TestIntegersAreUniform(t *testing.T) {
	for _, n := range []int{2, 3, 6, 100, 1000} {
		counts := make([]int, n)
		for _, x := range drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[int32]) error {
			return random.Integers(s, random.Source{Seed: 1}, dst, -5, int32(n)-5)
		}) {
			counts[x+5]++
		}
		chiSquared(t, fmt.Sprint("int32 below ", n), counts, func(int) float64 { return samples / float64(n) })
		clear(counts)
		for _, x := range drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[uint64]) error {
			return random.Integers(s, random.Source{Seed: 1}, dst, 0, uint64(n))
		}) {
			counts[x]++
		}
		chiSquared(t, fmt.Sprint("uint64 below ", n), counts, func(int) float64 { return samples / float64(n) })
	}
}

// A multiplication without rejection would give some of these numbers twice the
// probability of others.
func TestIntegersHaveNoBias(t *testing.T) {
	const n = 3 << 30
	var counts [3]int
	for _, x := range drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[uint32]) error {
		return random.Integers(s, random.Source{Seed: 1}, dst, 0, n)
	}) {
		counts[x%3]++
	}
	chiSquared(t, "modulo 3", counts[:], func(int) float64 { return samples / 3.0 })
	clear(counts[:])
	for _, x := range drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[uint64]) error {
		return random.Integers(s, random.Source{Seed: 1}, dst, 0, n<<32)
	}) {
		counts[x%3]++
	}
	chiSquared(t, "modulo 3 of 64 bits", counts[:], func(int) float64 { return samples / 3.0 })
}

func TestBernoulliDistribution(t *testing.T) {
	for _, p := range []float64{0, 1e-9, 0.001, 0.25, 0.5, 0.999, 1} {
		n := 0
		for _, x := range drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[bool]) error {
			return random.Bernoulli(s, random.Source{Seed: 8}, dst, p)
		}) {
			if x {
				n++
			}
		}
		if d := math.Abs(float64(n) - samples*p); d > 4*math.Sqrt(samples*p*(1-p)) {
			t.Errorf("p = %g: %d of %d are true", p, n, samples)
		}
	}
}

func TestChoiceFollowsTheWeights(t *testing.T) {
	weights := []float64{1, 0, 10, 2.5, 0.125, 7, 7, 1e-3, 3}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	counts := make([]int, len(weights))
	for _, x := range drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[int32]) error {
		a, err := random.NewAlias(s, weights)
		if err != nil {
			return err
		}
		defer a.Close()
		return random.Choice(s, random.Source{Seed: 5}, dst, a)
	}) {
		counts[x]++
	}
	chiSquared(t, "Choice", counts, func(k int) float64 { return samples * weights[k] / sum })
}

// Neighboring streams, seeds and indices are independent: pairs cover the unit square
// evenly and are uncorrelated.
func TestNeighborsAreIndependent(t *testing.T) {
	first := random.Source{Seed: 10, Stream: 20}
	draw := func(src random.Source) []float32 {
		return drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Uniform(s, src, dst, 0, 1) })
	}
	x := draw(first)
	for name, src := range map[string]random.Source{
		"the next stream":     {Seed: 10, Stream: 21},
		"a far stream":        {Seed: 10, Stream: 20 + 1<<32},
		"the next seed":       {Seed: 11, Stream: 20},
		"a far seed":          {Seed: 10 + 1<<32, Stream: 20},
		"seed for stream":     {Seed: 20, Stream: 10},
		"the next index":      first.At(1),
		"four indices on":     first.At(4),
		"a distance of 2^34":  first.At(1 << 34),
		"a distance of 65536": first.At(1 << 16),
	} {
		y := draw(src)
		var counts [32 * 32]int
		sum := 0.0
		for i := range x {
			counts[int(x[i]*32)*32+int(y[i]*32)]++
			sum += (float64(x[i]) - 0.5) * (float64(y[i]) - 0.5)
		}
		chiSquared(t, name, counts[:], func(int) float64 { return samples / 1024.0 })
		if z := sum * 12 / math.Sqrt(samples); math.Abs(z) > 4 {
			t.Errorf("%s: the correlation is %.2f standard errors", name, z)
		}
	}
}

// The two numbers of a pair, and those of neighboring pairs, are independent.
func TestNormalNumbersAreIndependent(t *testing.T) {
	x := drawn(t, samples, func(s *gpu.Stream, dst *gpu.Buffer[float32]) error {
		return random.Normal(s, random.Source{Seed: 6}, dst, 0, 1)
	})
	for lag := 1; lag < 5; lag++ {
		var counts [16 * 16]int
		for i := range x[lag:] {
			counts[int(normalCDF(float64(x[i]))*16)*16+int(normalCDF(float64(x[i+lag]))*16)]++
		}
		chiSquared(t, fmt.Sprint("lag ", lag), counts[:], func(int) float64 { return float64(len(x)-lag) / 256 })
	}
}

// Over all streams, each permutation of a few elements is equally likely, and each
// element goes to each place equally often.
func TestPermutationsAreUniform(t *testing.T) {
	for n := 2; n <= 5; n++ {
		counts := map[string]int{}
		all := 1
		for k := range n {
			all *= k + 1
		}
		const trials = 60000
		for k := range uint64(trials) {
			b := random.Source{Seed: 1, Stream: k}.Bijection(uint64(n))
			order := ""
			for i := range uint64(n) {
				order += string(rune('0' + b.At(i)))
			}
			counts[order]++
		}
		list := make([]int, 0, all)
		for _, c := range counts {
			list = append(list, c)
		}
		if len(list) != all {
			t.Errorf("%d elements have %d permutations, want %d", n, len(list), all)
		}
		chiSquared(t, fmt.Sprint(n, " elements"), list, func(int) float64 { return trials / float64(all) })
	}
	for _, n := range []int{8, 16, 37, 64} {
		counts := make([]int, n*n)
		pairs := make([]int, n) // distance between the images of neighbors
		const trials = 20000
		for k := range uint64(trials) {
			b := random.Source{Seed: 2, Stream: k}.Bijection(uint64(n))
			for i := range n {
				counts[i*n+int(b.At(uint64(i)))]++
			}
			i := k % uint64(n)
			pairs[(int(b.At(i))-int(b.At((i+1)%uint64(n)))+n)%n]++
		}
		chiSquared(t, fmt.Sprint("places of ", n), counts, func(int) float64 { return trials / float64(n) })
		chiSquared(t, fmt.Sprint("neighbors of ", n), pairs[1:], func(int) float64 { return trials / float64(n-1) })
	}
}
