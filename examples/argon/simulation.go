package main

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"

	"quern.dev/algo"
	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

const (
	timeStep = 0.004
	density  = 0.8442 // of the liquid near its triple point, in atoms per unit of volume
	heat     = 1.44   // first temperature; half of it becomes potential energy
)

// simulation is the state of all atoms on a device, in the order of their cells.
type simulation struct {
	box
	s *gpu.Stream
	n int

	position, velocity, force   *gpu.Buffer[vector]
	sortedPosition, sortedSpeed *gpu.Buffer[vector]
	cell                        *gpu.Buffer[int32]
	atom, count, first          *gpu.Buffer[uint32]
	each, sums                  *gpu.Buffer[float64]
}

// newSimulation places atoms on the points of a crystal of side^3 cubes with 4 atoms.
func newSimulation(s *gpu.Stream, scope *gpu.Scope, side int) (m *simulation, err error) {
	m = &simulation{s: s, n: 4 * side * side * side}
	m.Side = float32(math.Cbrt(float64(m.n) / density))
	m.Cells = int32(m.Side / cutoff)
	cells := int(m.Cells * m.Cells * m.Cells)
	err = errors.Join(
		example.Acquire(scope, m.n, &m.position, &m.velocity, &m.force, &m.sortedPosition, &m.sortedSpeed),
		example.Acquire(scope, m.n, &m.cell),
		example.Acquire(scope, m.n, &m.atom),
		example.Acquire(scope, cells+1, &m.count, &m.first),
		example.Acquire(scope, quantities*m.n, &m.each),
		example.Acquire(scope, quantities, &m.sums))
	if err != nil {
		return nil, err
	}
	position, velocity := crystal(side, m.Side/float32(side))
	return m, errors.Join(gpu.CopyIn(s, m.position, position), gpu.CopyIn(s, m.velocity, velocity), m.attract())
}

// crystal returns atoms at the corners and in the middle of the faces of cubes, with random
// velocities whose sum is 0.
func crystal(side int, width float32) (position, velocity []vector) {
	r := rand.New(rand.NewPCG(1, 2))
	var mean vector
	for i := range side * side * side {
		x, y, z := float32(i%side), float32(i/side%side), float32(i/side/side)
		for _, corner := range [4][3]float32{{0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}} {
			position = append(position, vector{X: (x + corner[0]) * width, Y: (y + corner[1]) * width, Z: (z + corner[2]) * width})
			v := vector{X: float32(r.NormFloat64()), Y: float32(r.NormFloat64()), Z: float32(r.NormFloat64())}
			velocity, mean = append(velocity, v), mean.Add(v)
		}
	}
	for i, v := range velocity {
		velocity[i] = v.AddScaled(-1/float32(len(velocity)), mean).Scale(float32(math.Sqrt(heat)))
	}
	return position, velocity
}

// attract sorts the atoms by cells, and computes the forces.
func (m *simulation) attract() error {
	s, atoms := m.s, gpu.Linear(m.n)
	keys := algo.Radix{Bits: bits.Len(uint(m.count.Len()))}
	for _, step := range []func() error{
		func() error { return LaunchLocate(s, atoms, m.box, m.position, m.cell, m.atom) },
		func() error { return algo.HistogramValues(s, m.count, m.cell) },
		func() error { return algo.ScanExclusive(s, algo.Sum[uint32](), 0, m.first, m.count) },
		func() error { return algo.SortPairsRadix(s, keys, m.cell, m.atom) },
		func() error { return algo.Gather(s, m.sortedPosition, m.position, m.atom) },
		func() error { return algo.Gather(s, m.sortedSpeed, m.velocity, m.atom) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	m.position, m.sortedPosition = m.sortedPosition, m.position
	m.velocity, m.sortedSpeed = m.sortedSpeed, m.velocity
	return LaunchAttract(s, atoms, m.box, m.first, m.position, m.force)
}

// run computes steps, and waits for them.
func (m *simulation) run(ctx context.Context, steps int) error {
	for range steps {
		if err := LaunchAdvance(m.s, gpu.Linear(m.n), m.box, timeStep/2, timeStep, m.force, m.velocity, m.position); err != nil {
			return err
		}
		if err := m.attract(); err != nil {
			return err
		}
		if err := LaunchAdvance(m.s, gpu.Linear(m.n), m.box, timeStep/2, 0, m.force, m.velocity, m.position); err != nil {
			return err
		}
	}
	return m.s.Synchronize(ctx)
}

// state are means over the atoms.
type state struct {
	kinetic, potential float64
	momentum           float64 // magnitude
}

func (s state) temperature() float64 { return s.kinetic * 2 / 3 }
func (s state) energy() float64      { return s.kinetic + s.potential }

// state measures the atoms.
func (m *simulation) state(ctx context.Context) (state, error) {
	if err := LaunchMeasure(m.s, gpu.Linear(m.n), m.velocity, m.force, m.each); err != nil {
		return state{}, err
	}
	axis, err := algo.AxisOf(1, quantities, m.n)
	if err != nil {
		return state{}, err
	}
	if err := algo.ReduceAxis(m.s, algo.Sum[float64](), axis, m.sums, m.each); err != nil {
		return state{}, err
	}
	var mean [quantities]float64
	err = gpu.Download(ctx, m.s, mean[:], m.sums)
	for k := range mean {
		mean[k] /= float64(m.n)
	}
	return state{mean[0], mean[1], math.Hypot(mean[2], math.Hypot(mean[3], mean[4]))}, err
}
