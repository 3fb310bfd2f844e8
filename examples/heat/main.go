package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	width, steps int
	verify       bool
	out          string
}

func main() {
	var o options
	flag.IntVar(&o.width, "width", 0, "the width of the plate in `cells`, by default 3840 on a GPU, 768 on the CPU, 96 in the simulator; its height is two thirds of that")
	flag.IntVar(&o.steps, "steps", 0, "the number of steps; by default as many as heat needs to get from one turn of the spiral to the next")
	flag.BoolVar(&o.verify, "verify", false, "compare the first steps with those of plain Go")
	flag.StringVar(&o.out, "out", "heat.png", "the picture `file` to write; none if empty")
	example.Main("heat", func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, o) })
}

// check returns an error for the first option that is out of range.
func (o *options) check() error {
	switch {
	case o.width < 24 || o.width > 1<<15:
		return fmt.Errorf("-width %d: want 24 to %d", o.width, 1<<15)
	case o.steps < 1:
		return fmt.Errorf("-steps %d: want at least 1", o.steps)
	}
	return nil
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	if o.width == 0 {
		o.width = map[gpu.Backend]int{gpu.CUDA: 3840, gpu.CPU: 768, gpu.Sim: 96}[dev.Backend()]
	}
	if o.steps == 0 {
		o.steps = max(1, o.width*o.width/600)
	}
	if err := o.check(); err != nil {
		return err
	}
	s := dev.DefaultStream()
	p := newPlate(o.width, o.width*2/3)
	fmt.Fprintf(w, "%s: %d x %d cells, %d steps\n\n", dev.Name(), p.width, p.height, o.steps)
	return dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		m, err := newSimulation(s, scope, p)
		if err != nil {
			return err
		}
		simple, simpleTime, err := m.run(ctx, "simple", 1, o.steps)
		if err != nil {
			return err
		}
		blocked, blockedTime, err := m.run(ctx, "blocked", margin, o.steps)
		if err != nil {
			return err
		}
		report := func(name string, took time.Duration) {
			updates := float64(len(p.temperature)) * float64(o.steps)
			fmt.Fprintf(w, "%-8s %10v per step, %8.3f billion cells per second\n", name, took/time.Duration(o.steps), updates/took.Seconds()/1e9)
		}
		report("simple", simpleTime)
		report("blocked", blockedTime)
		fmt.Fprintf(w, "blocked steps take %.2f times as long as simple ones\n", float64(blockedTime)/float64(simpleTime))
		if i := difference(blocked, simple); i >= 0 {
			return fmt.Errorf("cell %d in row %d: blocked steps compute %v, simple ones %v", i%p.width, i/p.width, blocked[i], simple[i])
		}
		fmt.Fprintln(w, "both results have the same bits")
		if o.out != "" {
			if err := p.draw(o.out, blocked); err != nil {
				return err
			}
			fmt.Fprintf(w, "wrote %s\n", o.out)
		}
		if !o.verify {
			return nil
		}
		return m.verify(ctx, w, min(o.steps, 3*margin+1))
	})
}

// verify compares the first steps with those of plain Go.
func (m *simulation) verify(ctx context.Context, w io.Writer, steps int) error {
	got, _, err := m.run(ctx, "verify", margin, steps)
	if err != nil {
		return err
	}
	want := m.plate.reference(steps)
	if i := difference(got, want); i >= 0 {
		return fmt.Errorf("verify: cell %d in row %d is %v after %d steps, that of plain Go %v", i%m.width, i/m.width, got[i], steps, want[i])
	}
	_, err = fmt.Fprintf(w, "verified: plain Go computes the same bits in %d steps\n", steps)
	return err
}
