package fft_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestInvalidPlans(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for _, c := range []struct {
		d    fft.Desc
		want string
	}{
		{fft.Desc{}, "fft: NewPlan: Shape: 0 dimensions; transforms have 1 to 3"},
		{fft.Desc{Shape: []int{1, 2, 3, 4}}, "fft: NewPlan: Shape: 4 dimensions; transforms have 1 to 3"},
		{fft.Desc{Shape: []int{8, 0}}, "fft: NewPlan: Shape: length 0 of dimension 1 is not from 1 to 2^30"},
		{fft.Desc{Shape: []int{-8}}, "fft: NewPlan: Shape: length -8 of dimension 0 is not from 1 to 2^30"},
		{fft.Desc{Shape: []int{1 << 31}}, "is not from 1 to 2^30"},
		{fft.Desc{Shape: []int{1<<27 + 1}}, "length 134217729 of dimension 0 has a prime factor above 13; such lengths are at most 2^27"},
		{fft.Desc{Shape: []int{1 << 30, 1 << 30}}, "more than 2^40 points"},
		{fft.Desc{Shape: []int{1 << 30, 1 << 10, 1 << 30}}, "more than 2^40 points"}, // 2^70 is 0 in 64 bits
		{fft.Desc{Shape: []int{8}, Batch: -1}, "fft: NewPlan: Batch: -1 is not from 1"},
		{fft.Desc{Shape: []int{8}, Batch: 1 << 40}, "fft: NewPlan: Batch: 1099511627776 is not from 1"},
		{fft.Desc{Shape: []int{8}, Norm: 7}, "fft: NewPlan: Norm: Norm(7) is not a normalization"},
		{fft.Desc{Shape: []int{8, 8}, Signal: fft.Layout{Embed: []int{8}}}, "fft: NewPlan: Signal.Embed: 1 lengths for 2 dimensions"},
		{fft.Desc{Shape: []int{8, 8}, Spectrum: fft.Layout{Embed: []int{8, 7}}}, "fft: NewPlan: Spectrum.Embed: length 7 of dimension 1 is less than the 8 points there"},
		{fft.Desc{Shape: []int{8}, Signal: fft.Layout{Stride: -1}}, "fft: NewPlan: Signal.Stride: -1 is not"},
		{fft.Desc{Shape: []int{8}, Spectrum: fft.Layout{Dist: -1}}, "fft: NewPlan: Spectrum.Dist: 1 transforms at a distance of -1"},
		{fft.Desc{Shape: []int{8}, Spectrum: fft.Layout{Stride: 1 << 39}}, "more than 2^40 elements"},
	} {
		p, err := fft.NewPlan[complex64](dev, c.d)
		var typed *fft.Error
		if err == nil {
			p.Close()
		}
		if !errors.As(err, &typed) || !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.d, err, c.want)
		}
	}
	if _, err := fft.NewRealPlan[float32, complex128](dev, fft.Desc{Shape: []int{8}}); !errors.Is(err, gpu.ErrInvalid) {
		t.Errorf("float32 with complex128: %v", err)
	}
	for _, d := range []fft.ConvolutionDesc{{}, {Signal: 3}, {Signal: 3, Kernel: 4, Circular: true}, {Signal: 3, Kernel: 3, Batch: 4, Kernels: 2}, {Signal: 3, Kernel: 3, Batch: -1}, {Signal: 1 << 30, Kernel: 1}} {
		if _, err := fft.NewConvolution[float32](dev, d); !errors.Is(err, gpu.ErrInvalid) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func TestInvalidCallsWriteNothing(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	plan := func(d fft.Desc) *fft.Plan[complex64] { return newPlan[complex64](t, dev, d) }
	p := plan(fft.Desc{Shape: []int{8}, Batch: 2})
	overlapping := plan(fft.Desc{Shape: []int{8}, Batch: 2, Signal: fft.Layout{Dist: 4}})
	strided := plan(fft.Desc{Shape: []int{8}, Batch: 2, Signal: fft.Layout{Stride: 2, Dist: 1}})
	zeros := make([]complex64, 16)
	x, y := gputest.Upload(t, dev, zeros), gputest.Upload(t, dev, random[complex64](16, 1))
	before := gputest.Download(t, dev, y)
	small, err := gpu.Alloc[byte](dev, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	parts := gpu.Reinterpret[float32](gpu.Reinterpret[byte](y)) // the same memory
	real32, real64 := gputest.Alloc[float32](t, dev, 32), gputest.Alloc[float64](t, dev, 16)
	realPlan, err := fft.NewRealPlan[float32, complex64](dev, fft.Desc{Shape: []int{8}})
	if err != nil {
		t.Fatal(err)
	}
	defer realPlan.Close()
	linear, err := fft.NewConvolution[complex64](dev, fft.ConvolutionDesc{Signal: 5, Kernel: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer linear.Close()
	circular, err := fft.NewConvolution[complex64](dev, fft.ConvolutionDesc{Signal: 8, Kernel: 8, Circular: true})
	if err != nil {
		t.Fatal(err)
	}
	defer circular.Close()
	closed := plan(fft.Desc{Shape: []int{8}, Batch: 2})
	closed.Close()
	for _, c := range []struct {
		err  error
		want string
	}{
		{p.Forward(s, y, x.Slice(0, 15)), "fft: Plan.Forward: in: 15 elements; the plan reads 16"},
		{p.Forward(s, y.Slice(0, 15), x), "fft: Plan.Forward: out: 15 elements; the plan writes 16"},
		{p.Inverse(s, y, nil), "fft: Plan.Inverse: in: 0 elements; the plan reads 16"},
		{p.Inverse(nil, y, x), "fft: Plan.Inverse: "},
		{p.Forward(s, y, x, gpu.NewWorkspace(small)), "the workspace has 100 bytes, and the call needs"},
		{overlapping.Inverse(s, y, x), "fft: Plan.Inverse: out: elements of the layout overlap"},
		{strided.Forward(s, y, y), "in and out are the same buffer, but their layouts differ"},
		{closed.Forward(s, y, x), "fft: Plan.Forward: plan: the plan is closed"},
		{(*fft.Plan[complex64])(nil).Forward(s, y, x), "fft: Plan.Forward: plan: it was not made by NewPlan"},
		{new(fft.Plan[complex128]).Inverse(s, nil, nil), "fft: Plan.Inverse: plan: it was not made by NewPlan"},
		{(*fft.RealPlan[float32, complex64])(nil).Inverse(s, nil, y), "fft: RealPlan.Inverse: plan: it was not made by NewRealPlan"},
		{new(fft.RealPlan[float32, complex64]).Forward(s, y, nil), "fft: RealPlan.Forward: plan: it was not made by NewRealPlan"},
		{(*fft.Convolution[complex64])(nil).Run(s, y, x, x), "fft: Convolution.Run: convolution: it was not made by NewConvolution"},
		{new(fft.Convolution[complex64]).Run(s, y, x, x), "fft: Convolution.Run: convolution: it was not made by NewConvolution"},
		{fft.Shift(s, y, x, 3), "fft: Shift: in: 16 elements are not a multiple of the 3 of an array"},
		{fft.Shift(s, y, y, 4), "fft: Shift: out: overlaps in"},
		{plan(fft.Desc{Shape: []int{8}}).Forward(s, y.Slice(4, 12), y), "fft: Plan.Forward: out: overlaps in"},
		{fft.Unshift(s, y.Slice(1, 9), y.Slice(0, 8), 4), "fft: Unshift: out: overlaps in"},
		{fft.Shift(s, y, x, 1<<30, 1<<30), "fft: Shift: shape: length 1073741824 of dimension 1 is not from 1 to 2^40 elements in all"},
		{fft.Shift(s, y, x, -4), "fft: Shift: shape: length -4 of dimension 0"},
		{fft.Power(s, parts, y, 1), "fft: Power: out: overlaps in"},
		{fft.Power(s, real32.Slice(0, 15), y, 1), "fft: Power: out: 15 elements for 16 results"},
		{fft.Power(s, real64, y, 1), "fft: Power: out: numbers of type float64 for complex numbers of type complex64"},
		{fft.Polar(s, real32.Slice(0, 16), real32.Slice(15, 31), y), "fft: Polar: phase: magnitude, phase and in overlap"},
		{fft.Polar(s, parts.Slice(0, 16), real32.Slice(0, 16), y), "fft: Polar: phase: magnitude, phase and in overlap"},
		{fft.Polar(s, real32.Slice(0, 16), real32.Slice(16, 31), y), "fft: Polar: phase: 15 elements for 16 results"},
		{realPlan.Forward(s, y, parts), "fft: RealPlan.Forward: out: overlaps in"},
		{realPlan.Inverse(s, parts, y), "fft: RealPlan.Inverse: out: overlaps in"},
		{realPlan.Forward(s, y.Slice(0, 4), real32), "fft: RealPlan.Forward: out: 4 elements; the plan writes 5"},
		{linear.Run(s, y, y, x), "fft: Convolution.Run: out: overlaps a, the signals"},
		{linear.Run(s, y, x, y), "fft: Convolution.Run: out: overlaps b, the kernels"},
		{linear.Run(s, y.Slice(0, 7), x, x.Slice(8, 16)), "fft: Convolution.Run: out: 7 elements; the results have 8"},
		{linear.Run(s, y, x, x.Slice(0, 3)), "fft: Convolution.Run: b: 3 elements; the kernels have 4"},
		{circular.Run(s, y.Slice(1, 9), y, x), "fft: Convolution.Run: out: overlaps a, the signals"},
		{fft.Shift(s, y, x), "fft: Shift: shape: 0 dimensions"},
		{fft.Shift(s, y, x, 0), "fft: Shift: shape: length 0 of dimension 0"},
		{fft.Unshift(s, y.Slice(0, 4), x, 4), "fft: Unshift: out: 4 elements for 16 results"},
	} {
		if !errors.Is(c.err, gpu.ErrInvalid) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
	gputest.Equal(t, gputest.Download(t, dev, y), before)
	if err := overlapping.Forward(s, y, x); err != nil {
		t.Errorf("overlapping input: %v", err)
	}
	both := fft.Desc{Shape: []int{8}, Batch: 2, Signal: fft.Layout{Dist: 4}, Spectrum: fft.Layout{Dist: 3}}
	_, err = fft.NewPlan[complex64](dev, both)
	_, errReal := fft.NewRealPlan[float32, complex64](dev, both)
	for _, err := range []error{err, errReal} {
		if !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), "Plan: Spectrum: elements of this layout overlap") {
			t.Errorf("a plan that can write nothing: %v", err)
		}
	}
}

func TestTransformsInPlace(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, shape := range [][]int{{8}, {16}, {19}, {64}, {60}, {16, 32}, {4, 6, 8}} {
			p := newPlan[complex64](t, dev, fft.Desc{Shape: shape, Batch: 3})
			points := 3
			for _, n := range shape {
				points *= n
			}
			x := random[complex64](points, 5)
			a, b := gputest.Upload(t, dev, x), gputest.Alloc[complex64](t, dev, points)
			if err := p.Forward(dev.DefaultStream(), b, a); err != nil {
				t.Fatal(err)
			}
			if err := p.Forward(dev.DefaultStream(), a, a); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, dev, a), gputest.Download(t, dev, b))
		}
	})
}

