package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"quern.dev/bench/parity/kernels"
	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
)

// runner measures on one device.
type runner struct {
	ctx    context.Context
	dev    *gpu.Device
	stream *gpu.Stream
	size   suite.Size
	marks  [2]*gpu.Event
}

func newRunner(ctx context.Context, dev *gpu.Device, small bool) (*runner, error) {
	r := &runner{ctx: ctx, dev: dev, stream: dev.DefaultStream(), size: suite.GPU}
	if small {
		r.size = suite.Small
	}
	for i := range r.marks {
		var err error
		if r.marks[i], err = dev.NewEvent(); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

func (r *runner) close() error {
	var errs []error
	for _, m := range r.marks {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}

// Contestants, in the order of a result's columns.
const (
	twin = iota
	unchecked
	checked
	contestants
)

// measure checks and times the kernels of one entry. cubin returns the compiled CUDA C.
func (r *runner) measure(entry suite.Entry, cubin func() (string, error)) (*result, error) {
	code, err := cubin()
	if err != nil {
		return nil, err
	}
	small := entry.New(suite.Small)
	cuda := gpu.NewKernel(compiled.Kernel{Name: small.Name, Package: "twins", Params: small.TwinParams(), Code: &compiled.Code{Modules: []archive.Module{{Text: code}}}, Shared: small.TwinShared})
	small.ByHand()
	err = r.with(small, func(b *suite.Bound) error { return r.agree(b, cuda, false) })
	if err != nil {
		return nil, fmt.Errorf("small size: %w", err)
	}
	c := entry.New(r.size)
	defer debug.FreeOSMemory() // not every device has room for the arrays of several cases
	line := &result{Name: c.Name, Unit: c.Unit}
	err = r.with(c, func(b *suite.Bound) error {
		return errors.Join(r.agree(b, cuda, true), r.resources(line, c, cuda), r.times(line, b, cuda))
	})
	return line, err
}

// with calls f with the case's arrays on the device.
func (r *runner) with(c *suite.Case, f func(*suite.Bound) error) error {
	b, err := c.Bind(r.stream)
	if err != nil {
		return err
	}
	return errors.Join(f(b), b.Close())
}

// times records the times of the three versions.
func (r *runner) times(line *result, b *suite.Bound, cuda *gpu.Kernel) error {
	if err := b.Reset(); err != nil {
		return err
	}
	seconds, err := r.race([contestants]func() error{
		twin:      func() error { return b.LaunchTwin(cuda) },
		unchecked: func() error { return b.Launch(b.Kernel.Unchecked) },
		checked:   func() error { return b.Launch(b.Kernel.Checked) },
	})
	if err != nil {
		return err
	}
	for i, s := range seconds {
		line.Speed[i] = b.Work / 1e9 / s
		line.Microseconds[i] = s * 1e6
	}
	line.Ratio = seconds[twin] / seconds[unchecked]
	line.RatioChecked = seconds[twin] / seconds[checked]
	return nil
}

// agree runs the three versions on poisoned outputs and compares their results with the
// hand-written version or, with withTwin, with the CUDA C.
func (r *runner) agree(b *suite.Bound, cuda *gpu.Kernel, withTwin bool) error {
	for i, launch := range []func() error{
		func() error { return b.LaunchTwin(cuda) },
		func() error { return b.Launch(b.Kernel.Unchecked) },
		func() error { return b.Launch(b.Kernel.Checked) },
	} {
		if err := errors.Join(b.Reset(), launch()); err != nil {
			return err
		}
		if i == twin && withTwin {
			if err := b.Keep(r.ctx); err != nil {
				return err
			}
		}
		if err := b.Compare(r.ctx); err != nil {
			return fmt.Errorf("%s: %w", [...]string{"CUDA C", "unchecked", "checked"}[i], err)
		}
	}
	return nil
}

func (r *runner) resources(line *result, c *suite.Case, cuda *gpu.Kernel) error {
	for i, k := range [contestants]*gpu.Kernel{cuda, c.Kernel.Unchecked, c.Kernel.Checked} {
		all, err := k.Resources(r.dev)
		if err != nil {
			return err
		}
		line.Registers[i], line.Local[i] = all[0].Registers, all[0].Local
	}
	return nil
}

const (
	warmUp     = 3
	sampleTime = time.Millisecond // minimum for the launches of one sample
	samples    = 31
)

// race times the launches in turns and returns the median times per launch in seconds.
func (r *runner) race(launches [contestants]func() error) (median [contestants]float64, err error) {
	batch := 1
	for i, launch := range launches {
		for range warmUp {
			if err := launch(); err != nil {
				return median, err
			}
		}
		d, err := r.time(launch, 1)
		if err != nil {
			return median, err
		}
		if i == twin {
			batch = int(sampleTime.Seconds()/d) + 1
		}
	}
	var times [contestants][]float64
	for turn := range samples {
		for i := range launches {
			who := (turn + i) % contestants
			d, err := r.time(launches[who], batch)
			if err != nil {
				return median, err
			}
			times[who] = append(times[who], d)
		}
	}
	for i, t := range times {
		slices.Sort(t)
		median[i] = t[len(t)/2]
	}
	return median, nil
}

// time returns the time per launch of n launches in seconds.
func (r *runner) time(launch func() error, n int) (float64, error) {
	if err := r.stream.Record(r.marks[0]); err != nil {
		return 0, err
	}
	for range n {
		if err := launch(); err != nil {
			return 0, err
		}
	}
	if err := r.stream.Record(r.marks[1]); err != nil {
		return 0, err
	}
	if err := r.stream.Synchronize(r.ctx); err != nil {
		return 0, err
	}
	d, err := gpu.Elapsed(r.marks[0], r.marks[1])
	if err != nil {
		return 0, err
	}
	return max(d, time.Nanosecond).Seconds() / float64(n), nil
}

// measurePeaks measures the peak rates of the device: fused multiply-adds and copies.
func (r *runner) measurePeaks(to *report) (err error) {
	const rounds = 512
	a := r.dev.Attributes()
	grid := gpu.Blocks(gpu.Dim3{X: 8 * a.Multiprocessors}, gpu.Dim3{X: 256})
	threads := 8 * a.Multiprocessors * 256
	sums, err := gpu.Alloc[float32](r.dev, threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sums.Close()) }()
	to.ClockGHz = float64(a.ClockRate) / 1e6
	to.TheoryTFlops = 2 * 128 * float64(a.Multiprocessors) * float64(a.ClockRate) * 1e3 / 1e12
	best, err := r.best(func() error { return kernels.LaunchMultiplyAdd(r.stream, grid, rounds, 0.999, sums) })
	if err != nil {
		return err
	}
	to.PeakTFlops = 2 * kernels.MultiplyAdds * rounds * float64(threads) / best / 1e12

	const n = 1 << 28 // bytes
	src, err := gpu.Alloc[byte](r.dev, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := gpu.Alloc[byte](r.dev, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if err := gpu.Zero(r.stream, src); err != nil {
		return err
	}
	best, err = r.best(func() error { return gpu.Copy(r.stream, dst, src) })
	to.CopyGBs = 2 * n / best / 1e9
	return err
}

// best returns the shortest of several launch times in seconds.
func (r *runner) best(launch func() error) (float64, error) {
	shortest := 1e9
	for range 2 * warmUp {
		d, err := r.time(launch, 4)
		if err != nil {
			return 0, err
		}
		shortest = min(shortest, d)
	}
	return shortest, nil
}
