package main

import (
	"context"
	"errors"

	"quern.dev/algo"
	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// speed of the flow, in cells per step: low enough that the fluid is hardly compressed.
const speed = 0.1

// newChannel returns the channel around a cylinder of the given diameter.
func newChannel(diameter int, reynolds float64) channel {
	d := float32(diameter)
	viscosity := speed * float64(d) / reynolds
	c := channel{Width: 18 * diameter, Height: 8 * diameter, CenterX: 4 * d, CenterY: 4*d - 0.5, Radius: d / 2,
		Speed: speed, Relaxation: float32(1 / (3*viscosity + 0.5)), Fringe: 3 * diameter}
	c.Probe = c.Height/2*c.Width + 7*diameter
	return c
}

// simulation is the state of a flow on a device.
type simulation struct {
	channel
	s        *gpu.Stream
	from, to *gpu.Buffer[float32]
	record   *gpu.Buffer[float32] // what the probe has measured in each step
	total    *gpu.Buffer[algo.Compensated[float32]]
	done     int // steps
}

func newSimulation(s *gpu.Stream, scope *gpu.Scope, c channel, steps int) (m *simulation, err error) {
	m = &simulation{channel: c, s: s}
	err = errors.Join(example.Acquire(scope, directions*c.Width*c.Height, &m.from, &m.to),
		example.Acquire(scope, steps, &m.record), example.Acquire(scope, 1, &m.total))
	if err != nil {
		return nil, err
	}
	return m, LaunchStart(s, gpu.Plane(c.Width, c.Height), c, m.from)
}

// run computes steps, and waits for them.
func (m *simulation) run(ctx context.Context, steps int) error {
	for range steps {
		if err := LaunchStep(m.s, gpu.Plane(m.Width, m.Height), m.channel, m.done, m.from, m.to, m.record); err != nil {
			return err
		}
		m.from, m.to = m.to, m.from
		m.done++
	}
	return m.s.Synchronize(ctx)
}

// mass returns the mass of the fluid. Of that, a part is on its way back from the
// cylinder. A cell of density 1 has a mass of 1.
func (m *simulation) mass(ctx context.Context) (float64, error) {
	if err := algo.SumCompensated(m.s, m.total, m.from); err != nil {
		return 0, err
	}
	var sum [1]algo.Compensated[float32]
	err := gpu.Download(ctx, m.s, sum[:], m.total)
	return float64(m.Width*m.Height) + float64(sum[0].Sum) + float64(sum[0].Rest), err
}

// velocities returns the velocity of each cell, along and across the flow.
func (m *simulation) velocities(ctx context.Context, scope *gpu.Scope) (along, across []float32, err error) {
	cells := m.Width * m.Height
	both, err := gpu.AcquireIn[float32](scope, 2*cells)
	if err != nil {
		return nil, nil, err
	}
	if err := LaunchVelocities(m.s, gpu.Linear(cells), m.from, both.Slice(0, cells), both.Slice(cells, 2*cells)); err != nil {
		return nil, nil, err
	}
	host := make([]float32, 2*cells)
	err = gpu.Download(ctx, m.s, host, both)
	return host[:cells], host[cells:], err
}
