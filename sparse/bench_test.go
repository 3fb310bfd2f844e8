package sparse_test

import (
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

// benchmarks are matrices of different structure, with about n entries.
func benchmarks(n int) map[string]*sparse.Entries[float32] {
	r := rand.New(rand.NewPCG(1, 1))
	all := map[string]*sparse.Entries[float32]{"stencil": {}, "uniform": {}, "powerLaw": {}}
	side := 1
	for side*side*5 < n {
		side++
	}
	all["stencil"] = laplace[float32](side, 1)
	rows := n / 16
	uniform, power := &sparse.Entries[float32]{Rows: rows, Cols: rows}, &sparse.Entries[float32]{Rows: rows, Cols: rows}
	for range n {
		uniform.Add(r.IntN(rows), r.IntN(rows), 1)
		u := r.Float64()
		power.Add(int(u*u*u*u*u*u*float64(rows)), r.IntN(rows), 1)
	}
	all["uniform"], all["powerLaw"] = uniform, power
	return all
}

func BenchmarkMulVec(b *testing.B) {
	dev := gputest.Open(b, gpu.Config{})
	s := dev.DefaultStream()
	n := 1 << 20
	if dev.Backend() == gpu.CUDA {
		n = 1 << 25
	}
	for name, e := range benchmarks(n) {
		b.Run(name, func(b *testing.B) {
			a, err := sparse.UploadCSR(s, e)
			if err != nil {
				b.Fatal(err)
			}
			defer a.Close()
			x, y := gputest.Upload(b, dev, vector[float32](e.Cols)), gputest.Alloc[float32](b, dev, e.Rows)
			b.SetBytes(int64(8*len(e.Value) + 12*e.Rows))
			b.ReportAllocs()
			for b.Loop() {
				if err := sparse.MulVec(s, false, 1, a, x, 0, y); err != nil {
					b.Fatal(err)
				}
				if err := s.Synchronize(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*float64(len(e.Value))*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
	// The same product in plain Go, on one core.
	e := benchmarks(1 << 20)["uniform"]
	start, index, value := compressed(e)
	x, y := vector[float32](e.Cols), make([]float32, e.Rows)
	b.Run("plainGo", func(b *testing.B) {
		b.SetBytes(int64(8*len(value) + 12*e.Rows))
		for b.Loop() {
			for i := range y {
				sum := float32(0)
				for k := start[i]; k < start[i+1]; k++ {
					sum += value[k] * x[index[k]]
				}
				y[i] = sum
			}
		}
	})
}
