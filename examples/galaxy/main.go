package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	bodies, steps, frames int
	width                 int // of the pictures
	verify                bool
	out                   string
}

func main() {
	o := options{width: 1080}
	flag.IntVar(&o.bodies, "bodies", 0, "the number of bodies, by default 65536 on a GPU, 4096 on the CPU, 256 in the simulator")
	flag.IntVar(&o.steps, "steps", 250, "the number of steps; the galaxies are closest after about 140")
	flag.IntVar(&o.frames, "frames", 1, "the number of pictures, at equal times")
	flag.BoolVar(&o.verify, "verify", false, "compare the last forces with the host's, and limit the change of energy")
	flag.StringVar(&o.out, "out", "galaxy.png", "the `file` to write; several pictures are numbered: galaxy-001.png; none if empty")
	example.Main("galaxy", func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, o) })
}

// check returns an error for the first option that is out of range.
func (o *options) check() error {
	switch {
	case o.bodies < 4 || o.bodies > 1<<22:
		return fmt.Errorf("-bodies %d: want 4 to %d", o.bodies, 1<<22)
	case o.steps < 1:
		return fmt.Errorf("-steps %d: want at least 1", o.steps)
	case o.frames < 1 || o.frames > min(o.steps, 999):
		return fmt.Errorf("-frames %d: want 1 to %d, at most one per step", o.frames, min(o.steps, 999))
	case o.out != "" && !strings.HasSuffix(o.out, ".png"):
		return fmt.Errorf("-out %s: pictures are PNG files; use a name that ends in .png", o.out)
	}
	return nil
}

// file returns the name of a picture, numbered from 1.
func (o *options) file(frame int) string {
	if o.frames == 1 {
		return o.out
	}
	return fmt.Sprintf("%s-%03d.png", strings.TrimSuffix(o.out, ".png"), frame)
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	if o.bodies == 0 {
		o.bodies = map[gpu.Backend]int{gpu.CUDA: 1 << 16, gpu.CPU: 1 << 12, gpu.Sim: 1 << 8}[dev.Backend()]
	}
	if err := o.check(); err != nil {
		return err
	}
	s := dev.DefaultStream()
	return dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		m, err := newSimulation(s, scope, o)
		if err != nil {
			return err
		}
		return m.pass(ctx, w, o)
	})
}

// pass lets the galaxies pass each other, and reports what happens.
func (m *simulation) pass(ctx context.Context, w io.Writer, o options) error {
	first, err := m.energy(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d bodies, %d steps\n\n%6s %12s %10s\n", m.s.Device().Name(), o.bodies, o.steps, "step", "energy", "change")
	fmt.Fprintf(w, "%6d %12.6f\n", 0, first)
	line := example.StartProgress("steps", o.steps)
	defer line.End()
	var last float64
	var computing time.Duration
	for frame, done := 1, 0; frame <= o.frames; frame++ {
		for end := o.steps * frame / o.frames; done < end; {
			begin, steps := time.Now(), min(10, end-done)
			if err := m.run(ctx, steps); err != nil {
				return err
			}
			computing += time.Since(begin)
			done += steps
			line.At(done)
		}
		line.End()
		if last, err = m.energy(ctx); err != nil {
			return err
		}
		fmt.Fprintf(w, "%6d %12.6f %10.1e\n", done, last, last/first-1)
		if o.out != "" {
			draw := func(scope *gpu.Scope) error { return m.draw(ctx, scope, o.width, o.file(frame)) }
			if err := m.s.Device().Pool().Scope(m.s, draw); err != nil {
				return err
			}
		}
	}
	pairs := float64(o.bodies) * float64(o.bodies) * float64(o.steps)
	fmt.Fprintf(w, "\n%v per step, %.3g billion pairs per second\n", (computing / time.Duration(o.steps)).Round(time.Microsecond), pairs/computing.Seconds()/1e9)
	if o.out != "" {
		fmt.Fprintf(w, "wrote %s\n", o.file(o.frames))
	}
	if !o.verify {
		return nil
	}
	return m.verify(ctx, w, last/first-1)
}
