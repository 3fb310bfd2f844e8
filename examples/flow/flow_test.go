package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func small(dev *gpu.Device) options {
	o := options{diameter: 8, steps: 100, reynolds: 60, verify: true}
	if dev.Backend() == gpu.Sim {
		o.diameter, o.steps = 6, 4
	}
	return o
}

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		o := small(dev)
		o.out = filepath.Join(t.TempDir(), "flow.png")
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) },
			"verified", "change of mass", "Strouhal", "wrote "+o.out)
		if m := exampletest.Picture(t, o.out); m.Bounds().Dx() < 700 {
			t.Errorf("the picture is %v", m.Bounds())
		}
	})
}

func TestStrouhalFindsTheFrequency(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		err := dev.Pool().Scope(s, func(scope *gpu.Scope) error {
			const steps, diameter, want = 2000, 10, 0.2
			record := make([]float32, steps)
			for i := range record {
				record[i] = 0.01 + 0.02*float32(math.Sin(2*math.Pi*want*speed/diameter*float64(i)))
			}
			m := &simulation{s: s, channel: newChannel(diameter, 100), record: gputest.Upload(t, dev, record), done: steps}
			got, err := m.strouhal(t.Context(), scope)
			if math.Abs(got-want) > 0.005 {
				t.Errorf("the Strouhal number is %g, want %g", got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestVerifyFindsAnotherFluidAndALossOfMass(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	err := dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		c := newChannel(6, 20)
		if err := verify(t.Context(), new(bytes.Buffer), s, scope, c, 20, 1e-5); err == nil || !strings.Contains(err.Error(), "mass") {
			t.Errorf("a loss of mass is reported as %v", err)
		}
		// The host computes with the radius that the device has been told: a wall that
		// only one of them has is a difference.
		m, err := newSimulation(s, scope, c, 20)
		if err != nil {
			return err
		}
		if err := m.run(t.Context(), 20); err != nil {
			return err
		}
		along, _, err := m.velocities(t.Context(), scope)
		if err != nil {
			return err
		}
		c.Radius++
		want, _ := reference(c, 20)
		worst := 0.0
		for i := range along {
			worst = max(worst, math.Abs(float64(along[i])-want[i]))
		}
		if worst < 0.01 {
			t.Errorf("a larger cylinder changes velocities by %g only", worst)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The sizes that the program chooses are in range on every device.
func TestDefaultsAreInRange(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		o := options{steps: 4} // otherwise a whole run
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) }, "4 steps, Reynolds number")
	})
}

func TestInterruptEndsTheRun(t *testing.T) {
	exampletest.EndsWhenInterrupted(t, func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, small(dev)) })
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for want, change := range map[string]func(o *options){
		"-diameter": func(o *options) { o.diameter = 5 },
		"-steps":    func(o *options) { o.steps = -1 },
		"-reynolds": func(o *options) { o.reynolds = math.NaN() },
	} {
		o := small(dev)
		change(&o)
		exampletest.Refuses(t, want, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) })
	}
}
