package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
)

// provider has one library.
type provider struct{ Provider }

func (provider) Version(*gpu.Device, Library) string { return "cuBLASLt 13.1.0" }

func open(t *testing.T) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// withTimes makes measurements have a result.
func withTimes(t *testing.T, winner string, times map[string]time.Duration, err error) (measured *int) {
	t.Helper()
	measured = new(int)
	t.Cleanup(func() { tune = gpu.Tune })
	tune = func(ctx context.Context, s *gpu.Stream, g gpu.Tuning) (*gpu.Tuned, error) {
		*measured++
		if err != nil {
			return nil, err
		}
		r := &gpu.Tuned{Winner: winner}
		for _, c := range g.Candidates {
			trial := gpu.Trial{Name: c.Name, Median: times[c.Name], Err: c.Launch(s)}
			r.Trials = append(r.Trials, trial)
		}
		return r, nil
	}
	return measured
}

func TestAutoTakesTheFasterEngine(t *testing.T) {
	works := func(*gpu.Stream, *gpu.Buffer[byte]) error { return nil }
	fails := func(*gpu.Stream, *gpu.Buffer[byte]) error { return errors.New("failed\nagain") }
	missing := &Error{Library: "cuBLASLt", Reason: "no file"}
	for _, c := range []struct {
		name, winner string
		check, err   error
		vendor       func(*gpu.Stream, *gpu.Buffer[byte]) error
		want         Engine
		reason       string
		measured     int // by two calls
	}{
		{"the library is faster", "Vendor", nil, nil, works, Vendor, "measured 10µs, Quern 20µs", 1},
		{"Quern is faster", "Quern", nil, nil, works, Quern, "measured 20µs, cuBLASLt 13.1.0 10µs", 1},
		{"the library fails", "Quern", nil, nil, fails, Quern, "Vendor failed: failed", 1},
		{"there is no library", "", missing, nil, works, Quern, "cuBLASLt: no file", 0},
		{"the measurement fails", "", nil, errors.New("lost"), works, Quern, "the measurement failed: lost", 2},
	} {
		d := open(t)
		measured := withTimes(t, c.winner, map[string]time.Duration{"Quern": 20 * time.Microsecond, "Vendor": 10 * time.Microsecond}, c.err)
		s := d.DefaultStream()
		if err := Set(s, Auto, provider{}); err != nil {
			t.Fatal(err)
		}
		u, class := Of(s), Class{Operation: "blas.Gemm"}
		for range 2 {
			e, known, err := u.Choose(s, &class)
			if !known {
				e, err = u.Measure(s, class, "some product", Trial{
					Bytes: 8, Check: func() error { return c.check }, Own: works, Vendor: c.vendor})
			}
			if err != nil || e != c.want {
				t.Errorf("%s: %v, %v", c.name, e, err)
			}
			if r := u.Last(); r.Engine != c.want || r.Reason != c.reason || (r.Library != "") != (e == Vendor) {
				t.Errorf("%s: %v", c.name, r)
			}
		}
		if *measured != c.measured {
			t.Errorf("%s: %d measurements, want %d", c.name, *measured, c.measured)
		}
		if list := Choices(d); len(list) != 1 && c.err == nil {
			t.Errorf("%s: choices %v", c.name, list)
		}
		if err := d.Close(); err != nil || Choices(d) != nil {
			t.Errorf("%s: after Close: %v, %v", c.name, err, Choices(d))
		}
	}
}

func TestAutoFallsBackOnlyBeforeWorkIsQueued(t *testing.T) {
	c := &Class{Operation: "blas.Gemm"}
	unsupported := &Error{Library: "cuBLASLt", Reason: "no", Err: errors.ErrUnsupported}
	auto, vendor := &Setting{Engine: Auto}, &Setting{Engine: Vendor}
	if !auto.FallsBack(c, unsupported) || auto.FallsBack(c, errors.New("failed")) || auto.FallsBack(c, nil) || vendor.FallsBack(c, unsupported) {
		t.Error("the wrong errors fall back")
	}
	if r := auto.Last(); r.Engine != Quern || !strings.Contains(r.Reason, "cuBLASLt: no") {
		t.Error(r)
	}
}

func TestSizesOfOneClassDifferByAFifth(t *testing.T) {
	last, first := -1, 0
	for n := range 1 << 14 {
		size := Size(n)
		if size < last {
			t.Fatalf("Size(%d) is %d, less than %d", n, size, last)
		}
		if size != last {
			last, first = size, n
		}
		if n >= 8 && float64(n) >= 1.25*float64(first) {
			t.Fatalf("%d and %d have the same size", first, n)
		}
	}
	if Size(4096) == Size(4095) || Size(4096) != Size(5000) || Size(1<<40) <= Size(1<<39) {
		t.Error("sizes are wrong")
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"Quern": Quern.String(), "Vendor": Vendor.String(), "Auto": Auto.String(), "Engine(9)": Engine(9).String(),
		"cuFFT": FFT.String(), "cuSPARSE": Sparse.String(),
		"blas.Gemm: Quern":                       Report{Operation: "blas.Gemm"}.String(),
		"cuFFT: cufftCreate (5): bad; try again": (&Error{Library: "cuFFT", Function: "cufftCreate", Code: 5, Reason: "bad", Advice: "try again"}).Error(),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if r := (*Setting)(nil).Last(); r != (Report{}) {
		t.Error(r)
	}
}
