package fft_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func testReal[R fft.Float, C fft.Complex](t *testing.T, dev *gpu.Device, d fft.Desc) {
	t.Helper()
	p, err := fft.NewRealPlan[R, C](dev, d)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	batch, points := max(1, d.Batch), 1
	for _, n := range d.Shape {
		points *= n
	}
	half := slices.Clone(d.Shape)
	last := half[len(half)-1]
	half[len(half)-1] = last/2 + 1
	from, fromLength := places(d.Signal, d.Shape, batch)
	to, toLength := places(d.Spectrum, half, batch)
	r := rand.New(rand.NewPCG(uint64(points), 5))
	signal, x := make([]R, fromLength), make([]complex128, len(from))
	for i := range signal {
		signal[i] = R(math.NaN())
	}
	for i, at := range from {
		signal[at] = R(r.NormFloat64())
		x[i] = complex(float64(signal[at]), 0)
	}
	in := gputest.Upload(t, dev, signal)
	out, back := gputest.Alloc[C](t, dev, toLength), gputest.Alloc[R](t, dev, fromLength)
	if err := p.Forward(dev.DefaultStream(), out, in); err != nil {
		t.Fatal(err)
	}
	spectrum := gputest.Download(t, dev, out)
	got := make([]C, len(to))
	for i, at := range to {
		got[i] = spectrum[at]
	}
	var want []complex128
	for i, v := range transformAll(x, d.Shape, -1) {
		if i%last <= last/2 {
			want = append(want, v)
		}
	}
	if e := distance(got, want); !(e <= bound[C](points)) {
		t.Errorf("%+v: error %.3g", d, e)
	}
	if err := p.Inverse(dev.DefaultStream(), back, out); err != nil {
		t.Fatal(err)
	}
	if after := gputest.Download(t, dev, out); !slices.EqualFunc(after, spectrum, func(a, b C) bool {
		return a == b || cmplx.IsNaN(complex128(a)) && cmplx.IsNaN(complex128(b))
	}) {
		t.Errorf("%+v: Inverse has changed its input", d)
	}
	result := gputest.Download(t, dev, back)
	signals := make([]C, len(x))
	for i, at := range from {
		signals[i] = C(complex(float64(result[at]), 0))
		result[at] = R(math.NaN())
	}
	for i, v := range result {
		if !math.IsNaN(float64(v)) {
			t.Fatalf("%+v: element %d is not part of the layout, but was written: %v", d, i, v)
		}
	}
	if e := distance(signals, x); !(e <= 2*bound[C](points)) {
		t.Errorf("%+v: error there and back %.3g", d, e)
	}
}

func TestReal(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for n := 1; n <= 40; n++ {
			d := fft.Desc{Shape: []int{n}, Batch: 1 + n%4}
			testReal[float32, complex64](t, dev, d)
			testReal[float64, complex128](t, dev, d)
		}
		for _, d := range []fft.Desc{
			{Shape: []int{1024}, Batch: 3},
			{Shape: []int{1000}, Batch: 3},
			{Shape: []int{202}, Batch: 3},
			{Shape: []int{1 << 16}, Batch: 2},
			{Shape: []int{38}, Batch: 5, Signal: fft.Layout{Dist: 41}},
			{Shape: []int{5, 34}, Batch: 3, Signal: fft.Layout{Embed: []int{5, 36}}, Spectrum: fft.Layout{Stride: 2}},
			{Shape: []int{60}, Batch: 5, Signal: fft.Layout{Stride: 5, Dist: 1}},
			{Shape: []int{60}, Batch: 5, Spectrum: fft.Layout{Stride: 5, Dist: 1}},
			{Shape: []int{15}, Batch: 5, Signal: fft.Layout{Stride: 5, Dist: 1}, Spectrum: fft.Layout{Stride: 6, Dist: 1}},
			{Shape: []int{24, 32}},
			{Shape: []int{24, 1}},
			{Shape: []int{1, 24}},
			{Shape: []int{12, 15}, Batch: 3, Signal: fft.Layout{Embed: []int{12, 17}}, Spectrum: fft.Layout{Embed: []int{12, 10}, Stride: 2}},
			{Shape: []int{6, 8, 10}, Batch: 2},
			{Shape: []int{6, 8, 9}, Batch: 2},
		} {
			testReal[float32, complex64](t, dev, d)
			testReal[float64, complex128](t, dev, d)
		}
	})
}
