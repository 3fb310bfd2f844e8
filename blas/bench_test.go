package blas

import (
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// eachBackend runs a benchmark on the CPU device, and on a GPU if there is one.
func eachBackend(b *testing.B, f func(b *testing.B, d *gpu.Device)) {
	for _, info := range gpu.Devices() {
		if info.Err == nil && info.Backend != gpu.Sim {
			b.Run(info.ID, func(b *testing.B) { f(b, gputest.Open(b, gpu.Config{Device: info.ID})) })
		}
	}
}

// BenchmarkGemm multiplies square matrices, here and with gonum.
func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{64, 512, 1024} {
		b.Run(fmt.Sprintf("float32/%d", n), func(b *testing.B) { benchGemm[float32](b, n) })
		b.Run(fmt.Sprintf("float64/%d", n), func(b *testing.B) { benchGemm[float64](b, n) })
	}
}

func benchGemm[T Float](b *testing.B, n int) {
	x := make([]T, n*n)
	for i := range x {
		x[i] = T(i%7) / 7
	}
	report := func(b *testing.B) {
		b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	}
	eachBackend(b, func(b *testing.B, d *gpu.Device) {
		s := d.DefaultStream()
		m := General[T]{n, n, n, gputest.Upload(b, d, x)}
		c := General[T]{n, n, n, gputest.Alloc[T](b, d, n*n)}
		b.ReportAllocs()
		for b.Loop() {
			if err := Gemm(s, NoTrans, NoTrans, 1, m, m, 0, c); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
		report(b)
	})
	b.Run("gonum", func(b *testing.B) {
		c := make([]T, n*n)
		for b.Loop() {
			switch x := any(x).(type) {
			case []float32:
				gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, x, n, 0, any(c).([]float32), n)
			case []float64:
				gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, x, n, 0, any(c).([]float64), n)
			}
		}
		report(b)
	})
}
