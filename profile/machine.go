package profile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quern.dev/gpu"
	"quern.dev/profile/internal/kernels"
)

// Machine has the measured limits of a device, to compare rates with.
type Machine struct {
	Device        string  `json:"device"`
	CopyBandwidth float64 `json:"copyBandwidth"` // bytes per second, read and written, of a copy within the device
	Flops32       float64 `json:"flops32"`       // float32 multiplications and additions per second, without tensor cores
	Flops64       float64 `json:"flops64"`       // the same for float64
}

// Sizes for Measure. A copy is larger than any L2 cache.
const (
	copyBytesGPU  = 1 << 30
	copyBytesHost = 128 << 20
	measureTime   = 50 * time.Millisecond
)

// Measure measures the limits of a device, in about a second. On the simulator, whose times
// mean nothing, it returns an error.
func Measure(ctx context.Context, s *gpu.Stream) (*Machine, error) {
	d := s.Device()
	if d == nil {
		return nil, errors.New("profile: measure: stream is nil")
	}
	if d.Backend() == gpu.Sim {
		return nil, errors.New("profile: measure: the times of a simulator mean nothing")
	}
	m := &Machine{Device: d.Name()}
	for _, part := range []func(context.Context, *gpu.Stream, *Machine) error{measureCopy, measureFlops32, measureFlops64} {
		if err := part(ctx, s, m); err != nil {
			return nil, fmt.Errorf("profile: measure: %w", err)
		}
	}
	return m, nil
}

var measureConfig = BenchmarkConfig{MinTime: measureTime, MaxTime: 10 * measureTime, Noise: 0.01, KeepCache: true}

func measureCopy(ctx context.Context, s *gpu.Stream, m *Machine) error {
	d := s.Device()
	n := copyBytesHost
	if d.Backend() == gpu.CUDA {
		n = copyBytesGPU
		if free, _ := d.Memory(); free > 0 {
			n = min(n, int(free/4)) &^ 255
		}
	}
	from, err := gpu.Alloc[byte](d, n)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := gpu.Alloc[byte](d, n)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := gpu.Fill(s, from, 1); err != nil {
		return err
	}
	c := measureConfig
	c.Name, c.Bytes = "copy", 2*int64(n)
	r, err := benchmark(ctx, s, c, func(s *gpu.Stream) error { return gpu.Copy(s, to, from) })
	m.CopyBandwidth = r.BytesPerSecond()
	return err
}

// flopsGrid returns a grid that fills a device several times.
func flopsGrid(d *gpu.Device) (g gpu.Grid, threads int64) {
	blocks := 16 * max(1, d.Attributes().Multiprocessors)
	return gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: 256}), int64(blocks) * 256
}

// measureFlops finds a number of steps that takes long enough, and measures it.
func measureFlops(ctx context.Context, s *gpu.Stream, launch func(g gpu.Grid, steps int) error) (float64, error) {
	g, threads := flopsGrid(s.Device())
	for steps := 4; ; steps *= 4 {
		c := measureConfig
		c.Flops = threads * int64(steps) * kernels.Operations
		c.MinTime, c.MaxTime = 1, 1
		c.Warmup = 1
		r, err := benchmark(ctx, s, c, func(*gpu.Stream) error { return launch(g, steps) })
		if err != nil {
			return 0, err
		}
		if r.Median < float64(2*time.Millisecond) && steps < 1<<16 {
			continue
		}
		c.MinTime, c.MaxTime = measureConfig.MinTime, measureConfig.MaxTime
		r, err = benchmark(ctx, s, c, func(*gpu.Stream) error { return launch(g, steps) })
		return float64(c.Flops) / r.Min * 1e9, err
	}
}

func measureFlops32(ctx context.Context, s *gpu.Stream, m *Machine) error {
	out, err := gpu.Alloc[float32](s.Device(), 1)
	if err != nil {
		return err
	}
	defer out.Close()
	m.Flops32, err = measureFlops(ctx, s, func(g gpu.Grid, steps int) error { return kernels.LaunchFma32(s, g, steps, 0.5, out) })
	return err
}

func measureFlops64(ctx context.Context, s *gpu.Stream, m *Machine) error {
	out, err := gpu.Alloc[float64](s.Device(), 1)
	if err != nil {
		return err
	}
	defer out.Close()
	m.Flops64, err = measureFlops(ctx, s, func(g gpu.Grid, steps int) error { return kernels.LaunchFma64(s, g, steps, 0.5, out) })
	return err
}
