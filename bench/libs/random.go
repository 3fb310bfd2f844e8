package main

import (
	"context"
	"fmt"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/random"
)

func init() { register("random", measureRandom) }

// randomCase fills an array. peers_random.py has the same ones, by name.
type randomCase struct {
	name string
	run  func(ctx context.Context, s *gpu.Stream, n int) (seconds float64, bytes int, err error)
}

// filling returns the measurement of a function that fills n numbers.
func filling[T any](fill func(s *gpu.Stream, dst *gpu.Buffer[T]) error) func(ctx context.Context, s *gpu.Stream, n int) (float64, int, error) {
	return func(ctx context.Context, s *gpu.Stream, n int) (float64, int, error) {
		dst, err := gpu.Alloc[T](s.Device(), n)
		if err != nil {
			return 0, 0, err
		}
		defer dst.Close()
		seconds, err := measure(ctx, s, func() error { return fill(s, dst) })
		var element T
		return seconds, n * int(unsafe.Sizeof(element)), err
	}
}

var randomSource = random.Source{Seed: 1}

var randomCases = []randomCase{
	{"bits uint32", filling(func(s *gpu.Stream, dst *gpu.Buffer[uint32]) error { return random.Bits(s, randomSource, dst) })},
	{"uniform float32", filling(func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Uniform(s, randomSource, dst, 0, 1) })},
	{"uniform float64", filling(func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Uniform(s, randomSource, dst, 0, 1) })},
	{"normal float32", filling(func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Normal(s, randomSource, dst, 0, 1) })},
	{"normal float64", filling(func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Normal(s, randomSource, dst, 0, 1) })},
	{"exponential float32", filling(func(s *gpu.Stream, dst *gpu.Buffer[float32]) error {
		return random.Exponential(s, randomSource, dst, 1)
	})},
	{"gamma 2.5 float64", filling(func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Gamma(s, randomSource, dst, 2.5, 1) })},
	{"beta 2 5 float64", filling(func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Beta(s, randomSource, dst, 2, 5) })},
	{"poisson 3 int64", filling(func(s *gpu.Stream, dst *gpu.Buffer[int64]) error { return random.Poisson(s, randomSource, dst, 3) })},
	{"poisson 100 int64", filling(func(s *gpu.Stream, dst *gpu.Buffer[int64]) error { return random.Poisson(s, randomSource, dst, 100) })},
	{"integers below 1000 int32", filling(func(s *gpu.Stream, dst *gpu.Buffer[int32]) error {
		return random.Integers(s, randomSource, dst, 0, 1000)
	})},
	{"bernoulli", filling(func(s *gpu.Stream, dst *gpu.Buffer[bool]) error { return random.Bernoulli(s, randomSource, dst, 0.3) })},
	{"permutation int32", filling(func(s *gpu.Stream, dst *gpu.Buffer[int32]) error {
		return random.Permutation(s, randomSource, dst, dst.Len())
	})},
	{"sobol 8 float32", func(ctx context.Context, s *gpu.Stream, n int) (float64, int, error) {
		q, err := random.NewSobol(s, 8)
		if err != nil {
			return 0, 0, err
		}
		defer q.Close()
		return filling(func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Points(s, q, 0, dst) })(ctx, s, n)
	}},
}

// measureRandom prints the time, the bandwidth of what is written, and the speed relative
// to the faster of CuPy and torch.
func measureRandom(ctx context.Context, dev *gpu.Device) error {
	peers, err := peer(ctx, "peers_random.py")
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
	}
	n := 1 << 26
	if dev.Backend() != gpu.CUDA {
		n = 1 << 18
	}
	fmt.Printf("%-28s %10s %10s %8s %10s %8s\n", fmt.Sprintf("%d numbers", n), "us", "Gnumbers/s", "GB/s", "peer us", "relative")
	for _, c := range randomCases {
		seconds, bytes, err := c.run(ctx, dev.DefaultStream(), n)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%-28s %10.1f %10.2f %8.0f", c.name, seconds*1e6, float64(n)/seconds/1e9, float64(bytes)/seconds/1e9)
		if theirs, ok := peers[c.name]; ok && dev.Backend() == gpu.CUDA {
			fmt.Printf(" %10.1f %8.2f", theirs*1e6, theirs/seconds)
		}
		fmt.Println()
	}
	return nil
}
