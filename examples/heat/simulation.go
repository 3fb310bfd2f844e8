package main

import (
	"context"
	"errors"
	"math"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// simulation has the buffers for a plate.
type simulation struct {
	*plate
	s         *gpu.Stream
	fixed     *gpu.Buffer[uint8]
	from, out *gpu.Buffer[float32]
}

func newSimulation(s *gpu.Stream, scope *gpu.Scope, p *plate) (m *simulation, err error) {
	m = &simulation{plate: p, s: s}
	cells := len(p.held)
	if err := errors.Join(example.Acquire(scope, cells, &m.fixed), example.Acquire(scope, cells, &m.from, &m.out)); err != nil {
		return nil, err
	}
	return m, gpu.CopyIn(s, m.fixed, p.held)
}

// launch computes n steps: one simply, more of them blocked.
func (m *simulation) launch(n int, blocked bool) error {
	defer func() { m.from, m.out = m.out, m.from }()
	if !blocked {
		return LaunchStep(m.s, gpu.Plane(m.width, m.height), m.width, m.height, m.fixed, m.from, m.out)
	}
	tiles := gpu.Dim3{X: (m.width + middle - 1) / middle, Y: (m.height + middle - 1) / middle}
	return LaunchSteps(m.s, gpu.Blocks(tiles, gpu.Dim3{X: side, Y: rows}), m.width, m.height, n, m.fixed, m.from, m.out)
}

// run computes steps from the first state of the plate, up to most per launch, and returns
// the temperatures and the time.
func (m *simulation) run(ctx context.Context, name string, most, steps int) (out []float32, took time.Duration, err error) {
	for _, prepare := range []func() error{
		func() error { return gpu.CopyIn(m.s, m.from, m.temperature) },
		func() error { return m.launch(1, most > 1) }, // the first launch loads the kernel
		func() error { return gpu.CopyIn(m.s, m.from, m.temperature) },
	} {
		if err := prepare(); err != nil {
			return nil, 0, err
		}
	}
	if err := m.s.Synchronize(ctx); err != nil {
		return nil, 0, err
	}
	progress := example.StartProgress(name, steps)
	defer progress.End()
	begin := time.Now()
	for done, waited := 0, 0; done < steps; {
		n := min(most, steps-done)
		if err := m.launch(n, most > 1); err != nil {
			return nil, 0, err
		}
		if done += n; done-waited >= 256 {
			if err := m.s.Synchronize(ctx); err != nil {
				return nil, 0, err
			}
			waited = done
			progress.At(done)
		}
	}
	if err := m.s.Synchronize(ctx); err != nil {
		return nil, 0, err
	}
	took = time.Since(begin)
	out = make([]float32, len(m.temperature))
	return out, took, gpu.Download(ctx, m.s, out, m.from)
}

// difference returns the first element whose bits differ, or -1.
func difference(a, b []float32) int {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}