// A caller's workspace, a captured graph and the pool give the same results.
func TestWorkspaceAndCapture(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		p := newPlan[complex64](t, dev, fft.Desc{Shape: []int{4, 19}, Batch: 2})
		x := random[complex64](4*19*2, 5)
		in := gputest.Upload(t, dev, x)
		want, got := gputest.Alloc[complex64](t, dev, len(x)), gputest.Alloc[complex64](t, dev, len(x))
		if err := p.Forward(s, want, in); err != nil {
			t.Fatal(err)
		}
		measure := gpu.MeasureWorkspace()
		if err := p.Forward(s, got, in, measure); err != nil {
			t.Fatal(err)
		}
		if measure.Size() == 0 {
			t.Error("the convolution of 19 points needs no temporary memory")
		}
		memory, err := gpu.Alloc[byte](dev, measure.Size())
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		if err := p.Forward(s, got, in, gpu.NewWorkspace(memory)); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, dev, got), gputest.Download(t, dev, want))

		captured := gputest.Alloc[complex64](t, dev, len(x))
		graph, err := dev.Capture(func(s *gpu.Stream) error { return p.Forward(s, captured, in) })
		if err != nil {
			t.Fatal(err)
		}
		e, err := graph.Instantiate()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Launch(s); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, dev, captured), gputest.Download(t, dev, want))
	})
}

