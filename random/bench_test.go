package random_test

import (
	"testing"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/random"
)

func bench[T any](b *testing.B, fill func(s *gpu.Stream, dst *gpu.Buffer[T]) error) {
	dev := gputest.Open(b, gpu.Config{})
	s := dev.DefaultStream()
	n := 1 << 20
	if dev.Backend() == gpu.CUDA {
		n = 1 << 28
	}
	dst, err := gpu.Alloc[T](dev, n)
	if err != nil {
		b.Fatal(err)
	}
	defer dst.Close()
	var element T
	b.SetBytes(int64(n) * int64(unsafe.Sizeof(element)))
	b.ReportAllocs()
	for b.Loop() {
		if err := fill(s, dst); err != nil {
			b.Fatal(err)
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
}

func BenchmarkFill(b *testing.B) {
	src := random.Source{Seed: 1}
	b.Run("Uniform/float32", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Uniform(s, src, dst, 0, 1) })
	})
	b.Run("Normal/float32", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Normal(s, src, dst, 0, 1) })
	})
	b.Run("Normal/float64", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[float64]) error { return random.Normal(s, src, dst, 0, 1) })
	})
	b.Run("Exponential/float32", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Exponential(s, src, dst, 1) })
	})
	b.Run("Gamma/float32", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[float32]) error { return random.Gamma(s, src, dst, 2.5, 1) })
	})
	b.Run("Poisson/3", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[int32]) error { return random.Poisson(s, src, dst, 3) })
	})
	b.Run("Poisson/100", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[int32]) error { return random.Poisson(s, src, dst, 100) })
	})
	b.Run("Integers/int32", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[int32]) error { return random.Integers(s, src, dst, 0, 6) })
	})
	b.Run("Bernoulli", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[bool]) error { return random.Bernoulli(s, src, dst, 0.5) })
	})
	b.Run("Permutation", func(b *testing.B) {
		bench(b, func(s *gpu.Stream, dst *gpu.Buffer[int32]) error { return random.Permutation(s, src, dst, dst.Len()) })
	})
	b.Run("Sobol/8", func(b *testing.B) {
		dev := gputest.Open(b, gpu.Config{})
		q, err := random.NewSobol(dev.DefaultStream(), 8)
		if err != nil {
			b.Fatal(err)
		}
		defer q.Close()
		dst, err := gpu.Alloc[float32](dev, 1<<20)
		if err != nil {
			b.Fatal(err)
		}
		defer dst.Close()
		b.SetBytes(4 << 20)
		for b.Loop() {
			if err := random.Points(dev.DefaultStream(), q, 0, dst); err != nil {
				b.Fatal(err)
			}
			if err := dev.DefaultStream().Synchronize(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
