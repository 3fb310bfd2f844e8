package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestReportListsMeansWorstKernelAndFailures(t *testing.T) {
	r := &report{PeakTFlops: 50, TheoryTFlops: 60, Results: []*result{
		{Name: "saxpy", Ratio: 2, RatioChecked: 1},
		{Name: "nbody", Ratio: 0.5, RatioChecked: 0.25, Speed: [contestants]float64{30e3, 25e3, 20e3}},
		{Name: "fft", Error: "the outputs differ"},
	}}
	r.summarize()
	if math.Abs(r.Mean-1) > 1e-9 || math.Abs(r.MeanChecked-0.5) > 1e-9 || r.Worst != "nbody" || r.Failed != 1 {
		t.Errorf("means %v and %v, worst %s, %d failed", r.Mean, r.MeanChecked, r.Worst, r.Failed)
	}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 kernels", "1.000 unchecked", "lowest 0.500 (nbody)", "failed: fft: the outputs differ", "50.0 % of the measured peak"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}
}
