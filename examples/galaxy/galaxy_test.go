package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func small(dev *gpu.Device) options {
	o := options{bodies: 700, steps: 30, frames: 2, width: 240, verify: true}
	if dev.Backend() == gpu.Sim {
		o = options{bodies: 100, steps: 2, frames: 1, width: 60, verify: true}
	}
	return o
}

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		o := small(dev)
		o.out = filepath.Join(t.TempDir(), "galaxy.png")
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) },
			"verified", "energy", "wrote "+o.file(o.frames))
		for frame := 1; frame <= o.frames; frame++ {
			if light := brightPixels(t, o.file(frame), o.width); light < o.width {
				t.Errorf("picture %d has %d bright pixels", frame, light)
			}
		}
	})
}

func brightPixels(t *testing.T, path string, width int) (n int) {
	t.Helper()
	m := exampletest.Picture(t, path)
	b := m.Bounds()
	if b.Dx() != width || b.Dy() != width*2/3 {
		t.Errorf("the picture is %v", b)
	}
	for y := range b.Dy() {
		for x := range b.Dx() {
			if r, _, blue, _ := m.At(x, y).RGBA(); max(r, blue) > 0x4000 {
				n++
			}
		}
	}
	return n
}

func TestForceErrorFindsWrongForces(t *testing.T) {
	// Two bodies of mass 3 and 5, at a distance of 2.
	position := []vector{{X: 1, W: 3}, {X: 3, W: 5}}
	right := vector{X: 2 * 5 / (4.0064 * 2.0016)}
	if e := forceError(position, 0, right); e > 1e-5 {
		t.Errorf("the error of the right force is %g", e)
	}
	for _, wrong := range []vector{{}, {X: -right.X}, {X: right.X * 1.001}, {X: right.X, Z: right.X * 0.001}} {
		if e := forceError(position, 0, wrong); e < 1e-4 {
			t.Errorf("the error of %v is %g", wrong, e)
		}
	}
}

func TestVerifyLimitsTheChangeOfEnergy(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	err := dev.Pool().Scope(dev.DefaultStream(), func(scope *gpu.Scope) error {
		m, err := newSimulation(dev.DefaultStream(), scope, options{bodies: 10})
		if err != nil {
			return err
		}
		if err := m.verify(t.Context(), new(bytes.Buffer), 0.01); err == nil || !strings.Contains(err.Error(), "energy") {
			t.Errorf("a change of 1%% is reported as %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	exampletest.EndsWhenInterrupted(t, func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, small(dev)) })
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for want, change := range map[string]func(o *options){
		"-bodies": func(o *options) { o.bodies = 3 },
		"-steps":  func(o *options) { o.steps = 0 },
		"-frames": func(o *options) { o.frames = 31 },
		"-out":    func(o *options) { o.out = "galaxy.jpg" },
	} {
		o := small(dev)
		change(&o)
		exampletest.Refuses(t, want, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) })
	}
}
