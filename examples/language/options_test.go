package language

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestOptionsAndHintsDoNotChangeResults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x := gputest.Upload(t, d, []int32{1, 2, 3})
		if err := LaunchIncrement(s, gpu.Linear(3), x); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, x); !slices.Equal(got, []int32{2, 3, 4}) {
			t.Errorf("increment: %v", got)
		}
		a, b := gputest.Upload(t, d, []float32{3, 5}), gputest.Upload(t, d, []float32{4, 12})
		out := gputest.Upload(t, d, make([]float32, 2))
		if err := LaunchMagnitudes(s, gpu.Linear(2), a, b, out); err != nil {
			t.Fatal(err)
		}
		for i, want := range []float32{5, 13} {
			if got := gputest.Download(t, d, out)[i]; got < want*(1-1e-5) || got > want*(1+1e-5) {
				t.Errorf("magnitudes: %v, want %v", got, want)
			}
		}
		matrix := make([]float32, 7*5)
		for i := range matrix {
			matrix[i] = float32(i)
		}
		m, sums := gputest.Upload(t, d, matrix), gputest.Upload(t, d, make([]float32, 5))
		if err := LaunchColumnSums(s, gpu.Linear(5), 5, m, sums); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, sums); !slices.Equal(got, []float32{105, 112, 119, 126, 133}) {
			t.Errorf("columnSums: %v", got)
		}
		p := gputest.Upload(t, d, []float32{0, 1, 2})
		if err := LaunchPolynomials(s, gpu.Linear(2), [8]float32{1, 0, 0, 0, 0, 0, 3, -5}, p); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, p); !slices.Equal(got, []float32{-5, -1, 129}) {
			t.Errorf("polynomials: %v", got)
		}
	})
}
