package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	diameter, steps int
	reynolds        float64
	verify          bool
	out             string
}

func main() {
	var o options
	flag.IntVar(&o.diameter, "diameter", 0, "the diameter of the cylinder in `cells`, by default 100 on a GPU, 20 on the CPU, 8 in the simulator")
	flag.IntVar(&o.steps, "steps", 0, "the number of steps; by default the flow passes the cylinder 80 times")
	flag.Float64Var(&o.reynolds, "reynolds", 0, "the Reynolds `number`, speed times diameter by viscosity, by default 150, or 12 times the diameter in cells if that is less")
	flag.BoolVar(&o.verify, "verify", false, "compare the first steps with the host's, and check that the mass is constant")
	flag.StringVar(&o.out, "out", "flow.png", "the picture `file` to write; none if empty")
	example.Main("flow", func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, o) })
}

// mostReynolds is the largest Reynolds number per cell of the diameter; beyond it the method is not
// stable.
const mostReynolds = 12

// check returns an error for the first option that is out of range.
func (o *options) check() error {
	switch {
	case o.diameter < 6 || o.diameter > 400:
		return fmt.Errorf("-diameter %d: want 6 to 400 cells", o.diameter)
	case o.steps < 4 || o.steps > 1<<24:
		return fmt.Errorf("-steps %d: want 4 to %d", o.steps, 1<<24)
	case !(o.reynolds >= 1 && o.reynolds <= mostReynolds*float64(o.diameter)):
		return fmt.Errorf("-reynolds %g: want 1 to %d, %d times the diameter in cells; more needs a larger -diameter", o.reynolds, mostReynolds*o.diameter, mostReynolds)
	}
	return nil
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	if o.diameter == 0 {
		o.diameter = map[gpu.Backend]int{gpu.CUDA: 100, gpu.CPU: 20, gpu.Sim: 8}[dev.Backend()]
	}
	if o.steps == 0 {
		o.steps = 80 * int(float64(o.diameter)/speed)
	}
	if o.reynolds == 0 {
		o.reynolds = min(150, mostReynolds*float64(o.diameter))
	}
	if err := o.check(); err != nil {
		return err
	}
	s := dev.DefaultStream()
	return dev.Pool().Scope(s, func(scope *gpu.Scope) error { return pass(ctx, w, s, scope, o) })
}

// pass lets the fluid pass the cylinder, and reports what happens.
func pass(ctx context.Context, w io.Writer, s *gpu.Stream, scope *gpu.Scope, o options) error {
	c := newChannel(o.diameter, o.reynolds)
	m, err := newSimulation(s, scope, c, o.steps)
	if err != nil {
		return err
	}
	first, err := m.mass(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d x %d cells, %d steps, Reynolds number %g\n", s.Device().Name(), c.Width, c.Height, o.steps, o.reynolds)
	line := example.StartProgress("steps", o.steps)
	defer line.End()
	begin := time.Now()
	for m.done < o.steps {
		if err := m.run(ctx, min(20, o.steps-m.done)); err != nil {
			return err
		}
		line.At(m.done)
	}
	took := time.Since(begin)
	line.End()
	last, err := m.mass(ctx)
	if err != nil {
		return err
	}
	change := last/first - 1
	number, err := m.strouhal(ctx, scope)
	if err != nil {
		return err
	}
	cells := float64(c.Width) * float64(c.Height) * float64(o.steps)
	fmt.Fprintf(w, "%.0f million cells per second\n", cells/took.Seconds()/1e6)
	fmt.Fprintf(w, "Strouhal number %.3f, change of mass %.1e\n", number, change)
	if o.out != "" {
		if err := m.draw(ctx, scope, o.out); err != nil {
			return err
		}
		fmt.Fprintf(w, "wrote %s\n", o.out)
	}
	if !o.verify {
		return nil
	}
	return verify(ctx, w, s, scope, c, min(o.steps, 200, max(4, 20_000_000/(c.Width*c.Height))), change)
}

// verify compares the first steps with the host's.
func verify(ctx context.Context, w io.Writer, s *gpu.Stream, scope *gpu.Scope, c channel, steps int, change float64) error {
	const tolerance, mostChange = 1e-6, 1e-6
	if !(math.Abs(change) <= mostChange) {
		return fmt.Errorf("verify: the mass has changed by %.2g, more than %g", change, mostChange)
	}
	m, err := newSimulation(s, scope, c, steps)
	if err != nil {
		return err
	}
	if err := m.run(ctx, steps); err != nil {
		return err
	}
	along, across, err := m.velocities(ctx, scope)
	if err != nil {
		return err
	}
	wantAlong, wantAcross := reference(c, steps)
	worst := 0.0
	for i := range along {
		e := math.Hypot(float64(along[i])-wantAlong[i], float64(across[i])-wantAcross[i]) / speed
		if worst = max(worst, e); !(e <= tolerance*float64(steps)) {
			return fmt.Errorf("verify: after %d steps, the velocity in column %d of row %d is (%g, %g), want (%g, %g)",
				steps, i%c.Width, i/c.Width, along[i], across[i], wantAlong[i], wantAcross[i])
		}
	}
	_, err = fmt.Fprintf(w, "verified: after %d steps velocities differ by at most %.1e of the speed\n", steps, worst)
	return err
}

// draw writes a picture of the vorticity: how fast, and in which sense, the fluid turns.
func (m *simulation) draw(ctx context.Context, scope *gpu.Scope, path string) error {
	along, across, err := m.velocities(ctx, scope)
	if err != nil {
		return err
	}
	for i := range along {
		if m.solid(i%m.Width, i/m.Width) {
			along[i], across[i] = 0, 0 // not what is on its way back
		}
	}
	zoom := max(1, (1000+m.Width-1)/m.Width)
	shown := m.Width - m.Fringe
	out := image.NewRGBA(image.Rect(0, 0, shown*zoom, m.Height*zoom))
	diameter := 2 * float64(m.Radius)
	vorticity := func(x, y int) float64 {
		left, right := (x+m.Width-1)%m.Width, (x+1)%m.Width
		above, below := (y+m.Height-1)%m.Height, (y+1)%m.Height
		turn := across[y*m.Width+right] - across[y*m.Width+left] - along[below*m.Width+x] + along[above*m.Width+x]
		return float64(turn) / 2 * diameter / speed
	}
	for py := range m.Height * zoom {
		for px := range shown * zoom {
			x, y := (float64(px)+0.5)/float64(zoom)-0.5, (float64(py)+0.5)/float64(zoom)-0.5
			if m.solid(int(math.Round(x)), int(math.Round(y))) {
				out.SetRGBA(px, py, color.RGBA{130, 134, 142, 255})
				continue
			}
			x0, y0 := max(int(x), 0), max(int(y), 0)
			dx, dy := min(max(x-float64(x0), 0), 1), min(max(y-float64(y0), 0), 1)
			y1 := min(y0+1, m.Height-1)
			v := (vorticity(x0, y0)*(1-dx)+vorticity(x0+1, y0)*dx)*(1-dy) + (vorticity(x0, y1)*(1-dx)+vorticity(x0+1, y1)*dx)*dy
			out.SetRGBA(px, py, example.Diverging.At(0.5+0.5*math.Copysign(math.Pow(math.Abs(v)/6, 0.7), v)))
		}
	}
	return example.WritePNG(path, out)
}
