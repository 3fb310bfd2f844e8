package profile_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/internal/kernels"
)

// openCUDA opens a GPU, or skips the test.
func openCUDA(t testing.TB) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(gpu.Config{Require: gpu.CUDA})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// spinning returns a function that launches a kernel which spins for the given time on the device.
// The whole kernel takes longer by what an empty one takes. The clock is that of a device which has
// been busy long enough to have raised it.
func spinning(t testing.TB, s *gpu.Stream, want time.Duration) func() error {
	t.Helper()
	spin := func(ticks int64) error {
		return kernels.LaunchSpin(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), ticks)
	}
	const ticks, near, most = 2_000_000, 0.002, 500
	took := func(n int64) float64 {
		return float64(elapsed(t, s, func() { check(t, spin(n)) }))
	}
	// The difference of two times has no launch in it.
	perTick := func() float64 { return (took(2*ticks) - took(ticks)) / ticks }
	before := perTick()
	for range most {
		now := perTick()
		if math.Abs(now/before-1) < near {
			return func() error { return spin(int64(float64(want) / now)) }
		}
		before = now
	}
	t.Fatalf("the clock of the device does not settle: a tick takes %v ns", before)
	return nil
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// elapsed measures f with events.
func elapsed(t testing.TB, s *gpu.Stream, f func()) time.Duration {
	t.Helper()
	start, err := s.Device().NewEvent()
	check(t, err)
	defer start.Close()
	end, err := s.Device().NewEvent()
	check(t, err)
	defer end.Close()
	check(t, s.Record(start))
	f()
	check(t, s.Record(end))
	check(t, s.Synchronize(context.Background()))
	took, err := gpu.Elapsed(start, end)
	check(t, err)
	return took
}

func median[T int64 | float64 | time.Duration](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func TestKernelTimesAgreeWithEvents(t *testing.T) {
	d := openCUDA(t)
	s := d.DefaultStream()
	x, err := gpu.Alloc[float32](d, 1<<26)
	check(t, err)
	defer x.Close()
	check(t, gpu.Fill(s, x, 1))
	sum, err := gpu.Alloc[float32](d, 1)
	check(t, err)
	defer sum.Close()
	for _, c := range []struct {
		name   string
		want   time.Duration // of the kernel of a launch; 0 if there are several
		launch func() error
	}{
		{"5 us", 5 * time.Microsecond, spinning(t, s, 5*time.Microsecond)},
		{"20 us", 20 * time.Microsecond, spinning(t, s, 20*time.Microsecond)},
		{"100 us", 100 * time.Microsecond, spinning(t, s, 100*time.Microsecond)},
		{"sum of 2^26", 0, func() error { return algo.Reduce(s, algo.Sum[float32](), sum, x) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 200
			check(t, c.launch())
			check(t, s.Synchronize(context.Background()))
			r, err := profile.Start(profile.Config{All: true})
			check(t, err)
			check(t, c.launch()) // starts CUPTI
			check(t, s.Synchronize(context.Background()))
			section := profile.Section(context.Background(), s, c.name)
			total := elapsed(t, s, func() {
				for range n {
					check(t, c.launch())
				}
			})
			section.End()
			check(t, r.Stop())
			var times []time.Duration
			var busy time.Duration
			var span time.Duration
			stacks := 0
			for e := range r.Events() {
				switch {
				case e.OnDevice && e.Kind == profile.Kernel && e.Section == c.name:
					times = append(times, e.Duration)
					busy += e.Duration
					if len(e.Stack()) > 0 && strings.Contains(fmt.Sprint(e.Stack()), "TestKernelTimesAgree") {
						stacks++
					}
				case e.OnDevice && e.Kind == profile.NamedSection:
					span = e.Duration
				}
			}
			t.Logf("%s; %d kernels, median %v, sum %v; events %v for all, %v per launch; span %v; %d lost",
				r.Source(), len(times), median(append(times, 0)), busy, total, total/n, span, r.Lost())
			if c.want > 0 && len(times) != n || len(times) < n {
				t.Errorf("%d kernels, want %d", len(times), n)
			}
			if got := median(append(times, 0)); c.want > 0 && math.Abs(float64(got-c.want)) > 0.05*float64(c.want)+1000 {
				t.Errorf("a kernel of %v takes %v", c.want, got)
			}
			if stacks != len(times) {
				t.Errorf("%d of %d kernels have the call stack", stacks, len(times))
			}
			// Between two kernels a GPU pauses for about a microsecond, and launching one that is
			// recorded takes up to 10 us.
			gap := time.Duration(len(times)) * 1500 * time.Nanosecond
			launchBound := total/n < 15*time.Microsecond
			if busy > total+total/50 || busy < total-total/20-gap && !launchBound {
				t.Errorf("kernels take %v, events say %v", busy, total)
			}
			if strings.Contains(r.Source(), "CUPTI ") && math.Abs(float64(span-total)) > 0.02*float64(total)+20_000 {
				t.Errorf("the section takes %v on the device, events say %v", span, total)
			}
		})
	}
}

// TestOverheadOfARecording measures loops of launches with and without a recording. The
// limits are those for CUPTI.
func TestOverheadOfARecording(t *testing.T) {
	d := openCUDA(t)
	s := d.DefaultStream()
	for _, c := range []struct {
		kernel  time.Duration
		n       int
		percent float64
	}{{5 * time.Microsecond, 4000, 5}, {100 * time.Microsecond, 400, 1}} {
		launch := spinning(t, s, c.kernel)
		queued := func() time.Duration {
			begin := time.Now()
			for range c.n {
				check(t, launch())
			}
			check(t, s.Synchronize(context.Background()))
			return time.Since(begin) / time.Duration(c.n)
		}
		waited := func() time.Duration {
			begin := time.Now()
			for range c.n / 4 {
				check(t, launch())
				check(t, s.Synchronize(context.Background()))
			}
			return time.Since(begin) / time.Duration(c.n/4)
		}
		for _, l := range []struct {
			name string
			loop func() time.Duration
		}{{"queued", queued}, {"waited for", waited}} {
			name, loop := l.name, l.loop
			// Rounds without and with a recording take turns, so a clock that drifts
			// changes both.
			loop()
			var off, on []time.Duration
			var r *profile.Recording
			for range 5 {
				for range 5 {
					off = append(off, loop())
				}
				var err error
				r, err = profile.Start(profile.Config{})
				check(t, err)
				loop()
				for range 5 {
					on = append(on, loop())
				}
				check(t, r.Stop())
				loop()
			}
			overhead := 100 * (float64(median(on))/float64(median(off)) - 1)
			t.Logf("kernels of %v, %s: %v without a recording, %v with one: %.1f %%; %s; %d lost",
				c.kernel, name, median(off), median(on), overhead, r.Source(), r.Lost())
			if overhead > c.percent {
				t.Errorf("kernels of %v, %s: a recording costs %.1f %%, want at most %v %%", c.kernel, name, overhead, c.percent)
			}
		}
	}
}

// TestARecordingStartsBesideARunningKernel: actors are kernels that run for long.
func TestARecordingStartsBesideARunningKernel(t *testing.T) {
	d := openCUDA(t)
	s := d.DefaultStream()
	launch := spinning(t, s, 10*time.Microsecond)
	other, err := d.NewStream(context.Background(), gpu.Detached())
	check(t, err)
	defer other.Close()
	const long = 6e9 // cycles, about 3 s
	check(t, kernels.LaunchSpin(other, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), long))
	begin := time.Now()
	r, err := profile.Start(profile.Config{})
	check(t, err)
	check(t, launch())
	check(t, s.Synchronize(context.Background()))
	took := time.Since(begin)
	check(t, r.Stop())
	stopped := time.Since(begin) - took
	kernelsSeen := 0
	for e := range r.Events() {
		if e.OnDevice && e.Kind == profile.Kernel {
			kernelsSeen++
		}
	}
	t.Logf("start, launch and wait took %v, stop %v; %d kernels; %s", took, stopped, kernelsSeen, r.Source())
	if took > 2*time.Second || stopped > 2*time.Second {
		t.Errorf("the recording waited for a kernel: %v to start, %v to stop", took, stopped)
	}
}

