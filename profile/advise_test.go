package profile_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/internal/kernels"
)

// triad is the workload of a kernel that reads and writes 24 bytes per element.
var triad = profile.Workload{Name: "triad", Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
	x, err := gpu.Upload(s, make([]float64, 3*n))
	if err != nil {
		return nil, err
	}
	size := 8 * int64(n)
	return &profile.Instance{
		Launch: func(s *gpu.Stream) error {
			return kernels.LaunchStreamTriad(s, gpu.Linear(n), x.Slice(0, n), x.Slice(n, 2*n), x.Slice(2*n, 3*n))
		},
		In: []int64{size, size}, Out: []int64{size}, Close: x.Close,
	}, nil
}}

// flops is the workload of a kernel that computes and moves nothing; n is the number of steps.
var flops = profile.Workload{Name: "flops", Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
	out, err := gpu.Alloc[float32](s.Device(), 1)
	if err != nil {
		return nil, err
	}
	return &profile.Instance{
		Launch: func(s *gpu.Stream) error {
			return kernels.LaunchFma32(s, gpu.Blocks(gpu.Dim3{X: 1000}, gpu.Dim3{X: 256}), n, 0.5, out)
		},
		Out: []int64{4}, Close: out.Close,
	}, nil
}}

func TestWorkIsCounted(t *testing.T) {
	const n = 100_000
	w, err := profile.Count(t.Context(), triad, n)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("bytes read", w.ReadBytes, 16*n)
	near("bytes written", w.WrittenBytes, 8*n)
	near("bytes accessed", w.AccessedBytes, 24*n)
	near("bytes of sectors", w.SectorBytes, 24*n)
	near("operations", w.Flops64, 2*n)
	if w.Launches != 1 || w.Flops32 != 0 || w.Barriers != 0 {
		t.Errorf("%+v", w)
	}
	f, err := profile.Count(t.Context(), flops, 3)
	if err != nil {
		t.Fatal(err)
	}
	near("float32 operations", f.Flops32, 1000*256*3*kernels.Operations)
	if f, err = profile.Count(t.Context(), flops, 1<<20); err != nil {
		t.Fatal(err)
	}
	if got, want := f.Flops32, 1000.0*256*(1<<20)*kernels.Operations; math.Abs(got/want-1) > 0.1 {
		t.Errorf("extrapolated float32 operations: %v, want about %v", got, want)
	}
	if _, err := profile.Count(t.Context(), flops, 0); err == nil {
		t.Error("a size of zero was counted")
	}
	if _, err := profile.Count(t.Context(), profile.Workload{Name: "none"}, 1); err == nil {
		t.Error("a workload without Prepare was counted")
	}
}

// The ends of the reductions of a grid of fixed size are the same at all sizes. Of a large grid,
// some blocks have nothing to do at the sizes that can be counted.
func TestWhatDoesNotGrowIsNotMultiplied(t *testing.T) {
	const blocks = 1056
	dot := profile.Workload{Name: "dot", Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
		x, err := gpu.Alloc[float64](s.Device(), 2*n+blocks)
		if err != nil {
			return nil, err
		}
		return &profile.Instance{Launch: func(s *gpu.Stream) error {
			return kernels.LaunchStreamDot(s, gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: kernels.DotThreads}), x.Slice(0, n), x.Slice(n, 2*n), x.Slice(2*n, 2*n+blocks))
		}, In: []int64{16 * int64(n)}, Close: x.Close}, gpu.Fill(s, x, 1)
	}}
	const small, large = 1 << 18, 1 << 27
	a, err := profile.Count(t.Context(), dot, small)
	if err != nil {
		t.Fatal(err)
	}
	b, err := profile.Count(t.Context(), dot, large)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Flops64, a.Flops64+2*(large-small); math.Abs(got/want-1) > 0.02 {
		t.Errorf("%v operations, want %v", got, want)
	}
	if got, want := b.ReadBytes, 16.0*large; math.Abs(got/want-1) > 0.02 {
		t.Errorf("%v bytes read, want %v", got, want)
	}
	if math.Abs(b.Barriers/a.Barriers-1) > 0.001 {
		t.Errorf("%v barriers, want %v", b.Barriers, a.Barriers)
	}
}

func TestStridesAreSeenInTheSectors(t *testing.T) {
	strided := func(stride int) profile.Workload {
		return profile.Workload{Name: "strided", Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
			x, err := gpu.Upload(s, make([]float32, 2*n*stride))
			if err != nil {
				return nil, err
			}
			return &profile.Instance{Launch: func(s *gpu.Stream) error {
				return kernels.LaunchStrided(s, gpu.Linear(n), n, stride, x.Slice(0, n*stride), x.Slice(n*stride, 2*n*stride))
			}, Close: x.Close}, nil
		}}
	}
	for stride, want := range map[int]float64{1: 1, 2: 2, 4: 4, 8: 8, 16: 8} {
		w, err := profile.Count(t.Context(), strided(stride), 1<<14)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.SectorBytes / w.AccessedBytes; math.Abs(got/want-1) > 0.02 {
			t.Errorf("stride %d: %v times the bytes move, want %v", stride, got, want)
		}
	}
}

