package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"quern.dev/bench/bare"
	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
)

const (
	submitBatch = 200 // launches between two waits: the driver queues about a thousand
	submitTurns = 41

	// submitGoal is what a launch may cost in calls of the driver.
	submitGoal = 1.15
)

// submission is the time of the host for one launch of a kernel, in microseconds:
// with the bare call of the driver for a kernel with the same parameters that does
// nothing, and with Quern.
type submission struct {
	name                   string
	parameters             int
	bare, unchecked, quern float64
}

// measureSubmissions measures the launches of all kernels, at small sizes.
func (r *runner) measureSubmissions(w io.Writer, wanted func(string) bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kernel\tparameters\tdriver call, µs\tQuern unchecked\tQuern\tratio\t")
	worst, worstName := 0.0, ""
	for _, entry := range suite.All {
		if !wanted(entry.Name) {
			continue
		}
		s, err := r.submission(entry)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Name, err)
		}
		ratio := max(s.quern, s.unchecked) / s.bare
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.3f\t\n", s.name, s.parameters, s.bare, s.unchecked, s.quern, ratio)
		if ratio > worst {
			worst, worstName = ratio, s.name
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "highest ratio %.3f (%s), goal %.2f\n", worst, worstName, submitGoal)
	return err
}

func (r *runner) submission(entry suite.Entry) (*submission, error) {
	c := entry.New(suite.Small)
	var sizes []int
	for _, p := range c.TwinParams() {
		if p.Kind == gpu.Slice {
			sizes = append(sizes, 8)
		} else {
			sizes = append(sizes, p.Size)
		}
	}
	empty, err := bare.NewLauncher(sizes...)
	if err != nil {
		return nil, err
	}
	defer empty.Close()
	s := &submission{name: c.Name, parameters: len(sizes)}
	err = r.with(c, func(b *suite.Bound) error {
		if err := b.Reset(); err != nil {
			return err
		}
		wait := func() error { return r.stream.Synchronize(r.ctx) }
		launches := []struct {
			submit, wait func() error
			to           *float64
			samples      []float64
		}{
			{submit: empty.Submit, wait: empty.Wait, to: &s.bare},
			{submit: func() error { return b.Launch(b.Kernel.Unchecked) }, wait: wait, to: &s.unchecked},
			{submit: func() error { return b.Launch(b.Kernel.Checked) }, wait: wait, to: &s.quern},
		}
		for range submitTurns {
			for i := range launches {
				l := &launches[i]
				begin := time.Now()
				for range submitBatch {
					if err := l.submit(); err != nil {
						return err
					}
				}
				l.samples = append(l.samples, time.Since(begin).Seconds()/submitBatch*1e6)
				if err := l.wait(); err != nil {
					return err
				}
			}
		}
		for _, l := range launches {
			slices.Sort(l.samples)
			*l.to = l.samples[len(l.samples)/2]
		}
		return nil
	})
	return s, err
}
