// Package trials measures which of several operations is the fastest.
package trials

import (
	"context"
	"slices"
	"time"
)

// Result is the measurement of one operation.
type Result struct {
	Median   time.Duration // of the samples without outliers
	Least    time.Duration
	Samples  int
	Outliers int   // samples far from the others, which Median ignores
	Err      error // why the operation failed; the other fields are then zero
}

const (
	sampleTime  = 200 * time.Microsecond // minimum time per sample, which repeats the operation
	maxRepeat   = 1000                   // maximum operations per sample
	trialTime   = 200 * time.Millisecond // approximate total time per operation
	leastRounds = 3
	mostRounds  = 25
	hopeless    = 2 // an operation this many times slower than another is not measured further

	// noise is the relative difference that clocks and caches cause between runs.
	noise = 0.01

	// outlier is the distance from the median, in median absolute deviations, beyond which
	// a sample is an outlier: 3 standard deviations of a normal distribution.
	outlier = 3 * 1.4826
)

// Faster reports whether a is less than b by more than noise.
func Faster(a, b time.Duration) bool { return float64(a) < (1-noise)*float64(b) }

// trial is an operation that is being measured.
type trial struct {
	err     error
	repeat  int // operations per sample
	rounds  int // samples wanted
	samples []time.Duration
}

// Run measures n operations in turns. sample runs operation i the given number of
// times and returns the total time. Run returns an error if ctx ends.
func Run(ctx context.Context, n int, sample func(i, times int) (time.Duration, error)) ([]Result, error) {
	trials := make([]*trial, n)
	for i := range trials {
		t := &trial{repeat: 1}
		trials[i] = t
		// The first run may load code; the second shows how long a run takes.
		for range 2 {
			var took time.Duration
			if took, t.err = sample(i, t.repeat); t.err != nil {
				break
			}
			t.plan(took / time.Duration(t.repeat))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for round := range mostRounds {
		for i, t := range trials {
			if t.err != nil || round >= t.rounds || round >= leastRounds && t.slow(trials) {
				continue
			}
			took, err := sample(i, t.repeat)
			if t.err = err; err == nil {
				t.samples = append(t.samples, took/time.Duration(t.repeat))
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	results := make([]Result, n)
	for i, t := range trials {
		if results[i].Err = t.err; t.err == nil {
			results[i] = summary(t.samples)
		}
	}
	return results, nil
}

// plan sets repeat and rounds from the time of one operation.
func (t *trial) plan(took time.Duration) {
	took = max(took, 1)
	t.repeat = int(min(max(1, sampleTime/took), maxRepeat))
	t.rounds = int(min(max(leastRounds, trialTime/(took*time.Duration(t.repeat))), mostRounds))
}

// slow reports whether another operation is so much faster that this one cannot be
// the fastest.
func (t *trial) slow(all []*trial) bool {
	least := slices.Min(t.samples)
	for _, other := range all {
		if other.err == nil && len(other.samples) >= leastRounds && least > hopeless*median(other.samples) {
			return true
		}
	}
	return false
}

func median(samples []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// summary computes the result of samples. It assumes that outliers come from
// interrupts or clock changes, not from the operation.
func summary(samples []time.Duration) Result {
	middle := median(samples)
	away := make([]time.Duration, len(samples))
	for i, v := range samples {
		away[i] = (v - middle).Abs()
	}
	// Samples that are nearly equal have no outliers.
	bound := max(time.Duration(outlier*float64(median(away))), time.Duration(noise*float64(middle)))
	kept := slices.DeleteFunc(slices.Clone(samples), func(v time.Duration) bool { return (v - middle).Abs() > bound })
	return Result{Median: median(kept), Least: slices.Min(samples), Samples: len(samples), Outliers: len(samples) - len(kept)}
}