func TestPlansAreSafeForConcurrentUse(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	p := newPlan[complex64](t, dev, fft.Desc{Shape: []int{19, 64}})
	x := random[complex64](19*64, 5)
	want := transformAll(wide(x), []int{19, 64}, -1)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := dev.NewStream(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			a, err := gpu.Upload(s, x)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			for range 5 {
				err = errors.Join(err, p.Forward(s, a, a), p.Inverse(s, a, a))
			}
			err = errors.Join(err, p.Forward(s, a, a))
			got := make([]complex64, len(x))
			if err := errors.Join(err, gpu.Download(context.Background(), s, got, a)); err != nil {
				t.Error(err)
			}
			if d := distance(got, want); !(d < 11*bound[complex64](len(x))) {
				t.Errorf("error %.3g", d)
			}
		})
	}
	group.Wait()
}

func TestCallsDoNotAllocate(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	check := func(name string, f func() error) {
		t.Helper()
		if n := testing.AllocsPerRun(20, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	x, y := gputest.Upload(t, dev, random[complex64](1200, 1)), gputest.Alloc[complex64](t, dev, 1200)
	r := gputest.Upload(t, dev, make([]float32, 1200))
	m := gputest.Upload(t, dev, make([]float32, 1200))
	for _, shape := range [][]int{{1024}, {19}, {24, 48}} {
		p := newPlan[complex64](t, dev, fft.Desc{Shape: shape})
		check("Forward", func() error { return p.Forward(s, y, x) })
		check("Inverse", func() error { return p.Inverse(s, y, x) })
	}
	p, err := fft.NewRealPlan[float32, complex64](dev, fft.Desc{Shape: []int{1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	check("real Forward", func() error { return p.Forward(s, y, r) })
	check("real Inverse", func() error { return p.Inverse(s, r, x) })
	c, err := fft.NewConvolution[float32](dev, fft.ConvolutionDesc{Signal: 600, Kernel: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	check("Convolution.Run", func() error { return c.Run(s, m, r, r) })
	check("Power", func() error { return fft.Power(s, r, x, 1) })
	check("Polar", func() error { return fft.Polar(s, r, m, x) })
	check("Shift", func() error { return fft.Shift(s, y, x, 1200) })
}
