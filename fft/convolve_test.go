package fft_test

import (
	"fmt"
	"math/cmplx"
	"testing"

	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// convolve computes one convolution from its definition.
func convolve(d fft.ConvolutionDesc, a, b []complex128) []complex128 {
	out := make([]complex128, d.Results())
	n := len(out)
	for i, x := range a {
		for j, y := range b {
			k := i + j
			if d.Correlate {
				y = cmplx.Conj(y)
				k = i - j + d.Kernel - 1
				if d.Circular {
					k = i - j + n
				}
			}
			out[k%n] += x * y
		}
	}
	return out
}

func convert[E fft.Element](x []complex128) []E {
	out := make([]E, len(x))
	for i, v := range x {
		switch p := any(&out[i]).(type) {
		case *float32:
			*p = float32(real(v))
		case *float64:
			*p = real(v)
		case *complex64:
			*p = complex64(v)
		case *complex128:
			*p = v
		}
	}
	return out
}

func widen[E fft.Element](x []E) []complex128 {
	out := make([]complex128, len(x))
	for i, v := range x {
		switch v := any(v).(type) {
		case float32:
			out[i] = complex(float64(v), 0)
		case float64:
			out[i] = complex(v, 0)
		case complex64:
			out[i] = complex128(v)
		case complex128:
			out[i] = v
		}
	}
	return out
}

func testConvolution[E fft.Element](t *testing.T, dev *gpu.Device, d fft.ConvolutionDesc, epsilon float64) {
	t.Helper()
	c, err := fft.NewConvolution[E](dev, d)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	batch, kernels := max(1, d.Batch), max(1, d.Kernels)
	a, b := convert[E](random[complex128](d.Signal*batch, 3)), convert[E](random[complex128](d.Kernel*kernels, 4))
	out := gputest.Alloc[E](t, dev, d.Results()*batch)
	if err := c.Run(dev.DefaultStream(), out, gputest.Upload(t, dev, a), gputest.Upload(t, dev, b)); err != nil {
		t.Fatal(err)
	}
	got := widen(gputest.Download(t, dev, out))
	for i := range batch {
		want := convolve(d, widen(a[i*d.Signal:][:d.Signal]), widen(b[i%kernels*d.Kernel:][:d.Kernel]))
		if e := distance(got[i*d.Results():][:d.Results()], want); !(e <= epsilon) {
			t.Errorf("%T %+v: result %d: error %.3g", *new(E), d, i, e)
		}
	}
}

func TestConvolutions(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, d := range []fft.ConvolutionDesc{
			{Signal: 1, Kernel: 1},
			{Signal: 1, Kernel: 1, Circular: true},
			{Signal: 5, Kernel: 3},
			{Signal: 3, Kernel: 5, Batch: 2, Kernels: 2},
			{Signal: 100, Kernel: 17, Batch: 3},
			{Signal: 64, Kernel: 65, Batch: 3, Kernels: 3},
			{Signal: 64, Kernel: 64, Batch: 3, Kernels: 3, Circular: true},
			{Signal: 15, Kernel: 15, Batch: 3, Circular: true},
			{Signal: 34, Kernel: 34, Circular: true},
		} {
			for _, d.Correlate = range []bool{false, true} {
				t.Run(fmt.Sprintf("%+v", d), func(t *testing.T) {
					testConvolution[float32](t, dev, d, 1e-6)
					testConvolution[float64](t, dev, d, 4e-15)
					testConvolution[complex64](t, dev, d, 1e-6)
					testConvolution[complex128](t, dev, d, 4e-15)
				})
			}
		}
	})
}
