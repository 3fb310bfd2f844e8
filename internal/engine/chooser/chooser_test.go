package chooser

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// provider has one library.
type provider struct{ engine.Provider }

func (provider) Version(*gpu.Device, engine.Library) string { return "cuBLASLt 13.1.0" }

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
	missing := &engine.Error{Library: "cuBLASLt", Reason: "no file"}
	for _, c := range []struct {
		name, winner string
		check, err   error
		vendor       func(*gpu.Stream, *gpu.Buffer[byte]) error
		want         engine.Engine
		reason       string
		measured     int // by two calls
	}{
		{"the library is faster", "Vendor", nil, nil, works, engine.Vendor, "measured 10µs, Quern 20µs", 1},
		{"Quern is faster", "Quern", nil, nil, works, engine.Quern, "measured 20µs, cuBLASLt 13.1.0 10µs", 1},
		{"the library fails", "Quern", nil, nil, fails, engine.Quern, "Vendor failed: failed", 1},
		{"there is no library", "", missing, nil, works, engine.Quern, "cuBLASLt: no file", 0},
		{"the measurement fails", "", nil, errors.New("lost"), works, engine.Quern, "the measurement failed: lost", 2},
	} {
		d := open(t)
		measured := withTimes(t, c.winner, map[string]time.Duration{"Quern": 20 * time.Microsecond, "Vendor": 10 * time.Microsecond}, c.err)
		s := d.DefaultStream()
		if err := Set(s, engine.Auto, provider{}); err != nil {
			t.Fatal(err)
		}
		u, class := engine.Of(s), engine.Class{Operation: "blas.Gemm"}
		for range 2 {
			e, known, err := u.Choose(s, class)
			if !known {
				e, err = u.Measure(s, class, "some product", engine.Trial{
					Bytes: 8, Check: func() error { return c.check }, Own: works, Vendor: c.vendor})
			}
			if err != nil || e != c.want {
				t.Errorf("%s: %v, %v", c.name, e, err)
			}
			if r := Last(s); r.Engine != c.want || r.Reason != c.reason || (r.Library != "") != (e == engine.Vendor) {
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
	c := engine.Class{Operation: "blas.Gemm"}
	unsupported := &engine.Error{Library: "cuBLASLt", Reason: "no", Err: errors.ErrUnsupported}
	auto, vendor := &chooser{engine: engine.Auto}, &chooser{engine: engine.Vendor}
	if !auto.FallsBack(c, unsupported) || auto.FallsBack(c, errors.New("failed")) || auto.FallsBack(c, nil) || vendor.FallsBack(c, unsupported) {
		t.Error("the wrong errors fall back")
	}
	if r := auto.last; r.Engine != engine.Quern || !strings.Contains(r.Reason, "cuBLASLt: no") {
		t.Error(r)
	}
}

func TestReports(t *testing.T) {
	if text := (Report{Operation: "blas.Gemm"}).String(); text != "blas.Gemm: Quern" {
		t.Error(text)
	}
	if r := Last(nil); r != (Report{}) || Of(nil) != engine.Quern {
		t.Error(r)
	}
}
