package output

import (
	"math"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestRandomWordsAreTheSameOnEveryDevice(t *testing.T) {
	const seed, threads, n = 0x9E3779B97F4A7C15, 96, 11
	want := make([]uint32, threads*n)
	kernel.Each(kernel.Dim3{X: 3}, kernel.Dim3{X: 32}, func(th kernel.Thread) { words(th, seed, n, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]uint32, threads*n))
		if err := LaunchWords(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 3}, gpu.Dim3{X: 32}), seed, n, out); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, out); !slices.Equal(got, want) {
			t.Errorf("the words differ from plain Go's: %x, want %x", got[:n], want[:n])
		}
	})
}

// TestDrawsAgreeOnEveryDevice compares bit for bit, except for numbers computed with
// logarithms and sines, which must agree within the accuracy of these functions.
func TestDrawsAgreeOnEveryDevice(t *testing.T) {
	const seed, threads = 42, 256
	want := make([]float64, threads*8)
	kernel.Each(kernel.Dim3{X: 4}, kernel.Dim3{X: 64}, func(th kernel.Thread) { draws(th, seed, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]float64, threads*8))
		if err := LaunchDraws(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 4}, gpu.Dim3{X: 64}), seed, out); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, out) {
			tolerance := 0.0
			if k := i % 8; k >= 4 && k <= 6 {
				tolerance = 4e-6
			}
			if math.Abs(got-want[i]) > tolerance || math.IsNaN(got) {
				t.Errorf("thread %d, draw %d: %g, want %g", i/8, i%8, got, want[i])
			}
		}
	})
}
