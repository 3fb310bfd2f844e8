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
	epsilon := 5e-8
	if _, ok := any(C(0)).(complex128); ok {
		epsilon = 4e-16
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

func TestLengths(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		last := 140
		if dev.Backend() == gpu.Sim {
			last = 40
		}
		for n := 1; n <= last; n++ {
			testLength[complex64](t, dev, n, 1+n%5)
			testLength[complex128](t, dev, n, 1+n%3)
		}
		for _, n := range []int{
			143, 169, 1000, 1001, 2187, 3125, 2401, 1331, 2197, // products and powers of each radix
			1009, 2053, // primes
			6006, 10000, // two passes
		} {
			testLength[complex64](t, dev, n, 2)
			if dev.Backend() != gpu.Sim {
				testLength[complex128](t, dev, n, 1)
			}
		}
	})
}

// transformAll computes the transforms of a batch of arrays of up to three dimensions.
func transformAll(x []complex128, shape []int, sign float64) []complex128 {
	out := append([]complex128(nil), x...)
	inner := 1
	for d := len(shape) - 1; d >= 0; d-- {
		n := shape[d]
		for first := range len(out) / n {
			at := first/inner*inner*n + first%inner
			line := make([]complex128, n)
			for i := range line {
				line[i] = out[at+i*inner]
			}
			for i, v := range dft(line, sign) {
				out[at+i*inner] = v
			}
		}
		inner *= n
	}
	return out
}

// places returns where the elements of a batch are in a buffer, and how long it is.
func places(l fft.Layout, shape []int, batch int) (at []int, extent int) {
	embed, stride, dist := l.Embed, max(1, l.Stride), l.Dist
	if embed == nil {
		embed = shape
	}
	if dist == 0 {
		dist = stride
		for _, n := range embed {
			dist *= n
		}
	}
	for b := range batch {
		index := make([]int, len(shape))
		for {
			place := 0
			for d, i := range index {
				place = place*embed[d] + i
			}
			at = append(at, b*dist+place*stride)
			extent = max(extent, b*dist+place*stride+1)
			d := len(shape) - 1
			for ; d >= 0; d-- {
				if index[d]++; index[d] < shape[d] {
					break
				}
				index[d] = 0
			}
			if d < 0 {
				break
			}
		}
	}
	return at, extent
}

func testDesc[C fft.Complex](t *testing.T, dev *gpu.Device, d fft.Desc) {
	t.Helper()
	testPlan(t, dev, d, newPlan[C](t, dev, d))
}

func testPlan[C fft.Complex](t *testing.T, dev *gpu.Device, d fft.Desc, p *fft.Plan[C]) {
	t.Helper()
	batch, points := max(1, d.Batch), 1
	for _, n := range d.Shape {
		points *= n
	}
	from, fromLength := places(d.Signal, d.Shape, batch)
	to, toLength := places(d.Spectrum, d.Shape, batch)
	x := random[C](points*batch, 7)
	signal := make([]C, fromLength)
	nan := C(cmplx.NaN())
	for i := range signal {
		signal[i] = nan // not read
	}
	for i, at := range from {
		signal[at] = x[i]
	}
	in := gputest.Upload(t, dev, signal)
	out, back := gputest.Alloc[C](t, dev, toLength), gputest.Alloc[C](t, dev, fromLength)
	if err := p.Forward(dev.DefaultStream(), out, in); err != nil {
		t.Fatal(err)
	}
	spectrum := gputest.Download(t, dev, out)
	got := make([]C, len(to))
	for i, at := range to {
		got[i] = spectrum[at]
		spectrum[at] = nan
	}
	for i, v := range spectrum {
		if !cmplx.IsNaN(complex128(v)) {
			t.Fatalf("%+v: element %d is not part of the layout, but was written: %v", d, i, v)
		}
	}
	forward, inverse := 1., 1/float64(points)
	switch d.Norm {
	case fft.NormNone:
		inverse = 1
	case fft.NormOrtho:
		forward = 1 / math.Sqrt(float64(points))
		inverse = forward
	}
	want := transformAll(wide(x), d.Shape, -1)
	for i := range want {
		want[i] *= complex(forward, 0)
	}
	if e := distance(got, want); !(e <= bound[C](points)) {
		t.Errorf("%+v: error %.3g", d, e)
	}
	if err := p.Inverse(dev.DefaultStream(), back, out); err != nil {
		t.Fatal(err)
	}
	result := gputest.Download(t, dev, back)
	for i, at := range from {
		got[i] = result[at]
		want[i] = complex128(x[i]) * complex(forward*inverse*float64(points), 0)
	}
	if e := distance(got, want); !(e <= 2*bound[C](points)) {
		t.Errorf("%+v: error there and back %.3g", d, e)
	}
}

