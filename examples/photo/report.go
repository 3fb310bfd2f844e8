package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report is what the program prints in the end.
type report struct {
	opt             options
	device, picture string
	stages          []measurement // on the device
	steps           []measurement // on the host
	total           time.Duration
}

// measurement is the time of a stage or step.
type measurement struct {
	name       string
	bytes      int // that had to move; 0 if that is not the point
	time       time.Duration
	difference *difference // from the CPU device; nil if not compared
}

// step runs f and enters its time.
func (r *report) step(name string, f func() error) error {
	begin := time.Now()
	err := f()
	r.steps = append(r.steps, measurement{name: name, time: time.Since(begin)})
	return err
}

// mismatch returns an error that names the first stage whose result is too far
// from the CPU device's.
func (r *report) mismatch() error {
	for _, m := range r.stages {
		if d := m.difference; d != nil && !d.within() {
			return fmt.Errorf("verify: stage %q differs from the CPU device by %.3g %s, more than %.3g",
				m.name, d.max, d.check.unit, d.check.limit)
		}
	}
	return nil
}

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "device   %s\npicture  %s\nwritten  %s\n\n", r.device, r.picture, r.opt.out)

	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "stage\ttime\tGB/s\t")
	if r.opt.verify {
		fmt.Fprint(t, "max diff\tmean diff\ttolerance\t")
	}
	fmt.Fprintln(t)
	var kernels time.Duration
	for _, m := range r.stages {
		kernels += m.time
		fmt.Fprintf(t, "%s\t%s\t%.1f\t", m.name, milliseconds(m.time), float64(m.bytes)/float64(m.time.Nanoseconds()))
		if d := m.difference; d != nil {
			fmt.Fprintf(t, "%.2g\t%.2g\t%.2g %s\t", d.max, d.mean, d.check.limit, d.check.unit)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)

	t = tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	for _, m := range r.steps {
		if m.name == "download" {
			fmt.Fprintf(t, "kernels\t%s\t\n", milliseconds(kernels))
		}
		fmt.Fprintf(t, "%s\t%s\t\n", m.name, milliseconds(m.time))
	}
	fmt.Fprintf(t, "total\t%s\t\n", milliseconds(r.total))
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.hint())
	return err
}

// hint says what to do next.
func (r *report) hint() string {
	switch {
	case !r.opt.verify:
		return "Next: -verify compares every stage with the CPU device; -device cpu|cuda|sim chooses another."
	case r.opt.in == "":
		return "Next: -in picture.jpg develops a picture of yours; -help lists the rest."
	default:
		return "Next: -angle, -interp, -sigma, -amount and -equalize change the result; -help lists the rest."
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}
