package fft_test

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestPowerAndPolar(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		x := random[complex64](1000, 3)
		x[0], x[1], x[2] = 0, complex(1e-30, 1e-30), complex(-1e30, 0)
		in := gputest.Upload(t, dev, x)
		power := gputest.Alloc[float32](t, dev, len(x))
		magnitude, phase := gputest.Alloc[float32](t, dev, len(x)), gputest.Alloc[float32](t, dev, len(x))
		if err := fft.Power(dev.DefaultStream(), power, in, 0.5); err != nil {
			t.Fatal(err)
		}
		if err := fft.Polar(dev.DefaultStream(), magnitude, phase, in); err != nil {
			t.Fatal(err)
		}
		var p, m, a []float32
		for _, v := range x {
			p = append(p, 0.5*(real(v)*real(v)+imag(v)*imag(v)))
			r, theta := cmplx.Polar(complex128(v))
			m, a = append(m, float32(r)), append(a, float32(theta))
		}
		gputest.Equal(t, gputest.Download(t, dev, power), p, gputest.ULP(2), gputest.Name("power"))
		gputest.Equal(t, gputest.Download(t, dev, magnitude), m, gputest.ULP(2), gputest.Name("magnitude"))
		gputest.Equal(t, gputest.Download(t, dev, phase), a, gputest.ULP(4), gputest.Name("phase"))
	})
}

func testShift[E fft.Element](t *testing.T, dev *gpu.Device, batch int, shape ...int) {
	t.Helper()
	points := 1
	for _, n := range shape {
		points *= n
	}
	indices := make([]complex128, points*batch)
	for i := range indices {
		indices[i] = complex(float64(i), 0)
	}
	x := convert[E](indices)
	in := gputest.Upload(t, dev, x)
	out, back := gputest.Alloc[E](t, dev, len(x)), gputest.Alloc[E](t, dev, len(x))
	if err := fft.Shift(dev.DefaultStream(), out, in, shape...); err != nil {
		t.Fatal(err)
	}
	if err := fft.Unshift(dev.DefaultStream(), back, out, shape...); err != nil {
		t.Fatal(err)
	}
	want := make([]E, len(x))
	for i, v := range x {
		to, size, rest := 0, 1, i
		for d := len(shape) - 1; d >= 0; d-- {
			n := shape[d]
			to += (rest%n + n/2) % n * size
			size, rest = size*n, rest/n
		}
		want[to+rest*size] = v
	}
	if got := gputest.Download(t, dev, out); !slices.Equal(got, want) {
		t.Errorf("%T: Shift of %v: %v, want %v", want[0], shape, got, want)
	}
	if got := gputest.Download(t, dev, back); !slices.Equal(got, x) {
		t.Errorf("%T: Unshift of %v does not undo Shift: %v", want[0], shape, got)
	}
}

func TestShift(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, shape := range [][]int{{1}, {2}, {5}, {8}, {3, 4}, {4, 3}, {1, 5}, {2, 3, 4}, {3, 2, 5}} {
			testShift[float32](t, dev, 2, shape...)
			testShift[float64](t, dev, 1, shape...)
			testShift[complex64](t, dev, 3, shape...)
			testShift[complex128](t, dev, 2, shape...)
		}
	})
}

func TestFrequencies(t *testing.T) {
	for _, c := range []struct{ got, want []float64 }{
		{fft.Frequencies(5, 0.1), []float64{0, 2, 4, -4, -2}},
		{fft.Frequencies(4, 0.5), []float64{0, 0.5, -1, -0.5}},
		{fft.Frequencies(1, 1), []float64{0}},
		{fft.Frequencies(0, 1), []float64{}},
		{fft.RealFrequencies(4, 0.5), []float64{0, 0.5, 1}},
		{fft.RealFrequencies(5, 0.1), []float64{0, 2, 4}},
		{fft.RealFrequencies(0, 0.1), nil},
		{fft.RealFrequencies(-1, 0.1), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestWindowsHaveTheDocumentedSums(t *testing.T) {
	for _, n := range []int{4, 16, 1001} {
		for _, c := range []struct {
			name   string
			window []float64
			gain   float64
		}{{"Hann", fft.Hann(n), 0.5}, {"Hamming", fft.Hamming(n), 0.54}, {"Blackman", fft.Blackman(n), 0.42}} {
			sum := 0.0
			for _, w := range c.window {
				sum += w
			}
			if math.Abs(sum-c.gain*float64(n)) > 1e-9 {
				t.Errorf("%s(%d) has the sum %g, want %g", c.name, n, sum, c.gain*float64(n))
			}
		}
	}
}
