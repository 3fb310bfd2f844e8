package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	side, steps int
	verify      bool
	out         string
}

func main() {
	var o options
	flag.IntVar(&o.side, "cells", 0, "the `number` of cubes of 4 atoms along a side, by default 32 on a GPU, 10 on the CPU, 5 in the simulator")
	flag.IntVar(&o.steps, "steps", 1000, "the number of steps of 8.6 fs")
	flag.BoolVar(&o.verify, "verify", false, "compare the last forces with the host's, and limit the change of energy")
	flag.StringVar(&o.out, "out", "argon.png", "the picture `file` to write; none if empty")
	example.Main("argon", func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, o) })
}

// check returns an error for the first option that is out of range.
func (o *options) check() error {
	switch {
	case o.side < 5 || o.side > 128:
		return fmt.Errorf("-cells %d: want 5 to 128; fewer atoms would meet themselves at the other side of the box", o.side)
	case o.steps < 1:
		return fmt.Errorf("-steps %d: want at least 1", o.steps)
	}
	return nil
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	if o.side == 0 {
		o.side = map[gpu.Backend]int{gpu.CUDA: 32, gpu.CPU: 10, gpu.Sim: 5}[dev.Backend()]
	}
	if err := o.check(); err != nil {
		return err
	}
	s := dev.DefaultStream()
	return dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		m, err := newSimulation(s, scope, o.side)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %d atoms, %d steps\n\n", dev.Name(), m.n, o.steps)
		return m.report(ctx, w, o)
	})
}

// report runs the simulation, and prints its state ten times.
func (m *simulation) report(ctx context.Context, w io.Writer, o options) error {
	first, err := m.state(ctx)
	if err != nil {
		return err
	}
	row := func(step int, s state) {
		fmt.Fprintf(w, "%8d %12.4f %12.5f %12.5f %12.5f %10.1e\n", step, s.temperature(), s.kinetic, s.potential, s.energy(), s.energy()-first.energy())
	}
	fmt.Fprintf(w, "%8s %12s %12s %12s %12s %10s\n", "step", "temperature", "kinetic", "potential", "energy", "change")
	row(0, first)
	progress := example.StartProgress("steps", o.steps)
	defer progress.End()
	last, computing := first, time.Duration(0)
	for done, k := 0, 1; k <= min(10, o.steps); k++ {
		for end := o.steps * k / min(10, o.steps); done < end; {
			begin, steps := time.Now(), min(10, end-done)
			if err := m.run(ctx, steps); err != nil {
				return err
			}
			computing += time.Since(begin)
			done += steps
			progress.At(done)
		}
		progress.End()
		if last, err = m.state(ctx); err != nil {
			return err
		}
		row(done, last)
	}
	fmt.Fprintf(w, "\nenergies per atom; %v per step, %.3g million atoms per second\n", (computing / time.Duration(o.steps)).Round(time.Microsecond), float64(m.n)*float64(o.steps)/computing.Seconds()/1e6)
	if o.out != "" {
		if err := m.draw(ctx, o.out); err != nil {
			return err
		}
		fmt.Fprintf(w, "wrote %s\n", o.out)
	}
	if !o.verify {
		return nil
	}
	return m.verify(ctx, w, last, last.energy()-first.energy())
}

// verify compares forces with those that the host computes from all pairs, and limits the
// momentum and the change of the energy.
func (m *simulation) verify(ctx context.Context, w io.Writer, last state, change float64) error {
	const atoms, tolerance, mostChange, mostMomentum = 200, 1e-4, 5e-3, 1e-4
	position, force := make([]vector, m.n), make([]vector, m.n)
	if err := gpu.Download(ctx, m.s, position, m.position); err != nil {
		return err
	}
	if err := gpu.Download(ctx, m.s, force, m.force); err != nil {
		return err
	}
	worst := 0.0
	for i := 0; i < m.n; i += max(1, m.n/atoms) {
		worst = max(worst, forceError(position, float64(m.Side), i, force[i]))
	}
	switch {
	case !(worst <= tolerance):
		return fmt.Errorf("verify: relative error of a force: %.2g, more than %g", worst, tolerance)
	case !(math.Abs(change) <= mostChange):
		return fmt.Errorf("verify: the energy per atom has changed by %.2g, more than %g", change, mostChange)
	case !(last.momentum <= mostMomentum):
		return fmt.Errorf("verify: the mean momentum is %.2g, more than %g", last.momentum, mostMomentum)
	}
	_, err := fmt.Fprintf(w, "verified: relative error of forces at most %.1e, of the energy per atom %.1e; mean momentum %.1e\n", worst, math.Abs(change), last.momentum)
	return err
}

// forceError returns the error of the force and the potential energy of atom i, relative to
// the sums of the magnitudes of what it consists of.
func forceError(position []vector, side float64, i int, got vector) float64 {
	pair := func(r float64) (energy, slope float64) { // Lennard-Jones
		inverse6 := math.Pow(r, -6)
		return 4 * inverse6 * (inverse6 - 1), -24 * inverse6 * (2*inverse6 - 1) / r
	}
	endEnergy, endSlope := pair(cutoff)
	want, magnitudes := [4]float64{}, [2]float64{}
	p := position[i]
	for j, q := range position {
		d := [3]float64{float64(p.X) - float64(q.X), float64(p.Y) - float64(q.Y), float64(p.Z) - float64(q.Z)}
		for k := range d {
			d[k] -= side * math.Round(d[k]/side)
		}
		r := math.Hypot(d[0], math.Hypot(d[1], d[2]))
		if j == i || r >= cutoff {
			continue
		}
		energy, slope := pair(r)
		energy, slope = energy-endEnergy-(r-cutoff)*endSlope, slope-endSlope
		for k := range d {
			want[k] -= slope * d[k] / r
		}
		want[3] += energy / 2
		magnitudes[0] += math.Abs(slope)
		magnitudes[1] += math.Abs(energy)
	}
	x, y, z := float64(got.X)-want[0], float64(got.Y)-want[1], float64(got.Z)-want[2]
	return max(math.Hypot(x, math.Hypot(y, z))/magnitudes[0], math.Abs(float64(got.W)-want[3])/magnitudes[1])
}
