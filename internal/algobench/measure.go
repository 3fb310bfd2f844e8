package main

import (
	"context"
	"errors"
	"time"

	"quern.dev/gpu"
)

// Figure is what is known about one algorithm for one number of elements.
type Figure struct {
	Name     string  `json:"name"`
	Elements int     `json:"elements"`
	Seconds  float64 `json:"seconds"`
	GBs      float64 `json:"gb_per_second"` // that it moves
	CopyGBs  float64 `json:"copy_gb_per_second"`
	TFlops   float64 `json:"tflops,omitempty"`
}

// Report is all that is measured on a device.
type Report struct {
	Device     string   `json:"device"`
	Backend    string   `json:"backend"`
	PeakTFlops float64  `json:"peak_tflops,omitempty"` // of fused multiply-adds in float32; measured, on GPUs
	Figures    []Figure `json:"figures"`
	Complete   bool     `json:"complete"`
}

// bench measures on a stream.
type bench struct {
	s       *gpu.Stream
	shortly bool // one sample only
	start   *gpu.Event
	end     *gpu.Event
}

func newBench(dev *gpu.Device, shortly bool) (b *bench, err error) {
	b = &bench{s: dev.DefaultStream(), shortly: shortly}
	if b.start, err = dev.NewEvent(); err != nil {
		return nil, err
	}
	if b.end, err = dev.NewEvent(); err != nil {
		return nil, errors.Join(err, b.start.Close())
	}
	return b, nil
}

func (b *bench) close() error { return errors.Join(b.start.Close(), b.end.Close()) }

// seconds returns the shortest time of the work that submit adds to the stream, in a number
// of samples.
func (b *bench) seconds(ctx context.Context, submit func() error) (float64, error) {
	const samples, sampleTime, slow = 5, 20 * time.Millisecond, 500 * time.Millisecond
	one, err := b.sample(ctx, 1, submit) // loads kernels, fills pools
	if err == nil && !b.shortly {
		one, err = b.sample(ctx, 1, submit)
	}
	best := one.Seconds()
	if err != nil || b.shortly || one > slow {
		return best, err
	}
	calls := 1 + int(sampleTime/max(one, time.Microsecond))
	for range samples {
		d, err := b.sample(ctx, calls, submit)
		if err != nil {
			return 0, err
		}
		best = min(best, d.Seconds()/float64(calls))
	}
	return best, nil
}

func (b *bench) sample(ctx context.Context, calls int, submit func() error) (time.Duration, error) {
	if err := b.s.Record(b.start); err != nil {
		return 0, err
	}
	for range calls {
		if err := submit(); err != nil {
			return 0, err
		}
	}
	if err := b.s.Record(b.end); err != nil {
		return 0, err
	}
	if err := b.s.Synchronize(ctx); err != nil {
		return 0, err
	}
	return gpu.Elapsed(b.start, b.end)
}

// size measures all algorithms for n elements, and passes each figure to show.
func (b *bench) size(ctx context.Context, n int, show func(Figure)) error {
	return b.s.Device().Pool().Scope(b.s, func(scope *gpu.Scope) error {
		buffers, err := newBuffers(b.s, scope, n)
		if err != nil {
			return err
		}
		seconds, err := b.seconds(ctx, func() error { return gpu.Copy(b.s, buffers.out, buffers.keys) })
		if err != nil {
			return err
		}
		bandwidth := 8 * float64(n) / seconds / 1e9
		show(Figure{Name: "copy", Elements: n, Seconds: seconds, GBs: bandwidth, CopyGBs: bandwidth})
		for _, a := range algorithms {
			f, err := b.measure(ctx, a, buffers)
			if err != nil {
				return err
			}
			f.CopyGBs = bandwidth
			show(f)
		}
		return nil
	})
}

// measure measures one algorithm.
func (b *bench) measure(ctx context.Context, a algorithm, buffers *buffers) (f Figure, err error) {
	m, err := a.open(buffers)
	if err != nil {
		return f, err
	}
	if m.close != nil {
		defer func() { err = errors.Join(err, m.close()) }()
	}
	seconds, err := b.seconds(ctx, m.submit)
	if err != nil {
		return f, err
	}
	if m.restore != nil {
		without, err := b.seconds(ctx, m.restore)
		if err != nil {
			return f, err
		}
		seconds = max(seconds-without, seconds/10)
	}
	f = Figure{Name: a.name, Elements: buffers.n, Seconds: seconds, GBs: a.bytes(buffers.n) / seconds / 1e9}
	if a.flops != nil {
		f.TFlops = a.flops(buffers.n) / seconds / 1e12
	}
	return f, nil
}

// peak returns the rate of fused multiply-adds of a GPU, in TFLOP/s.
func (b *bench) peak(ctx context.Context) (tflops float64, err error) {
	dev := b.s.Device()
	blocks, rounds := 8*dev.Attributes().Multiprocessors, 512
	out, err := gpu.Alloc[float32](dev, 256*blocks)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	seconds, err := b.seconds(ctx, func() error {
		return LaunchMultiplyAdd(b.s, gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: 256}), rounds, 0.5, out)
	})
	return 2 * chains * links * float64(rounds) * float64(out.Len()) / seconds / 1e12, err
}