func TestAdviceFollowsFromTheCards(t *testing.T) {
	card, host := testCard("cuda"), testCard("cpu")
	host.Rates.Threads, host.Rates.Integers, host.Rates.Cached = 1e11, 1e12, 1e12
	advise := func(w profile.Workload, sizes ...int) *profile.Advice {
		t.Helper()
		a, err := profile.Advise(t.Context(), w, profile.AdviseConfig{GPU: card, CPU: host, Sizes: sizes})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	// Copies over PCIe take longer than a CPU with twice its bandwidth.
	a := advise(triad, 1000, 100_000, 1e7, 1e9)
	if a.Crossover != 0 || a.Predictions[3].Faster() != "cpu" || a.Predictions[3].Counted || !a.Predictions[1].Counted {
		t.Errorf("%+v", a)
	}
	if got, want := a.Predictions[3].Work.ReadBytes, 16e9; math.Abs(got/want-1) > 0.02 {
		t.Errorf("extrapolated to %v bytes, want %v", got, want)
	}
	if last := a.Moves[len(a.Moves)-1]; !strings.Contains(last.Change, "stays on the GPU") || last.Crossover == 0 || last.Speedup < 10 {
		t.Errorf("%+v", a.Moves)
	}
	// Arithmetic without data is faster on the GPU from some size on.
	a = advise(flops, 1, 2, 4, 1024, 1<<20)
	if p := a.Predictions[4]; p.Faster() != "gpu" || p.CPU.Total/p.GPU.Total < 100 || p.GPU.Bound != "float32" {
		t.Errorf("%+v", p)
	}
	var b bytes.Buffer
	if err := a.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "The GPU is faster for all of these sizes.") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestCalibrationCorrectsTheModel(t *testing.T) {
	d := open(t)
	if d.Backend() != gpu.CPU {
		t.Skip("needs the CPU as the default device")
	}
	card, host := testCard("cuda"), testCard("cpu")
	host.Rates.Memory *= 1e-3 // a model that is wrong
	c := profile.AdviseConfig{GPU: card, CPU: host, Sizes: []int{200_000, 1_000_000}}
	wrong, err := profile.Advise(t.Context(), triad, c)
	if err != nil {
		t.Fatal(err)
	}
	c.Calibrate = []*gpu.Device{d}
	right, err := profile.Advise(t.Context(), triad, c)
	if err != nil {
		t.Fatal(err)
	}
	before, after := wrong.Predictions[1], right.Predictions[1]
	if after.CPU.Total > 0.5*before.CPU.Total || after.CPU.Model != before.CPU.Total || after.GPU != before.GPU {
		t.Errorf("the correction is from %+v to %+v", before, after)
	}
}

func TestAdviceThatCannotBeGivenIsAnError(t *testing.T) {
	card, host := testCard("cuda"), testCard("cpu")
	for name, c := range map[string]profile.AdviseConfig{
		"no cards":        {Sizes: []int{1}},
		"no sizes":        {GPU: card, CPU: host},
		"a size of zero":  {GPU: card, CPU: host, Sizes: []int{0}},
		"an empty card":   {GPU: &profile.Card{}, CPU: host, Sizes: []int{1}},
		"launches below":  {GPU: card, CPU: host, Sizes: []int{1}, Launches: -1},
		"nothing to scan": {GPU: card, CPU: &profile.Card{Version: 3}, Sizes: []int{1}},
	} {
		if _, err := profile.Advise(t.Context(), triad, c); err == nil || !strings.HasPrefix(err.Error(), "profile: advise triad: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := profile.Advise(ctx, flops, profile.AdviseConfig{GPU: card, CPU: host, Sizes: []int{4}}); err == nil {
		t.Error("a cancelled context is no error")
	}
}

func TestRooflines(t *testing.T) {
	c := testCard("cuda")
	for _, k := range []struct {
		name    string
		work    profile.Work
		seconds float64
		class   string
	}{
		{"a copy", profile.Work{ReadBytes: 4e9, WrittenBytes: 4e9}, 2e-3, "memory"},
		{"a product of matrices", profile.Work{ReadBytes: 1e6, Flops32: 1e11}, 2e-3, "compute"},
		{"few threads", profile.Work{ReadBytes: 1e6, Flops32: 1e9}, 1, "latency"},
	} {
		if r := c.RooflineOf(&k.work, k.seconds); r.Class != k.class || r.Attained > r.Limit {
			t.Errorf("%s: %+v", k.name, r)
		}
	}
}
