package fft_test

import (
	"fmt"
	"testing"

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
