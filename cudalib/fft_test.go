package cudalib_test

import (
	"slices"
	"testing"

	"quern.dev/cudalib"
	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/internal/culib/fakeculib"
)

func parts[C complex64 | complex128](list []C) []float64 {
	var out []float64
	for _, v := range list {
		out = append(out, real(complex128(v)), imag(complex128(v)))
	}
	return out
}

func complexes[C complex64 | complex128](seed uint64, n int) []C {
	x := numbers[float64](seed, 2*n)
	out := make([]C, n)
	for i := range out {
		out[i] = C(complex(x[2*i], x[2*i+1]))
	}
	return out
}

// transformCases are layouts of every kind.
func transformCases(r *rig) []fft.Desc {
	return []fft.Desc{
		{Shape: []int{r.size(12, 1000)}, Batch: r.size(3, 100)},
		{Shape: []int{r.size(7, 1009)}, Norm: fft.NormOrtho},
		{Shape: []int{r.size(8, 4096)}, Batch: 2, Norm: fft.NormNone},
		{Shape: []int{r.size(4, 60), r.size(6, 128)}, Batch: 2},
		{Shape: []int{3, r.size(4, 30), r.size(5, 64)}},
		{Shape: []int{r.size(4, 60), r.size(6, 128)}, Batch: 2, Signal: fft.Layout{Embed: []int{r.size(5, 61), r.size(9, 131)}, Stride: 2}, Spectrum: fft.Layout{Embed: []int{r.size(6, 62), r.size(8, 140)}, Dist: r.size(60, 9000)}},
	}
}

// length returns more elements than the layout needs.
func length(r *rig) int { return r.size(400, 140000) }

func TestTransformsByBothEngines(t *testing.T) {
	everyRig(t, func(t *testing.T, r *rig) {
		for _, d := range transformCases(r) {
			transforms[complex64](t, r, d, 2e-6)
			transforms[complex128](t, r, d, 1e-14)
			realTransforms[float32, complex64](t, r, d, 2e-6)
			realTransforms[float64, complex128](t, r, d, 1e-14)
		}
	})
}

// transforms compares what both engines compute from and write to poisoned memory. Quern's
// transforms are compared with float64 in their own package.
func transforms[C fft.Complex](t *testing.T, r *rig, d fft.Desc, bound float64) {
	lent := d
	lent.Shape = slices.Clone(d.Shape)
	p, err := fft.NewPlan[C](r.Device, lent)
	do(t, err)
	clear(lent.Shape) // a plan keeps the caller's slices no longer than the call
	defer p.Close()
	n := length(r)
	host, poison := complexes[C](1, n), complexes[C](2, n)
	var forward, inverse, inPlace [][]float64
	for _, e := range []cudalib.Engine{cudalib.Quern, cudalib.Vendor, cudalib.Auto} {
		s := r.stream(t, e)
		x, y, z := upload(t, s, host), upload(t, s, poison), upload(t, s, poison)
		do(t, p.Forward(s, y, x))
		forward = append(forward, parts(download(t, s, y)))
		if e == cudalib.Vendor {
			ran(t, s, "fft.Plan.Forward", cudalib.Vendor)
		}
		do(t, p.Inverse(s, z, y))
		inverse = append(inverse, parts(download(t, s, z)))
		if e == cudalib.Vendor {
			ran(t, s, "fft.Plan.Inverse", cudalib.Vendor)
		}
		if d.Signal.Stride == 0 {
			do(t, p.Inverse(s, x, x))
			inPlace = append(inPlace, parts(download(t, s, x)))
		}
	}
	for i := 1; i < len(forward); i++ {
		for name, list := range map[string][][]float64{"forward": forward, "inverse": inverse, "in place": inPlace} {
			if len(list) == 0 {
				continue
			}
			if far := distance(list[i], list[0]); !(far <= bound) {
				t.Errorf("%+v, %s: relative distance %g, bound %g", d, name, far, bound)
			}
		}
	}
}

