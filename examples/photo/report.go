package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"quern.dev/gpu"
)

// report is the output of the program.
type report struct {
	opt             options
	device, picture string
	backend         gpu.Backend
	passed          string // why no GPU is used, if the CPU is used for lack of one
	working         *progress
	stages          []measurement // on the device
	steps           []measurement // on the host, and the total of all kernels
	total           time.Duration
}

// measurement is the time of a stage or step.
type measurement struct {
	name       string
	bytes      int // minimum memory traffic; 0 if not relevant
	time       time.Duration
	difference *difference // from the CPU device; nil if not compared
}

func newReport(opt options, dev *gpu.Device, working *progress) *report {
	r := &report{opt: opt, working: working, backend: dev.Backend(), device: fmt.Sprintf("%s (%s)", dev.Name(), dev.ID())}
	if dev.Backend() == gpu.CPU {
		cores := "cores"
		if dev.Attributes().Multiprocessors == 1 {
			cores = "core"
		}
		r.device += fmt.Sprintf(", %d %s", dev.Attributes().Multiprocessors, cores)
		if passed := dev.PassedOver(); len(passed) > 0 {
			r.passed = passed[0]
		}
	}
	return r
}

// step runs f and records its time.
func (r *report) step(name string, f func() error) error {
	r.working.at(name)
	begin := time.Now()
	err := f()
	r.steps = append(r.steps, measurement{name: name, time: time.Since(begin)})
	return err
}

// sumKernels records the time of all stages as one step.
func (r *report) sumKernels() {
	all := measurement{name: "kernels"}
	for _, m := range r.stages {
		all.time += m.time
	}
	r.steps = append(r.steps, all)
}

// mismatch returns an error that names the first stage whose result differs too
// much from that of the CPU device.
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
	fmt.Fprintf(w, "device   %s\n", r.device)
	if r.passed != "" {
		fmt.Fprintf(w, "no GPU   %s; run go tool quern doctor for details\n", r.passed)
	}
	fmt.Fprintf(w, "picture  %s\nwritten  %s\n\n", r.picture, r.opt.out)

	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "stage\ttime\tGB/s\t")
	if r.opt.verify {
		fmt.Fprint(t, "max diff\tmean diff\ttolerance\t")
	}
	fmt.Fprintln(t)
	for _, m := range r.stages {
		fmt.Fprintf(t, "%s\t%s\t%s\t", m.name, milliseconds(m.time), m.rate())
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
		fmt.Fprintf(t, "%s\t%s\t\n", m.name, milliseconds(m.time))
	}
	fmt.Fprintf(t, "total\t%s\t\n", milliseconds(r.total))
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.hint())
	return err
}

// hint suggests what to do next.
func (r *report) hint() string {
	switch {
	case !r.opt.verify && r.backend != gpu.CPU:
		return "Next: -verify compares every stage with the CPU device; -device cpu|cuda|sim selects a device."
	case r.opt.in == "":
		return "Next: -in picture.jpg develops your own picture; -help lists all options."
	default:
		return "Next: -angle, -interp, -sigma, -amount and -equalize change the result; -help lists all options."
	}
}

// rate returns the throughput in GB/s, or "-" if it is not meaningful.
func (m measurement) rate() string {
	gigabytes := float64(m.bytes) / float64(m.time.Nanoseconds())
	if gigabytes < 0.05 {
		return "-"
	}
	return fmt.Sprintf("%.1f", gigabytes)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}
