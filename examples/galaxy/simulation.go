package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"quern.dev/algo"
	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

const (
	timeStep  = 0.01
	softening = 0.08
)

// simulation is the state of all bodies on a device.
type simulation struct {
	s *gpu.Stream
	n int

	position, velocity, acceleration *gpu.Buffer[vector]
	energies, total                  *gpu.Buffer[float64]
}

// newSimulation starts with two galaxies, and computes the first accelerations.
func newSimulation(s *gpu.Stream, scope *gpu.Scope, o options) (m *simulation, err error) {
	m = &simulation{s: s, n: o.bodies}
	err = errors.Join(example.Acquire(scope, m.n, &m.position, &m.velocity, &m.acceleration),
		example.Acquire(scope, m.n, &m.energies), example.Acquire(scope, 1, &m.total))
	if err != nil {
		return nil, err
	}
	position, velocity := galaxies(m.n)
	return m, errors.Join(gpu.CopyIn(s, m.position, position), gpu.CopyIn(s, m.velocity, velocity), m.accelerate())
}

func (m *simulation) accelerate() error {
	return LaunchAccelerate(m.s, gpu.Linear(m.n), softening, m.position, m.acceleration)
}

// run computes steps, and waits for them.
func (m *simulation) run(ctx context.Context, steps int) error {
	for range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := LaunchAdvance(m.s, gpu.Linear(m.n), timeStep/2, timeStep, m.acceleration, m.velocity, m.position); err != nil {
			return err
		}
		if err := m.accelerate(); err != nil {
			return err
		}
		if err := LaunchAdvance(m.s, gpu.Linear(m.n), timeStep/2, 0, m.acceleration, m.velocity, m.position); err != nil {
			return err
		}
	}
	return m.s.Synchronize(ctx)
}

// energy returns the energy of all bodies.
func (m *simulation) energy(ctx context.Context) (float64, error) {
	if err := LaunchEnergies(m.s, gpu.Linear(m.n), m.position, m.velocity, m.acceleration, m.energies); err != nil {
		return 0, err
	}
	if err := algo.Reduce(m.s, algo.Sum[float64](), m.total, m.energies); err != nil {
		return 0, err
	}
	var total [1]float64
	err := gpu.Download(ctx, m.s, total[:], m.total)
	return total[0], err
}

// verify compares accelerations with those that the host computes, and limits the change
// of the energy.
func (m *simulation) verify(ctx context.Context, w io.Writer, change float64) error {
	position, acceleration := make([]vector, m.n), make([]vector, m.n)
	if err := gpu.Download(ctx, m.s, position, m.position); err != nil {
		return err
	}
	if err := gpu.Download(ctx, m.s, acceleration, m.acceleration); err != nil {
		return err
	}
	const bodies, tolerance, mostChange = 256, 2e-5, 5e-3
	worst := 0.0
	for i := 0; i < m.n; i += max(1, m.n/bodies) {
		worst = max(worst, forceError(position, i, acceleration[i]))
	}
	switch {
	case !(worst <= tolerance):
		return fmt.Errorf("verify: relative error of a force: %.2g, more than %g", worst, tolerance)
	case !(math.Abs(change) <= mostChange):
		return fmt.Errorf("verify: the energy has changed by %.2g, more than %g", change, mostChange)
	}
	_, err := fmt.Fprintf(w, "verified: relative error of forces at most %.1e, of the energy %.1e\n", worst, math.Abs(change))
	return err
}

// forceError returns the error of the acceleration of body i, relative to the sum of the
// magnitudes of all attractions.
func forceError(position []vector, i int, got vector) float64 {
	var want [3]float64
	magnitudes := 0.0
	p := position[i]
	for _, b := range position {
		d := [3]float64{float64(b.X) - float64(p.X), float64(b.Y) - float64(p.Y), float64(b.Z) - float64(p.Z)}
		r := math.Sqrt(d[0]*d[0] + d[1]*d[1] + d[2]*d[2] + softening*softening)
		f := float64(b.W) / (r * r * r)
		for k := range d {
			want[k] += f * d[k]
		}
		magnitudes += f * math.Hypot(d[0], math.Hypot(d[1], d[2]))
	}
	x, y, z := float64(got.X)-want[0], float64(got.Y)-want[1], float64(got.Z)-want[2]
	return math.Sqrt(x*x+y*y+z*z) / magnitudes
}
