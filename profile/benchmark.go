package profile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"quern.dev/gpu"
	"quern.dev/profile/internal/kernels"
)

// BenchmarkConfig configures [Benchmark]. The zero value works.
type BenchmarkConfig struct {
	Name string // in results and comparisons

	// What one run does, for rates. Zero is unknown. Bytes are those read and written, each
	// once. Flops are in float32, or in float64 if Double is set.
	Elements, Bytes, Flops int64
	Double                 bool

	// Noise is the relative standard deviation at which the measurement ends; 0.005 if zero.
	Noise float64
	// MinTime is the least time of the device, and MaxTime the most time on the host; 0.5
	// and 15 seconds if zero.
	MinTime, MaxTime time.Duration
	// Warmup is the number of runs before; 3 if zero.
	Warmup int

	// KeepCache: the L2 cache is not flushed before each run.
	KeepCache bool
	// Waits: the function waits for the device. Otherwise a run begins on the device when
	// all of its work has been queued, so that times have no gaps for launching.
	Waits bool
}

// Bounds of a measurement.
const (
	mostSamples    = 1 << 16
	leastSamples   = 10
	blockLimit     = 10 * time.Second // for queuing the work of a run
	throttled      = 0.75             // of the default clock
	mostThrottled  = 20               // samples in a row
	throttleRest   = 50 * time.Millisecond
	clockInterval  = 2 * time.Microsecond
	warmupDefault  = 3
	noiseDefault   = 0.005
	minTimeDefault = 500 * time.Millisecond
	maxTimeDefault = 15 * time.Second
)

