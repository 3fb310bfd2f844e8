package trials

import (
	"testing"
	"time"
)

func TestSummariesLeaveOutliersOut(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []time.Duration
		want    Result
	}{
		{"one interrupt", []time.Duration{100, 102, 99, 101, 900}, Result{Median: 100, Least: 99, Samples: 5, Outliers: 1}},
		{"equal samples", []time.Duration{1000, 1000, 1000, 1009}, Result{Median: 1000, Least: 1000, Samples: 4}},
		{"a wide spread has none", []time.Duration{100, 200, 300, 400, 500}, Result{Median: 300, Least: 100, Samples: 5}},
		{"a fast outlier", []time.Duration{1, 1000, 1001, 1002, 1003}, Result{Median: 1001, Least: 1, Samples: 5, Outliers: 1}},
		{"one sample", []time.Duration{7}, Result{Median: 7, Least: 7, Samples: 1}},
	} {
		if got := summary(c.samples); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