var descs = []fft.Desc{
	{Shape: []int{64}, Batch: 5, Norm: fft.NormOrtho},
	{Shape: []int{64}, Batch: 5, Norm: fft.NormNone},
	{Shape: []int{64}, Batch: 5, Signal: fft.Layout{Stride: 5, Dist: 1}},
	{Shape: []int{60}, Batch: 9, Spectrum: fft.Layout{Stride: 9, Dist: 1}},
	{Shape: []int{60}, Batch: 3, Signal: fft.Layout{Stride: 2, Dist: 130}, Spectrum: fft.Layout{Dist: 61}},
	{Shape: []int{17}, Batch: 9, Spectrum: fft.Layout{Stride: 9, Dist: 1}},
	{Shape: []int{17}, Batch: 9, Signal: fft.Layout{Stride: 9, Dist: 1}, Spectrum: fft.Layout{Stride: 9, Dist: 1}},
	{Shape: []int{32, 48}},
	{Shape: []int{1, 48}},
	{Shape: []int{48, 1}},
	{Shape: []int{1, 1}, Batch: 3},
	{Shape: []int{19, 64}, Batch: 2},
	{Shape: []int{64, 19}, Batch: 2},
	{Shape: []int{33, 31}, Batch: 3, Signal: fft.Layout{Embed: []int{40, 35}}},
	{Shape: []int{16, 9}, Batch: 3, Signal: fft.Layout{Embed: []int{16, 10}, Stride: 2}, Spectrum: fft.Layout{Embed: []int{17, 11}, Dist: 200}},
	{Shape: []int{8, 12, 20}, Batch: 2},
	{Shape: []int{6, 7, 16}, Batch: 2, Signal: fft.Layout{Embed: []int{6, 8, 18}}, Spectrum: fft.Layout{Embed: []int{7, 9, 17}, Stride: 3}},
	{Shape: []int{4, 128, 4}},
}

func TestLayouts(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, d := range descs {
			testDesc[complex64](t, dev, d)
			testDesc[complex128](t, dev, d)
		}
	})
}

// Columns of the longest transforms that one pass computes. A block has 1024 threads.
func TestLargestBlocks(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testDesc[complex64](t, dev, fft.Desc{Shape: []int{4096, 4}})
		testDesc[complex64](t, dev, fft.Desc{Shape: []int{1000, 4}})
	})
}

func TestLongTransforms(t *testing.T) {
	test := func(t *testing.T, dev *gpu.Device, most int, d fft.Desc) {
		t.Helper()
		single, err := fft.NewSplitPlan[complex64](dev, d, most)
		if err != nil {
			t.Fatal(err)
		}
		defer single.Close()
		testPlan(t, dev, d, single)
		double, err := fft.NewSplitPlan[complex128](dev, d, most)
		if err != nil {
			t.Fatal(err)
		}
		defer double.Close()
		testPlan(t, dev, d, double)
	}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, c := range []struct{ most, n, batch int }{
			{6, 36, 1}, {6, 36, 3}, {6, 64, 2}, // two and three passes
			{16, 32, 3}, {16, 210, 1}, {16, 256, 2}, {16, 512, 1}, {16, 1024, 2},
			{33, 64, 5}, {33, 1024, 1},
		} {
			test(t, dev, c.most, fft.Desc{Shape: []int{c.n}, Batch: c.batch, Norm: fft.NormOrtho})
		}
		for _, d := range []fft.Desc{
			{Shape: []int{64}, Batch: 5, Signal: fft.Layout{Stride: 5, Dist: 1}, Spectrum: fft.Layout{Stride: 5, Dist: 1}},
			{Shape: []int{128}, Batch: 5, Signal: fft.Layout{Stride: 5, Dist: 1}},
			{Shape: []int{128}, Batch: 5, Spectrum: fft.Layout{Stride: 5, Dist: 1}},
			{Shape: []int{30, 32}, Batch: 2},
			{Shape: []int{4, 96, 6}, Signal: fft.Layout{Embed: []int{4, 97, 7}}, Spectrum: fft.Layout{Embed: []int{5, 96, 8}, Stride: 2}},
			{Shape: []int{19}, Batch: 4}, // its convolution is long
			{Shape: []int{19}, Batch: 4, Signal: fft.Layout{Stride: 4, Dist: 1}},
		} {
			test(t, dev, 8, d)
		}
	})
}
