package profile_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/internal/kernels"
)

// quick is a configuration for tests.
var quick = profile.BenchmarkConfig{Name: "spin", MinTime: time.Millisecond, MaxTime: 50 * time.Millisecond, Elements: 1000, Bytes: 4000, Flops: 500}

func spin(s *gpu.Stream) error {
	return kernels.LaunchSpin(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1}), 100_000)
}

func TestABenchmarkMeasuresTheDevice(t *testing.T) {
	d := open(t)
	r, err := profile.Benchmark(t.Context(), d.DefaultStream(), quick, spin)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) < 10 || r.Min <= 0 || r.Min > r.Q1 || r.Q1 > r.Median || r.Median > r.Q3 || r.Q3 > r.Max || r.Mean < r.Min || r.Mean > r.Max {
		t.Errorf("%+v", r)
	}
	if d.Backend() == gpu.CPU && r.Min < 100_000 { // the kernel takes 100 us
		t.Errorf("the least time is %v ns", r.Min)
	}
	if got := r.BytesPerSecond() * r.Median; math.Abs(got/4000e9-1) > 1e-9 {
		t.Errorf("%v bytes per run", got/1e9)
	}
	r.Machine = &profile.Machine{CopyBandwidth: 2 * r.BytesPerSecond(), Flops32: 4 * r.FlopsPerSecond()}
	if math.Abs(r.BandwidthShare()-0.5) > 1e-9 || math.Abs(r.FlopShare()-0.25) > 1e-9 {
		t.Errorf("shares %v and %v", r.BandwidthShare(), r.FlopShare())
	}
	if text := r.String(); !strings.Contains(text, "50.0 % of copying") || !strings.Contains(text, "25.0 % of the peak") {
		t.Error(text)
	}
	reported := metrics{}
	r.Report(reported)
	if reported["ns/op"] != r.Median || reported["%copy"] != 50 || reported["elements/s"] != r.ElementsPerSecond() {
		t.Errorf("%v", reported)
	}
}

// metrics is a testing.B that keeps metrics.
type metrics map[string]float64

func (m metrics) ReportMetric(n float64, unit string) { m[unit] = n }

