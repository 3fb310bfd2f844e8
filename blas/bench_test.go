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

// BenchmarkGemmPlans measures what gemmTiles and the costs beside it describe: products with B
// transposed by every kernel, with several numbers of parts.
func BenchmarkGemmPlans(b *testing.B) {
	for _, n := range []int{512, 1024, 2048, 4096} {
		for _, parts := range []int{1, 2, 3, 4, 8} {
			for kernel := range gemmKernel(len(gemmTiles)) {
				if g := gemmTiles[kernel]; g.device == gpu.CPU || parts > 1 && n > 2048 {
					continue
				} else if g.float32 {
					b.Run(fmt.Sprintf("float32/%d/kernel %d/parts %d", n, kernel, parts), func(b *testing.B) { benchPlan[float32](b, n, kernel, parts) })
				} else {
					b.Run(fmt.Sprintf("float64/%d/kernel %d/parts %d", n, kernel, parts), func(b *testing.B) { benchPlan[float64](b, n, kernel, parts) })
				}
			}
		}
	}
}

func benchPlan[T Float](b *testing.B, n int, kernel gemmKernel, parts int) {
	eachBackend(b, func(b *testing.B, d *gpu.Device) {
		if d.Backend() == gpu.CPU {
			b.Skip("a kernel for GPUs")
		}
		x, c := gputest.Alloc[T](b, d, n*n), gputest.Alloc[T](b, d, n*n)
		a := gemmArguments[T]{
			m: n, n: n, k: n, batch: 1, flags: flagsOf(NoTrans, Trans, true, true, true),
			lda: n, ldb: n, ldc: n, alpha: 1, a: x, b: x, c: c,
		}
		for b.Loop() {
			if err := a.run(d.DefaultStream(), force[T](kernel, 0, parts), nil); err != nil {
				b.Fatal(err)
			}
		}
		if err := d.DefaultStream().Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e12, "TFLOP/s")
	})
}

// BenchmarkVectors runs the sums and updates of vectors that are limited by memory.
func BenchmarkVectors(b *testing.B) {
	for _, n := range []int{100, 4096, 1 << 20} {
		b.Run(fmt.Sprintf("float32/%d", n), func(b *testing.B) { benchVectors[float32](b, n) })
		b.Run(fmt.Sprintf("float64/%d", n), func(b *testing.B) { benchVectors[float64](b, n) })
	}
}

func benchVectors[T Float](b *testing.B, n int) {
	host := make([]T, n)
	for i := range host {
		host[i] = T(i%7) / 7
	}
	rows := 1024
	columns := n / rows
	if n < 1<<20 {
		rows, columns = 64, n/64
	}
	run := func(b *testing.B, name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelements/s")
		})
	}
	eachBackend(b, func(b *testing.B, d *gpu.Device) {
		s := d.DefaultStream()
		x, y := Vector[T]{n, 1, gputest.Upload(b, d, host)}, Vector[T]{n, 1, gputest.Upload(b, d, host)}
		out := gputest.Alloc[T](b, d, 1)
		a := General[T]{rows, columns, columns, x.Data}
		short, long := Vector[T]{columns, 1, gputest.Upload(b, d, host)}, Vector[T]{rows, 1, gputest.Alloc[T](b, d, rows)}
		do := func(err error) {
			if err == nil {
				err = s.Synchronize(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		run(b, "dot", func() { do(Dot(s, x, y, out)) })
		run(b, "axpy", func() { do(Axpy(s, 0.5, x, y)) })
		run(b, "nrm2", func() { do(Nrm2(s, x, out)) })
		run(b, "gemv", func() { do(Gemv(s, NoTrans, 1, a, short, 0, long)) })
		run(b, "gemvT", func() { do(Gemv(s, Trans, 1, a, long, 0, short)) })
	})
	x, y, out := host, append([]T(nil), host...), make([]T, rows)
	if x, ok := any(x).([]float64); ok {
		y, out := any(y).([]float64), any(out).([]float64)
		g := gonum.Implementation{}
		run(b, "gonum/dot", func() { g.Ddot(n, x, 1, y, 1) })
		run(b, "gonum/axpy", func() { g.Daxpy(n, 0.5, x, 1, y, 1) })
		run(b, "gonum/nrm2", func() { g.Dnrm2(n, x, 1) })
		run(b, "gonum/gemv", func() { g.Dgemv(blas.NoTrans, rows, columns, 1, x, columns, y[:columns], 1, 0, out, 1) })
		run(b, "gonum/gemvT", func() { g.Dgemv(blas.Trans, rows, columns, 1, x, columns, out, 1, 0, y[:columns], 1) })
	}
	if x, ok := any(x).([]float32); ok {
		y, out := any(y).([]float32), any(out).([]float32)
		g := gonum.Implementation{}
		run(b, "gonum/dot", func() { g.Sdot(n, x, 1, y, 1) })
		run(b, "gonum/axpy", func() { g.Saxpy(n, 0.5, x, 1, y, 1) })
		run(b, "gonum/nrm2", func() { g.Snrm2(n, x, 1) })
		run(b, "gonum/gemv", func() { g.Sgemv(blas.NoTrans, rows, columns, 1, x, columns, y[:columns], 1, 0, out, 1) })
		run(b, "gonum/gemvT", func() { g.Sgemv(blas.Trans, rows, columns, 1, x, columns, out, 1, 0, y[:columns], 1) })
	}
}