// Result is the measurement of a function. Times are in nanoseconds on the device.
type Result struct {
	Name    string    `json:"name"`
	Device  string    `json:"device"`
	Samples []float64 `json:"samples"`

	Min    float64 `json:"min"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Stdev  float64 `json:"stdev"`

	Elements int64 `json:"elements,omitempty"`
	Bytes    int64 `json:"bytes,omitempty"`
	Flops    int64 `json:"flops,omitempty"`
	Double   bool  `json:"double,omitempty"`

	// Converged: the noise was low enough when the measurement ended.
	Converged bool `json:"converged"`
	// Throttled is the number of runs that were discarded because the clock was low.
	Throttled int `json:"throttled,omitempty"`

	Machine *Machine `json:"machine,omitempty"` // what rates are compared with; see [Measure]
}

// Benchmark measures a function that adds work to the stream, by nvbench's method: after a
// warm-up, each run begins with an empty stream and a flushed L2 cache, on a GPU whose clock
// is not throttled, and is timed by events on the device. It ends when at least MinTime was
// measured and the noise is low, or when MaxTime has passed, which is not an error.
//
// Cancelling ctx ends the measurement with the cause. The stream must not be in use
// otherwise.
//
//	r, err := profile.Benchmark(ctx, s, profile.BenchmarkConfig{Name: "saxpy", Bytes: 12 * n},
//		func(s *gpu.Stream) error { return LaunchSaxpy(s, gpu.Linear(n), 2, x, y) })
//	fmt.Println(r)
func Benchmark(ctx context.Context, s *gpu.Stream, c BenchmarkConfig, run func(s *gpu.Stream) error) (Result, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	r, err := benchmark(ctx, s, c, run)
	if err != nil {
		return Result{}, fmt.Errorf("profile: benchmark %s: %w", c.Name, err)
	}
	return r, nil
}

// normalize fills in defaults and checks the configuration.
func (c BenchmarkConfig) normalize() (BenchmarkConfig, error) {
	if c.Noise == 0 {
		c.Noise = noiseDefault
	}
	if c.MinTime == 0 {
		c.MinTime = minTimeDefault
	}
	if c.MaxTime == 0 {
		c.MaxTime = max(maxTimeDefault, 2*c.MinTime)
	}
	if c.Warmup == 0 {
		c.Warmup = warmupDefault
	}
	switch {
	case !(c.Noise > 0):
		return c, fmt.Errorf("Config.Noise is %v; want more than 0", c.Noise)
	case c.MinTime < 0 || c.MaxTime < 0 || c.Warmup < 0 || c.Elements < 0 || c.Bytes < 0 || c.Flops < 0:
		return c, errors.New("a number of the configuration is negative")
	}
	return c, nil
}

// bench is a measurement in progress.
type bench struct {
	BenchmarkConfig
	s          *gpu.Stream
	run        func(s *gpu.Stream) error
	start, end *gpu.Event
	flush      *gpu.Buffer[byte]  // as large as the L2 cache, or nil
	clock      *gpu.Buffer[int64] // of clockRate, or nil
	blocks     bool
}

func benchmark(ctx context.Context, s *gpu.Stream, c BenchmarkConfig, run func(s *gpu.Stream) error) (r Result, err error) {
	if run == nil {
		return r, errors.New("no function to measure")
	}
	d := s.Device()
	if d == nil {
		return r, errors.New("stream is nil")
	}
	if c, err = c.normalize(); err != nil {
		return r, err
	}
	b := &bench{BenchmarkConfig: c, s: s, run: run, blocks: d.Backend() == gpu.CUDA && !c.Waits}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.open(d); err != nil {
		return r, err
	}
	// The first run may load kernels, which waits for blocked streams.
	if err := run(s); err != nil {
		return r, err
	}
	if err := s.Synchronize(ctx); err != nil {
		return r, err
	}
	for range c.Warmup {
		if _, _, err := b.sample(ctx); err != nil {
			return r, err
		}
	}
	r = Result{Name: c.Name, Device: d.Name(), Elements: c.Elements, Bytes: c.Bytes, Flops: c.Flops, Double: c.Double}
	var m moments
	begin, low := time.Now(), 0
	for len(r.Samples) < mostSamples {
		took, rate, err := b.sample(ctx)
		if err != nil {
			return r, err
		}
		if usual := float64(d.Attributes().ClockRate) * 1000; rate > 0 && usual > 0 && rate < throttled*usual && low < mostThrottled {
			low++
			r.Throttled++
			select {
			case <-time.After(throttleRest):
			case <-ctx.Done():
			}
			continue
		}
		low = 0
		ns := float64(took)
		r.Samples = append(r.Samples, ns)
		m.add(ns)
		r.Converged = m.n >= leastSamples && m.sum() >= float64(c.MinTime) && m.noise() < c.Noise
		if r.Converged || time.Since(begin) > c.MaxTime && m.n >= leastSamples || time.Since(begin) > 4*c.MaxTime {
			break
		}
	}
	r.summarize()
	return r, nil
}

func (b *bench) open(d *gpu.Device) (err error) {
	if b.start, err = d.NewEvent(); err != nil {
		return err
	}
	if b.end, err = d.NewEvent(); err != nil {
		return err
	}
	if d.Backend() != gpu.CUDA {
		return nil
	}
	if size := d.Attributes().L2Size; size > 0 && !b.KeepCache {
		if b.flush, err = gpu.Alloc[byte](d, size); err != nil {
			return err
		}
	}
	if b.clock, err = gpu.Alloc[int64](d, 2); err != nil {
		return err
	}
	return b.readClock()
}

// readClock adds a measurement of the clock to the stream.
func (b *bench) readClock() error {
	return kernels.LaunchClockRate(b.s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), int64(clockInterval), b.clock)
}

func (b *bench) close() error {
	var errs []error
	if b.start != nil {
		errs = append(errs, b.start.Close())
	}
	if b.end != nil {
		errs = append(errs, b.end.Close())
	}
	if b.flush != nil {
		errs = append(errs, b.flush.Close())
	}
	if b.clock != nil {
		errs = append(errs, b.clock.Close())
	}
	return errors.Join(errs...)
}

var errBlocked = fmt.Errorf("the function took more than %v to queue its work; if it waits for the device, set BenchmarkConfig.Waits", blockLimit)

// sample measures a run. rate is the clock in Hz, or 0.
func (b *bench) sample(ctx context.Context) (took time.Duration, rate float64, err error) {
	if b.flush != nil {
		if err := gpu.Zero(b.s, b.flush); err != nil {
			return 0, 0, err
		}
	}
	if err := b.s.Synchronize(ctx); err != nil {
		return 0, 0, err
	}
	if err := b.queue(); err != nil {
		return 0, 0, err
	}
	if b.clock == nil {
		if err := b.s.Synchronize(ctx); err != nil {
			return 0, 0, err
		}
	} else {
		var at [2]int64
		if err := b.readClock(); err != nil {
			return 0, 0, err
		}
		if err := gpu.Download(ctx, b.s, at[:], b.clock); err != nil {
			return 0, 0, err
		}
		if at[1] > 0 {
			rate = float64(at[0]) / float64(at[1]) * 1e9
		}
	}
	took, err = gpu.Elapsed(b.start, b.end)
	return took, rate, err
}

// queue adds a run between two events to the stream. The device begins with it when all of it
// is queued.
func (b *bench) queue() error {
	release := make(chan struct{})
	if b.blocks {
		ended := make(chan struct{})
		err := b.s.Call(func() error {
			defer close(ended)
			select {
			case <-release:
				return nil
			case <-time.After(blockLimit):
				return errBlocked
			}
		})
		if err != nil {
			return err
		}
		defer func() { <-ended }()
	}
	defer close(release)
	if err := b.s.Record(b.start); err != nil {
		return err
	}
	if err := b.run(b.s); err != nil {
		return err
	}
	return b.s.Record(b.end)
}

// moments sums up samples (Welford's method).
type moments struct {
	n        int
	mean, m2 float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

func (m *moments) sum() float64 { return m.mean * float64(m.n) }

func (m *moments) stdev() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.m2 / float64(m.n-1))
}

// noise returns the relative standard deviation.
func (m *moments) noise() float64 {
	if m.mean == 0 {
		return 0
	}
	return m.stdev() / m.mean
}

// summarize computes what follows from the samples.
func (r *Result) summarize() {
	list := slices.Sorted(slices.Values(r.Samples))
	if len(list) == 0 {
		return
	}
	var m moments
	for _, x := range list {
		m.add(x)
	}
	r.Min, r.Q1, r.Median, r.Q3, r.Max = list[0], quantile(list, 0.25), quantile(list, 0.5), quantile(list, 0.75), list[len(list)-1]
	r.Mean, r.Stdev = m.mean, m.stdev()
}

// quantile returns a quantile of a sorted list, interpolated.
func quantile(list []float64, q float64) float64 {
	at := q * float64(len(list)-1)
	i := int(at)
	if i+1 >= len(list) {
		return list[len(list)-1]
	}
	return list[i] + (at-float64(i))*(list[i+1]-list[i])
}

// perSecond converts a number per run to one per second, by the median.
func (r *Result) perSecond(n int64) float64 {
	if n == 0 || r.Median == 0 {
		return 0
	}
	return float64(n) / r.Median * 1e9
}

// ElementsPerSecond returns the rate of elements, by the median; 0 if it is unknown.
func (r Result) ElementsPerSecond() float64 { return r.perSecond(r.Elements) }

// BytesPerSecond returns the rate of bytes, by the median; 0 if it is unknown.
func (r Result) BytesPerSecond() float64 { return r.perSecond(r.Bytes) }

// FlopsPerSecond returns the rate of floating-point operations, by the median; 0 if it is
// unknown.
func (r Result) FlopsPerSecond() float64 { return r.perSecond(r.Flops) }

// BandwidthShare returns the rate of bytes as a share of the copy bandwidth of Machine; 0 if
// one of the two is unknown.
func (r Result) BandwidthShare() float64 {
	if r.Machine == nil || r.Machine.CopyBandwidth == 0 {
		return 0
	}
	return r.BytesPerSecond() / r.Machine.CopyBandwidth
}

// FlopShare returns the rate of operations as a share of the peak of Machine; 0 if one of the
// two is unknown.
func (r Result) FlopShare() float64 {
	if r.Machine == nil {
		return 0
	}
	peak := r.Machine.Flops32
	if r.Double {
		peak = r.Machine.Flops64
	}
	if peak == 0 {
		return 0
	}
	return r.FlopsPerSecond() / peak
}

// Report reports the result as metrics of a benchmark of package testing:
//
//	func BenchmarkSaxpy(b *testing.B) {
//		r, err := profile.Benchmark(b.Context(), s, config, run)
//		...
//		r.Report(b)
//	}
//
// Run it with -benchtime=1x: Benchmark itself decides how often it runs the function.
func (r Result) Report(b interface{ ReportMetric(n float64, unit string) }) {
	b.ReportMetric(r.Median, "ns/op")
	b.ReportMetric(100*r.noise(), "%noise")
	for _, m := range []struct {
		value float64
		unit  string
	}{
		{r.ElementsPerSecond(), "elements/s"}, {r.BytesPerSecond() / 1e9, "GB/s"}, {r.FlopsPerSecond() / 1e9, "GFLOP/s"},
		{100 * r.BandwidthShare(), "%copy"}, {100 * r.FlopShare(), "%peak"},
	} {
		if m.value > 0 {
			b.ReportMetric(m.value, m.unit)
		}
	}
}

// noise returns the relative standard deviation.
func (r *Result) noise() float64 {
	if r.Mean == 0 {
		return 0
	}
	return r.Stdev / r.Mean
}
