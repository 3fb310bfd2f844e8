package gpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quern.dev/gpu/internal/trials"
)

// Tuning describes a choice between several ways to do the same work, for [Tune].
type Tuning struct {
	Name string // of the work, such as "matmul"

	// Problem is everything that the answer depends on besides the device and the kernels,
	// such as sizes, types and densities, in any form. Each problem has its own answer.
	Problem string

	// Candidates are the ways to do the work. Of equally fast ones the first wins.
	Candidates []Candidate

	// Dir is the directory for results. Empty means quern/tune in the user's cache
	// directory.
	Dir string
}

// Candidate is one way to do the work, such as a kernel with a block size, with certain
// arguments, or several kernels in sequence.
type Candidate struct {
	Name string // unique within the tuning, such as "block=256"

	// Launch queues the work on s. Tune calls it many times, so its time must not depend on
	// the results of earlier calls.
	Launch func(s *Stream) error
}

// Tuned is the result of [Tune], with the measurements.
type Tuned struct {
	Name, Problem  string
	Device, Driver string
	Winner         string    // name of the fastest candidate
	Trials         []Trial   // of all candidates, in their order
	Measured       time.Time // time of the measurement
	Cached         bool      // the result comes from the cache

	// NotKept is the error of writing the result to the cache, or nil.
	NotKept error

	winner Candidate
}

// Trial is the measurement of a candidate.
type Trial struct {
	Name     string
	Median   time.Duration // of the samples without outliers
	Least    time.Duration
	Samples  int   // number of samples; fewer for clearly slower candidates
	Outliers int   // samples that Median ignores because they are far from the others
	Err      error // why the candidate failed; the other fields are then zero
}

// Launch queues the winner's work on s.
func (t *Tuned) Launch(s *Stream) error {
	if t == nil || t.winner.Launch == nil {
		return driverError("launch tuned kernel", invalid("Tuned was not made by Tune"))
	}
	return t.winner.Launch(s)
}

// String lists the measurements, fastest first.
func (t *Tuned) String() string {
	all := slices.Clone(t.Trials)
	slices.SortStableFunc(all, func(a, b Trial) int {
		switch {
		case a.Err == nil && b.Err == nil:
			return cmp.Compare(a.Median, b.Median)
		case a.Err == nil:
			return -1
		case b.Err == nil:
			return 1
		}
		return 0
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) on %s: %s\n", t.Name, t.Problem, t.Device, t.Winner)
	for _, tr := range all {
		if tr.Err != nil {
			fmt.Fprintf(&b, "  %-24s %v\n", tr.Name, tr.Err)
			continue
		}
		fmt.Fprintf(&b, "  %-24s %12v  least %v, %s", tr.Name, tr.Median, tr.Least, count(tr.Samples, "sample"))
		if tr.Outliers > 0 {
			fmt.Fprintf(&b, ", %s", count(tr.Outliers, "outlier"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TuneError means that all candidates of [Tune] failed. It wraps their errors.
type TuneError struct {
	Name   string // of the tuning
	Trials []Trial
}

// Error lists the error of each candidate.
func (e *TuneError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "gpu: tune %s: all candidates failed", e.Name)
	for _, t := range e.Trials {
		fmt.Fprintf(&b, "\n\t%s: %v", t.Name, t.Err)
	}
	return b.String()
}

// Unwrap returns the errors of the candidates.
func (e *TuneError) Unwrap() []error {
	var errs []error
	for _, t := range e.Trials {
		errs = append(errs, t.Err)
	}
	return errs
}

// Tune measures the candidates on the device of s and returns the fastest one. It keeps the
// result on disk. Later calls, including those of other processes, measure again only if the
// code of a kernel, the device, its driver, the problem or the candidates have changed.
//
// Tune first calls each candidate with a stream on which launches do nothing, to find its
// kernels. It then runs each a few times to warm up, and measures the candidates in turns,
// for about a fifth of a second each. s should be idle, and candidates should not wait for
// it. Candidates that fail are ignored, with the error in their Trial; if all fail, the error
// is a [*TuneError]. Cancelling ctx ends the measurement and keeps no result.
func Tune(ctx context.Context, s *Stream, t Tuning) (*Tuned, error) {
	result, err := tune(orBackground(ctx), s, t)
	if e, ok := err.(*TuneError); ok {
		return nil, e
	}
	if err != nil {
		return nil, driverError("tune "+t.Name, err)
	}
	return result, nil
}

func tune(ctx context.Context, s *Stream, t Tuning) (*Tuned, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.release()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cache, key := t.cache(), t.key(s)
	if found := t.load(cache, key); found != nil {
		return found, nil
	}
	measured, err := measure(ctx, s, t.Candidates)
	if err != nil {
		return nil, err
	}
	best := fastest(measured)
	if best < 0 {
		return nil, &TuneError{t.Name, measured}
	}
	found := &Tuned{
		Name: t.Name, Problem: t.Problem, Device: s.dev.Name(), Driver: s.dev.DriverVersion(),
		Winner: measured[best].Name, Trials: measured, Measured: time.Now(), winner: t.Candidates[best],
	}
	found.NotKept = found.keep(cache, key)
	return found, nil
}

// check returns an error if the tuning is invalid.
func (t *Tuning) check() error {
	if len(t.Candidates) == 0 {
		return invalid("there are no candidates")
	}
	seen := map[string]bool{}
	for i, c := range t.Candidates {
		switch {
		case c.Name == "":
			return invalid("candidate %d has no name", i)
		case seen[c.Name]:
			return invalid("two candidates are called %q", c.Name)
		case c.Launch == nil:
			return invalid("candidate %s has no Launch", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// measure times the candidates. The error is that of ctx or of the device.
func measure(ctx context.Context, s *Stream, candidates []Candidate) ([]Trial, error) {
	start, err := s.dev.NewEvent()
	if err != nil {
		return nil, err
	}
	defer start.Close()
	end, err := s.dev.NewEvent()
	if err != nil {
		return nil, err
	}
	defer end.Close()

	results, err := trials.Run(ctx, len(candidates), func(i, times int) (time.Duration, error) {
		if err := s.Record(start); err != nil {
			return 0, err
		}
		for range times {
			if err := candidates[i].Launch(s); err != nil {
				return 0, errors.Join(err, s.Synchronize(ctx))
			}
		}
		if err := s.Record(end); err != nil {
			return 0, err
		}
		if err := s.Synchronize(ctx); err != nil {
			return 0, err
		}
		return Elapsed(start, end)
	})
	out := make([]Trial, len(results))
	for i, r := range results {
		out[i] = Trial{candidates[i].Name, r.Median, r.Least, r.Samples, r.Outliers, r.Err}
	}
	return out, err
}

// fastest returns the index of the winning trial, -1 if there is none.
func fastest(all []Trial) int {
	best := -1
	for i, t := range all {
		if t.Err == nil && (best < 0 || trials.Faster(t.Median, all[best].Median)) {
			best = i
		}
	}
	return best
}
