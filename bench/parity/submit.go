package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"text/tabwriter"
	"time"

	"quern.dev/bench/bare"
	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
)

const (
	submitBatch = 100 // launches between two waits; the driver queues about a thousand
	submitTurns = 201

	// submitGoal is the goal for the cost of a launch, relative to a driver call.
	submitGoal = 1.15
)

// recorder wraps NVIDIA's driver library. It keeps the arguments of the last launch, so
// that the same call can be repeated without Quern.
type recorder struct {
	*bare.Driver
	launch uintptr // cuLaunchKernel
	last   []uintptr
}

func newRecorder() (*recorder, error) {
	d, err := bare.Open()
	if err != nil {
		return nil, err
	}
	return &recorder{Driver: d, launch: d.Lookup("cuLaunchKernel")}, nil
}

// Call implements the library interface of the CUDA device.
func (r *recorder) Call(function uintptr, args []uintptr) uintptr {
	if function == r.launch {
		r.last = append(r.last[:0], args...)
	}
	return r.CallAt(function, args)
}

var errNoLaunch = errors.New("parity: repeat the launch: the driver call failed")

// again repeats the recorded call.
func (r *recorder) again() error {
	if code := r.CallAt(r.launch, r.last); int32(code) != 0 {
		return errNoLaunch
	}
	return nil
}

// measureSubmissions measures the host time per launch of every kernel at small sizes,
// compared with the driver call that it ends in.
func (r *runner) measureSubmissions(w io.Writer, calls *recorder, wanted func(string) bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kernel\tparameters\tdriver call, µs\tQuern\tratio\tunchecked: driver call\tQuern\tratio\t")
	worst, worstName := 0.0, ""
	for _, entry := range suite.All {
		if !wanted(entry.Name) {
			continue
		}
		c := entry.New(suite.Small)
		var m [2]submission
		for i, k := range []*gpu.Kernel{c.Kernel.Checked, c.Kernel.Unchecked} {
			err := r.with(c, func(b *suite.Bound) (err error) {
				m[i], err = r.submission(b, k, calls)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", entry.Name, err)
			}
			if m[i].ratio > worst {
				worst, worstName = m[i].ratio, entry.Name
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.3f\t%.2f\t%.2f\t%.3f\t\n", entry.Name, len(c.Args), m[0].call, m[0].quern, m[0].ratio, m[1].call, m[1].quern, m[1].ratio)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "highest ratio %.3f (%s), goal %.2f\n", worst, worstName, submitGoal)
	return err
}

// submission holds the host times per launch, as medians over several turns. A turn
// measures both one after another, because the machine's speed varies.
type submission struct {
	call, quern float64 // µs
	ratio       float64
}

func (r *runner) submission(b *suite.Bound, k *gpu.Kernel, calls *recorder) (m submission, err error) {
	if err := errors.Join(b.Reset(), b.Launch(k)); err != nil {
		return m, err
	}
	// The recorded call points to memory that Quern keeps for the next launch. The garbage
	// collector could free it.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	launches := []func() error{calls.again, func() error { return b.Launch(k) }}
	var samples [2][]float64
	var ratios []float64
	for range submitTurns {
		for i, launch := range launches {
			begin := time.Now()
			for range submitBatch {
				if err := launch(); err != nil {
					return m, err
				}
			}
			samples[i] = append(samples[i], time.Since(begin).Seconds()/submitBatch*1e6)
			if err := r.stream.Synchronize(r.ctx); err != nil {
				return m, err
			}
		}
		n := len(ratios)
		ratios = append(ratios, samples[1][n]/samples[0][n])
	}
	return submission{median(samples[0]), median(samples[1]), median(ratios)}, nil
}

// median sorts list, which has an odd length, and returns its middle.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