func realTransforms[R fft.Float, C fft.Complex](t *testing.T, r *rig, d fft.Desc, bound float64) {
	lent := d
	lent.Shape = slices.Clone(d.Shape)
	p, err := fft.NewRealPlan[R, C](r.Device, lent)
	do(t, err)
	clear(lent.Shape) // a plan keeps the caller's slices no longer than the call
	defer p.Close()
	n := length(r)
	host, poison, poisonC := numbers[R](1, n), numbers[R](2, n), complexes[C](3, n)
	var forward, inverse, kept [][]float64
	for _, e := range []cudalib.Engine{cudalib.Quern, cudalib.Vendor, cudalib.Auto} {
		s := r.stream(t, e)
		x, y, z := upload(t, s, host), upload(t, s, poisonC), upload(t, s, poison)
		do(t, p.Forward(s, y, x))
		forward = append(forward, parts(download(t, s, y)))
		do(t, p.Inverse(s, z, y))
		if e == cudalib.Vendor {
			ran(t, s, "fft.RealPlan.Inverse", cudalib.Vendor)
		}
		inverse = append(inverse, wide(download(t, s, z)))
		kept = append(kept, parts(download(t, s, y)))
		if !slices.Equal(kept[len(kept)-1], forward[len(forward)-1]) {
			t.Errorf("%+v, %v: the inverse transform changes the spectrum", d, e)
		}
	}
	for i := 1; i < len(forward); i++ {
		if a, b := distance(forward[i], forward[0]), distance(inverse[i], inverse[0]); !(max(a, b) <= bound) {
			t.Errorf("%+v: relative distance %g forward, %g inverse, bound %g", d, a, b, bound)
		}
	}
}

func TestArgumentsOfCufft(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	s := r.stream(t, cudalib.Vendor)
	x, y := upload(t, s, complexes[complex64](1, 500)), upload(t, s, make([]complex64, 500))
	real32 := upload(t, s, make([]float32, 500))
	p, err := fft.NewPlan[complex64](r.Device, fft.Desc{
		Shape: []int{3, 4}, Batch: 2, Signal: fft.Layout{Embed: []int{5, 6}, Stride: 2, Dist: 70}, Spectrum: fft.Layout{Dist: 30}})
	do(t, err)
	q, err := fft.NewRealPlan[float32, complex64](r.Device, fft.Desc{Shape: []int{2, 3, 5}})
	do(t, err)
	do(t, p.Forward(s, y, x))
	do(t, p.Inverse(s, x, y))
	do(t, q.Forward(s, y, real32))
	do(t, q.Inverse(s, real32, y))
	want := []string{
		"exec 0x29 rank 2 of [3 4 0], batch 2, in {[3 6 0] 2 70}, out {[3 4 0] 1 30}, sign -1, in place false",
		"exec 0x29 rank 2 of [3 4 0], batch 2, in {[3 4 0] 1 30}, out {[3 6 0] 2 70}, sign 1, in place false",
		"exec 0x2a rank 3 of [2 3 5], batch 1, in {[2 3 5] 1 30}, out {[2 3 3] 1 18}, sign -1, in place false",
		"exec 0x2c rank 3 of [2 3 5], batch 1, in {[2 3 3] 1 18}, out {[2 3 5] 1 30}, sign 1, in place false",
	}
	if got := r.libs.Calls(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	do(t, p.Close())
	r.Close() // before the other plan, which is a leak
	do(t, q.Close())
	if left := r.libs.Left(); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestPlansOfCufftTakeMemoryOfWorkspaces(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	r.libs.Memory = 100_000
	s := r.stream(t, cudalib.Vendor)
	x := upload(t, s, complexes[complex64](1, 16))
	p, err := fft.NewPlan[complex64](r.Device, fft.Desc{Shape: []int{16}})
	do(t, err)
	defer p.Close()
	measure := gpu.MeasureWorkspace()
	do(t, p.Forward(s, x, x, measure))
	if n := measure.Size(); n < 100_000 || n > 101_000 || len(r.libs.Calls()) != 0 {
		t.Errorf("%d bytes", n)
	}
	memory := upload(t, s, make([]byte, measure.Size()))
	do(t, p.Forward(s, x, x, gpu.NewWorkspace(memory)))
	if len(r.libs.Calls()) != 1 {
		t.Error("it did not run")
	}
	if err := p.Forward(s, x, x, gpu.NewWorkspace(memory.Slice(0, 1000))); err == nil {
		t.Error("it ran with too little memory")
	}
}