func TestABenchmarkAgreesWithItsKernel(t *testing.T) {
	d := openCUDA(t)
	s := d.DefaultStream()
	m, err := profile.Measure(t.Context(), s)
	check(t, err)
	t.Logf("copy %.0f GB/s, float32 %.1f TFLOP/s, float64 %.1f TFLOP/s", m.CopyBandwidth/1e9, m.Flops32/1e12, m.Flops64/1e12)
	measure := func(name string, launch func() error) float64 {
		t.Helper()
		r, err := profile.Benchmark(t.Context(), s, profile.BenchmarkConfig{Name: name, KeepCache: true}, func(*gpu.Stream) error { return launch() })
		check(t, err)
		t.Logf("%v, throttled %d", r, r.Throttled)
		return r.Median
	}
	empty := measure("empty", func() error { return kernels.LaunchSpin(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), 0) })
	for _, want := range []time.Duration{5 * time.Microsecond, 20 * time.Microsecond, 100 * time.Microsecond} {
		got := measure(want.String(), spinning(t, s, want)) - empty
		if off := math.Abs(got - float64(want)); off > 0.03*float64(want)+300 {
			t.Errorf("a kernel that spins for %v takes %v ns more than an empty one", want, got)
		}
	}
	_, err = profile.Benchmark(t.Context(), s, profile.BenchmarkConfig{Waits: true, MinTime: time.Millisecond, MaxTime: 100 * time.Millisecond}, func(s *gpu.Stream) error {
		return s.Synchronize(context.Background())
	})
	check(t, err)
}

func TestGraphsHaveTheirKernels(t *testing.T) {
	d := openCUDA(t)
	s := d.DefaultStream()
	g, err := d.Capture(func(s *gpu.Stream) error {
		for range 5 {
			if err := kernels.LaunchSpin(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), 10_000); err != nil {
				return err
			}
		}
		return nil
	})
	check(t, err)
	e, err := g.Instantiate()
	check(t, err)
	defer e.Close()
	check(t, e.Launch(s))
	check(t, s.Synchronize(context.Background()))
	r, err := profile.Start(profile.Config{All: true})
	check(t, err)
	for range 3 {
		check(t, e.Launch(s))
	}
	check(t, s.Synchronize(context.Background()))
	check(t, r.Stop())
	if !strings.Contains(r.Source(), "from CUPTI") {
		t.Skip(r.Source())
	}
	n := 0
	for e := range r.Events() {
		if e.OnDevice && e.Kind == profile.Kernel && e.Name == "spin" && e.Op != 0 && len(e.Stack()) > 0 {
			n++
		}
	}
	if n != 15 {
		t.Errorf("%d kernels of 3 runs of a graph of 5", n)
	}
}