func TestABenchmarkEnds(t *testing.T) {
	d := open(t)
	s := d.DefaultStream()
	c := quick
	c.Noise, c.MinTime, c.MaxTime = 1e-12, time.Nanosecond, 20*time.Millisecond
	r, err := profile.Benchmark(t.Context(), s, c, spin)
	if err != nil || r.Converged && d.Backend() == gpu.CPU {
		t.Errorf("%v, converged: %v", err, r.Converged)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	runs := 0
	_, err = profile.Benchmark(ctx, s, quick, func(s *gpu.Stream) error {
		if runs++; runs == 5 {
			cancel(stopped)
		}
		return spin(s)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
	failed := errors.New("failed")
	if _, err = profile.Benchmark(t.Context(), s, quick, func(*gpu.Stream) error { return failed }); !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), "profile: benchmark spin: ") {
		t.Errorf("%v", err)
	}
	bad := quick
	bad.Noise = math.NaN()
	for name, f := range map[string]func() error{
		"no function": func() error { _, err := profile.Benchmark(t.Context(), s, quick, nil); return err },
		"no stream":   func() error { _, err := profile.Benchmark(t.Context(), nil, quick, spin); return err },
		"NaN":         func() error { _, err := profile.Benchmark(t.Context(), s, bad, spin); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTheLimitsOfAMachineAreMeasured(t *testing.T) {
	d := open(t)
	m, err := profile.Measure(t.Context(), d.DefaultStream())
	if d.Backend() == gpu.Sim {
		if err == nil {
			t.Error("the simulator was measured")
		}
		return
	}
	if err != nil || m.CopyBandwidth < 1e8 || m.Flops32 < 1e6 || m.Flops64 < 1e6 {
		t.Errorf("%+v, %v", m, err)
	}
	t.Logf("%+v", m)
}

func results(name string, samples ...float64) profile.Result {
	return profile.Result{Name: name, Samples: samples, Bytes: 1000}
}

func TestResultsAreWrittenAndRead(t *testing.T) {
	list := profile.Results{results("a|b", 1500, 2500, 2000), results("c", 3)}
	var b bytes.Buffer
	if err := list.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	back, err := profile.ReadResults(&b)
	if err != nil || len(back) != 2 || back[0].Median != 2000 || back[0].Min != 1500 || back[0].Bytes != 1000 {
		t.Fatalf("%+v, %v", back, err)
	}
	b.Reset()
	if err := back.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `| benchmark | median | min | quartiles | mean | noise | samples | bytes/s |
|---|---:|---:|---:|---:|---:|---:|---:|
| a\|b | 2.00 us | 1.50 us | 1.75 us to 2.25 us | 2.00 us | 25.00 % | 3 | 500 MB/s |
| c | 3.00 ns | 3.00 ns | 3.00 ns to 3.00 ns | 3.00 ns | 0.00 % | 1 | 333 GB/s |
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestTheOutputOfGoTestIsRead(t *testing.T) {
	const text = `goos: linux
BenchmarkSaxpy/n=10-8   	     100	      1500 ns/op	  12.5 GB/s
BenchmarkSaxpy/n=10-8   	     100	      1700 ns/op	  12.5 GB/s
BenchmarkOther          	     100	      12.5 MB/s	      3.5 ns/op
PASS
`
	list, err := profile.ReadResults(strings.NewReader(text))
	if err != nil || len(list) != 2 || list[0].Name != "Saxpy/n=10" || len(list[0].Samples) != 2 || list[1].Median != 3.5 {
		t.Errorf("%+v, %v", list, err)
	}
	for _, bad := range []string{"[", `[{"samples":[-1]}]`, "BenchmarkX 1 x ns/op", "BenchmarkX 1 -5 ns/op", "BenchmarkX 1 NaN ns/op"} {
		if list, err := profile.ReadResults(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, list)
		}
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte("BenchmarkX-8 1 5 ns/op"))
	f.Add([]byte(`[{"name":"x","samples":[1,2]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := profile.ReadResults(bytes.NewReader(text))
		if err == nil {
			profile.Compare(list, list)
		}
	})
}

func TestDifferencesAreTested(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int, mean float64) (list []float64) {
		for range n {
			list = append(list, mean+r.NormFloat64())
		}
		return list
	}
	for _, c := range []struct {
		name     string
		old, new []float64
		p        float64 // 0: only whether it is significant
		differ   bool
		few      bool
	}{
		{"three of three", []float64{1, 2, 3}, []float64{4, 5, 6}, 0.1, false, true},
		{"three of five", []float64{1, 2, 3}, []float64{4, 5, 6, 7, 8}, 2.0 / 56, true, false},
		{"four of four", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70, true, false},
		{"five and five, in part", []float64{1, 2, 3, 4, 7}, []float64{5, 6, 8, 9, 10}, 2 * 4.0 / 252, true, false},
		{"equal", []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, 1, false, false},
		{"one sample", []float64{1}, []float64{2}, 1, false, true},
		{"one sample of many", normal(200, 100), []float64{2}, 0, true, false},
		{"slower", normal(200, 100), normal(200, 101), 0, true, false},
		{"the same", normal(200, 100), normal(200, 100), 0, false, false},
	} {
		d := profile.Compare(profile.Results{results("x", c.old...)}, profile.Results{results("y", 1), results("x", c.new...)})
		if len(d) != 1 || d[0].Significant != c.differ || d[0].Few != c.few || c.p > 0 && math.Abs(d[0].P-c.p) > 1e-12 {
			t.Errorf("%s: %+v, want p %v", c.name, d, c.p)
		}
	}
}

func TestAComparisonIsWritten(t *testing.T) {
	d := profile.Differences{{Name: "a", Old: 1000, New: 900, Change: -0.1, P: 0.001, Significant: true}, {Name: "b\n|", Old: 10, New: 11, Change: 0.1, P: 0.4}, {Name: "c", Old: 10, New: 20, P: 1, Few: true}}
	var b bytes.Buffer
	if err := d.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if want := "| a | 1.00 us | 900 ns | -10.00 % | 0.001 |\n| b \\| | 10.0 ns | 11.0 ns | ~ | 0.400 |\n| c | 10.0 ns | 20.0 ns | too few samples | 1.000 |\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

// TestNullDifferencesAreRare: without a difference, about one in twenty is called significant.
func TestNullDifferencesAreRare(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{8, 100} {
		wrong := 0
		const trials = 2000
		for range trials {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = r.ExpFloat64(), r.ExpFloat64()
			}
			if profile.Compare(profile.Results{results("x", x...)}, profile.Results{results("x", y...)})[0].Significant {
				wrong++
			}
		}
		if share := float64(wrong) / trials; share < 0.03 || share > 0.065 {
			t.Errorf("%d samples: %.3f of the differences are significant", n, share)
		}
	}
}
