package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"quern.dev/bench/parity/suite"
)

// result holds the figures of one kernel, in the order CUDA C, unchecked, checked. A ratio
// above 1 means that Quern is faster.
type result struct {
	Name         string               `json:"name"`
	Unit         suite.Unit           `json:"unit"`
	Microseconds [contestants]float64 `json:"microseconds"`
	Speed        [contestants]float64 `json:"speed"`
	Registers    [contestants]int     `json:"registers"`
	Local        [contestants]int     `json:"local_bytes"`
	Ratio        float64              `json:"ratio"`
	RatioChecked float64              `json:"ratio_checked"`
	Error        string               `json:"error,omitempty"`
}

// report holds the figures of a whole run.
type report struct {
	Device       string    `json:"device"`
	NVRTC        string    `json:"nvrtc"`
	ClockGHz     float64   `json:"clock_ghz"`
	TheoryTFlops float64   `json:"theory_tflops"` // fp32, at the highest clock rate
	PeakTFlops   float64   `json:"peak_tflops"`   // measured
	CopyGBs      float64   `json:"copy_gbs"`      // read and written, device to device
	Results      []*result `json:"results"`
	Mean         float64   `json:"mean"` // geometric
	MeanChecked  float64   `json:"mean_checked"`
	Worst        string    `json:"worst"`
	WorstRatio   float64   `json:"worst_ratio"`
	Failed       int       `json:"failed"`
}

// summarize computes the means.
func (r *report) summarize() {
	var sum, sumChecked float64
	n := 0
	r.WorstRatio = math.Inf(1)
	for _, line := range r.Results {
		if line.Error != "" {
			r.Failed++
			continue
		}
		n++
		sum += math.Log(line.Ratio)
		sumChecked += math.Log(line.RatioChecked)
		if line.Ratio < r.WorstRatio {
			r.Worst, r.WorstRatio = line.Name, line.Ratio
		}
	}
	if n == 0 {
		r.WorstRatio = 0
		return
	}
	r.Mean, r.MeanChecked = math.Exp(sum/float64(n)), math.Exp(sumChecked/float64(n))
}

// nbodyGoal is the goal for n-body as a share of the peak rate.
const nbodyGoal = 0.60

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s\nfp32 peak %.1f TFLOP/s measured, %.1f at %.2f GHz; copy %.0f GB/s\n\n", r.Device, r.NVRTC, r.PeakTFlops, r.TheoryTFlops, r.ClockGHz, r.CopyGBs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kernel\tunit\tCUDA C\tunchecked\tchecked\tratio\tchecked\tµs\tregisters\tlocal bytes\t")
	for _, l := range r.Results {
		if l.Error != "" {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%.5g\t%.5g\t%.5g\t%.3f\t%.3f\t%.0f\t%d/%d/%d\t%d/%d/%d\t\n", l.Name, l.Unit,
			l.Speed[twin], l.Speed[unchecked], l.Speed[checked], l.Ratio, l.RatioChecked, l.Microseconds[unchecked],
			l.Registers[twin], l.Registers[unchecked], l.Registers[checked], l.Local[twin], l.Local[unchecked], l.Local[checked])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d kernels, geometric mean %.3f unchecked, %.3f checked; lowest %.3f (%s)\n", len(r.Results)-r.Failed, r.Mean, r.MeanChecked, r.WorstRatio, r.Worst)
	for _, l := range r.Results {
		switch {
		case l.Error != "":
			fmt.Fprintf(w, "failed: %s: %s\n", l.Name, l.Error)
		case l.Name == "nbody":
			share := max(l.Speed[unchecked], l.Speed[checked]) / 1e3 / r.PeakTFlops
			fmt.Fprintf(w, "n-body reaches %.1f %% of the measured peak, %.1f %% of the theoretical one (goal %.0f %%)\n", 100*share, 100*share*r.PeakTFlops/r.TheoryTFlops, 100*nbodyGoal)
		}
	}
	return nil
}
