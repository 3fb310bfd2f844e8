package fft_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// dft computes transforms in float64 with an independent algorithm: one decimation in time
// per prime factor, and the definition for primes.
func dft(x []complex128, sign float64) []complex128 {
	n := len(x)
	p := 2
	for ; p*p <= n && n%p != 0; p++ {
	}
	if n%p != 0 {
		p = n
	}
	out := make([]complex128, n)
	if p == n || n == 1 {
		for k := range out {
			for j, v := range x {
				out[k] += v * cmplx.Rect(1, sign*2*math.Pi*float64(j*k%n)/float64(n))
			}
		}
		return out
	}
	m := n / p
	parts := make([][]complex128, p)
	for r := range parts {
		part := make([]complex128, m)
		for i := range part {
			part[i] = x[i*p+r]
		}
		parts[r] = dft(part, sign)
	}
	for k := range out {
		for r := range parts {
			out[k] += parts[r][k%m] * cmplx.Rect(1, sign*2*math.Pi*float64(r*k%n)/float64(n))
		}
	}
	return out
}

// distance returns the relative L2 error.
func distance[C fft.Complex](got []C, want []complex128) float64 {
	var d, sum float64
	for i, w := range want {
		g := complex128(got[i])
		d += sq(g - w)
		sum += sq(w)
	}
	if sum == 0 {
		return math.Sqrt(d)
	}
	return math.Sqrt(d / sum)
}

func sq(v complex128) float64 { return real(v)*real(v) + imag(v)*imag(v) }

// bound is the documented error of n points.
func bound[C fft.Complex](n int) float64 {
	epsilon := 1e-7
	if _, ok := any(C(0)).(complex128); ok {
		epsilon = 2e-16
	}
	return epsilon * max(1, math.Log2(float64(n)))
}

func random[C fft.Complex](n int, seed uint64) []C {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]C, n)
	for i := range x {
		x[i] = C(complex(r.NormFloat64(), r.NormFloat64()))
	}
	return x
}

func wide[C fft.Complex](x []C) []complex128 {
	w := make([]complex128, len(x))
	for i, v := range x {
		w[i] = complex128(v)
	}
	return w
}

func newPlan[C fft.Complex](t *testing.T, dev *gpu.Device, d fft.Desc) *fft.Plan[C] {
	t.Helper()
	p, err := fft.NewPlan[C](dev, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func testLength[C fft.Complex](t *testing.T, dev *gpu.Device, n, batch int) {
	t.Helper()
	p := newPlan[C](t, dev, fft.Desc{Shape: []int{n}, Batch: batch})
	x := random[C](n*batch, uint64(n))
	in := gputest.Upload(t, dev, x)
	out, back := gputest.Alloc[C](t, dev, n*batch), gputest.Alloc[C](t, dev, n*batch)
	if err := p.Forward(dev.DefaultStream(), out, in); err != nil {
		t.Fatal(err)
	}
	if err := p.Inverse(dev.DefaultStream(), back, out); err != nil {
		t.Fatal(err)
	}
	spectrum, signal := gputest.Download(t, dev, out), gputest.Download(t, dev, back)
	for b := range batch {
		if b > 3 && b < batch-3 {
			continue
		}
		one := wide(x[b*n:][:n])
		if d := distance(spectrum[b*n:][:n], dft(one, -1)); !(d <= bound[C](n)) {
			t.Errorf("%d points, transform %d of %d: error %.3g, want %.3g", n, b, batch, d, bound[C](n))
		}
		if d := distance(signal[b*n:][:n], one); !(d <= 2*bound[C](n)) {
			t.Errorf("%d points, transform %d of %d: error there and back %.3g", n, b, batch, d)
		}
	}
}

func TestPowersOfTwo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for n, last := 1, 1<<13; n <= last; n *= 2 {
			for _, batch := range []int{1, 3} {
				t.Run(fmt.Sprintf("%dx%d", n, batch), func(t *testing.T) {
					testLength[complex64](t, dev, n, batch)
					testLength[complex128](t, dev, n, batch)
				})
			}
		}
	})
}
