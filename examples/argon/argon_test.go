package main

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func small(dev *gpu.Device) options {
	o := options{side: 5, steps: 60, verify: true}
	if dev.Backend() == gpu.Sim {
		o.steps = 1
	}
	return o
}

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		o := small(dev)
		o.out = filepath.Join(t.TempDir(), "argon.png")
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) },
			"500 atoms", "temperature", "verified", "wrote "+o.out)
		if m := exampletest.Picture(t, o.out); m.Bounds().Dx() != 900 {
			t.Errorf("the picture is %v", m.Bounds())
		}
	})
}

// TestEnergyIsConserved compares the change of the energy, over a time in which the
// crystal melts, with how much kinetic energy becomes potential energy.
func TestEnergyIsConserved(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	err := dev.Pool().Scope(dev.DefaultStream(), func(scope *gpu.Scope) error {
		m, err := newSimulation(dev.DefaultStream(), scope, 6)
		if err != nil {
			return err
		}
		first, err := m.state(t.Context())
		if err != nil {
			return err
		}
		for range 10 {
			if err := m.run(t.Context(), 20); err != nil {
				return err
			}
			now, err := m.state(t.Context())
			if err != nil {
				return err
			}
			if exchanged := first.kinetic - now.kinetic; exchanged < 0.3 {
				t.Errorf("only %g of the kinetic energy has become potential energy", exchanged)
			}
			if change := now.energy() - first.energy(); math.Abs(change) > 1e-3 {
				t.Errorf("the energy per atom has changed by %g", change)
			}
			if now.momentum > 1e-5 {
				t.Errorf("the mean momentum is %g", now.momentum)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAtomsAreSortedByCell(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		err := dev.Pool().Scope(dev.DefaultStream(), func(scope *gpu.Scope) error {
			m, err := newSimulation(dev.DefaultStream(), scope, 5)
			if err != nil {
				return err
			}
			first, position := gputest.Download(t, dev, m.first), gputest.Download(t, dev, m.position)
			if first[0] != 0 || int(first[len(first)-1]) != m.n {
				t.Errorf("cells begin with atom %d and end with atom %d", first[0], first[len(first)-1])
			}
			for c := range len(first) - 1 {
				for _, p := range position[first[c]:first[c+1]] {
					if at := m.number(m.column(p.X), m.column(p.Y), m.column(p.Z)); int(at) != c {
						t.Fatalf("cell %d has an atom of cell %d", c, at)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestForceErrorFindsWrongForces(t *testing.T) {
	// At the distance of the least energy only the correction at the end is left.
	r := math.Pow(2, 1./6)
	position := []vector{{X: 1}, {X: 1 + float32(r)}}
	right := vector{X: -slope, W: -0.5 - 0.5*float32(potential+slope*(r-cutoff))}
	if e := forceError(position, 10, 0, right); e > 1e-4 {
		t.Errorf("the error of the right force is %g", e)
	}
	for _, wrong := range []vector{{}, {X: -right.X, W: right.W}, {X: right.X, Y: right.X / 100, W: right.W}, {X: right.X, W: right.W * 1.01}} {
		if e := forceError(position, 10, 0, wrong); e < 4e-3 {
			t.Errorf("the error of %v is %g", wrong, e)
		}
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	exampletest.EndsWhenInterrupted(t, func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, small(dev)) })
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for want, o := range map[string]options{
		"-cells": {side: 4, steps: 10},
		"-steps": {side: 5, steps: 0},
	} {
		exampletest.Refuses(t, want, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) })
	}
}
