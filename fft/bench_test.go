package fft_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// BenchmarkForward measures complex transforms on the CPU device.
func BenchmarkForward(b *testing.B) {
	for _, c := range []struct{ n, batch int }{{64, 4096}, {1000, 256}, {1024, 256}, {1 << 16, 4}, {1 << 20, 1}, {1009, 64}} {
		b.Run(fmt.Sprintf("%dx%d", c.n, c.batch), func(b *testing.B) {
			benchmarkForward[complex64](b, c.n, c.batch)
		})
	}
}

func benchmarkForward[C fft.Complex](b *testing.B, n, batch int) {
	dev := gputest.Open(b, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	p, err := fft.NewPlan[C](dev, fft.Desc{Shape: []int{n}, Batch: batch})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	x, y := gputest.Upload(b, dev, random[C](n*batch, 1)), gputest.Alloc[C](b, dev, n*batch)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Forward(s, y, x); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*batch)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
}

// gonumCases are transforms for BenchmarkCPU: powers of two, products of small primes, a prime, and
// a prime times a small number.
var gonumCases = []struct{ n, batch int }{{64, 4096}, {1000, 256}, {1024, 256}, {1155, 256}, {3 * 243, 256}, {1 << 16, 4}, {1009, 64}, {34, 4096}, {1 << 20, 1}}

// BenchmarkCPU compares complex and real transforms on the CPU device with gonum's on as many
// goroutines as there are processors.
func BenchmarkCPU(b *testing.B) {
	dev := gputest.Open(b, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	for _, c := range gonumCases {
		n, batch := c.n, c.batch
		run := func(name string, f func() error) {
			b.Run(fmt.Sprintf("%s/%dx%d", name, n, batch), func(b *testing.B) {
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n*batch)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
			})
		}
		in := random[complex128](n*batch, 1)
		p, err := fft.NewPlan[complex128](dev, fft.Desc{Shape: []int{n}, Batch: batch})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		x, y := gputest.Upload(b, dev, in), gputest.Alloc[complex128](b, dev, n*batch)
		run("complex", func() error { return errors.Join(p.Forward(s, y, x), s.Synchronize(b.Context())) })
		r, err := fft.NewRealPlan[float64, complex128](dev, fft.Desc{Shape: []int{n}, Batch: batch})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		reals := make([]float64, n*batch)
		for i, v := range in {
			reals[i] = real(v)
		}
		u, half := gputest.Upload(b, dev, reals), gputest.Alloc[complex128](b, dev, (n/2+1)*batch)
		run("real", func() error { return errors.Join(r.Forward(s, half, u), s.Synchronize(b.Context())) })

		out := make([]complex128, n*batch)
		each := func(f func(worker, i int)) {
			var wg sync.WaitGroup
			workers := runtime.GOMAXPROCS(0)
			for w := range workers {
				wg.Go(func() {
					for i := w; i < batch; i += workers {
						f(w, i)
					}
				})
			}
			wg.Wait()
		}
		var plans [256]*fourier.CmplxFFT
		var realPlans [256]*fourier.FFT
		for w := range runtime.GOMAXPROCS(0) {
			plans[w], realPlans[w] = fourier.NewCmplxFFT(n), fourier.NewFFT(n)
		}
		run("gonum complex", func() error {
			each(func(w, i int) { plans[w].Coefficients(out[i*n:(i+1)*n], in[i*n:(i+1)*n]) })
			return nil
		})
		run("gonum real", func() error {
			each(func(w, i int) {
				realPlans[w].Coefficients(out[i*(n/2+1):(i+1)*(n/2+1)], reals[i*n:(i+1)*n])
			})
			return nil
		})
	}
}
