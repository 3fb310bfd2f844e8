package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		o := options{width: 150, steps: 300, verify: true, out: filepath.Join(t.TempDir(), "heat.png")}
		if dev.Backend() == gpu.Sim {
			o.width, o.steps = 75, 11
		}
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) },
			"simple", "both results have the same bits", "verified", "wrote "+o.out)
		if m := exampletest.Picture(t, o.out); m.Bounds().Dx() != 576 {
			t.Errorf("the picture is %v", m.Bounds())
		}
	})
}

func TestStepsAreThoseOfPlainGo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 7}, {47, 49}, {48, 48}, {97, 13}} {
			p := &plate{width: size[0], height: size[1]}
			for range size[0] * size[1] {
				p.temperature = append(p.temperature, r.Float32())
				p.held = append(p.held, uint8(r.IntN(8)/7))
			}
			err := dev.Pool().Scope(dev.DefaultStream(), func(scope *gpu.Scope) error {
				m, err := newSimulation(dev.DefaultStream(), scope, p)
				if err != nil {
					return err
				}
				for _, steps := range []int{1, margin - 1, margin, margin + 3} {
					for _, most := range []int{1, margin} {
						got, _, err := m.run(t.Context(), "", most, steps)
						if err != nil {
							return err
						}
						if i := difference(got, p.reference(steps)); i >= 0 {
							t.Errorf("%v cells: after %d steps, %d per launch, cell %d is wrong", size, steps, most, i)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestDifferenceComparesBits(t *testing.T) {
	a := []float32{1, 0, 3}
	if i := difference(a, []float32{1, 0, 3}); i != -1 {
		t.Errorf("equal slices differ in element %d", i)
	}
	negative := []float32{1, 0, 3}
	negative[1] *= -1
	if i := difference(a, negative); i != 1 {
		t.Errorf("0 and -0 differ in element %d", i)
	}
}

func TestErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		o    options
		want string
	}{
		{t.Context(), options{width: 23, steps: 1}, "-width"},
		{t.Context(), options{width: 24, steps: -1}, "-steps"},
		{canceled, options{width: 24, steps: 9}, "canceled"},
	} {
		if err := run(test.ctx, new(bytes.Buffer), dev, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want one about %s", err, test.want)
		}
	}
}
