package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"quern.dev/bench/kernels"
	"quern.dev/gpu"
)

func init() { register("graph", measureGraph) }

const (
	graphKernels  = 64
	graphElements = 1024
	graphRuns     = 100 // queued between two waits; fewer launches than fit in a GPU's queue
	graphRounds   = 41
)

// measureGraph measures a graph of small kernels, each of which needs the previous result,
// compared with individual launches and with the same graph in CuPy.
func measureGraph(r *run) error {
	x, err := gpu.Upload(r.dev.DefaultStream(), make([]float32, graphElements))
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := gpu.Upload(r.dev.DefaultStream(), make([]float32, graphElements))
	if err != nil {
		return err
	}
	defer y.Close()
	s := r.dev.DefaultStream()
	launches := func(s *gpu.Stream) error {
		for range graphKernels {
			if err := kernels.LaunchSaxpy(s, gpu.Linear(graphElements), 2, x, y); err != nil {
				return err
			}
		}
		return nil
	}
	g, err := r.dev.Capture(launches)
	if err != nil {
		return err
	}
	e, err := g.Instantiate()
	if err != nil {
		return err
	}
	defer e.Close()

	one, err := r.perRun(s, func() error { return launches(s) }, 4)
	if err != nil {
		return err
	}
	replay, err := r.perRun(s, func() error { return e.Launch(s) }, graphRuns)
	if err != nil {
		return err
	}
	latency, err := r.perRun(s, func() error { return e.Launch(s) }, 1)
	if err != nil {
		return err
	}
	submit, err := r.submission(s, func() error { return e.Launch(s) })
	if err != nil {
		return err
	}
	nodes := g.Nodes()
	factor := float32(0)
	update, err := median(graphRounds, func() error {
		for _, n := range nodes {
			factor++
			err := e.Update(n, func(s *gpu.Stream) error {
				return kernels.LaunchSaxpy(s, gpu.Linear(graphElements), factor, x, y)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.show("64 launches", microseconds(one), "us")
	r.show("graph of 64 kernels, queued runs", microseconds(replay), "us")
	r.show("graph of 64 kernels, run and wait", microseconds(latency), "us")
	r.show("graph of 64 kernels, submission", microseconds(submit), "us")
	r.show("update of a node", microseconds(update)/graphKernels, "us")
	r.atMost("graph / 64 launches", replay.Seconds()/one.Seconds(), 0.35, "")

	peer, err := r.peer("graph.py", strconv.Itoa(graphKernels), strconv.Itoa(graphElements), strconv.Itoa(graphRuns), strconv.Itoa(graphRounds))
	if err != nil {
		return err
	}
	r.show("64 launches, CuPy", peer["launches"]*1e6, "us")
	r.show("graph of 64 kernels, queued runs, CuPy", peer["replay"]*1e6, "us")
	r.show("graph of 64 kernels, run and wait, CuPy", peer["latency"]*1e6, "us")
	r.atMost("graph / CuPy's, queued runs", replay.Seconds()/peer["replay"], 1.05, "")
	r.atMost("graph / CuPy's, run and wait", latency.Seconds()/peer["latency"], 1.05, "")
	return nil
}

func microseconds(d time.Duration) float64 { return d.Seconds() * 1e6 }

// perRun returns the time per run of several runs with one wait at their end. The wait
// cannot be canceled, as in CuPy.
func (r *run) perRun(s *gpu.Stream, f func() error, runs int) (time.Duration, error) {
	took, err := median(graphRounds, func() error {
		for range runs {
			if err := f(); err != nil {
				return err
			}
		}
		return s.Synchronize(context.Background())
	})
	return took / time.Duration(runs), err
}

// submission returns the time until the call returns, with an empty queue.
func (r *run) submission(s *gpu.Stream, f func() error) (time.Duration, error) {
	var total time.Duration
	for range graphRuns {
		begin := time.Now()
		err := f()
		total += time.Since(begin)
		if err := errors.Join(err, s.Synchronize(r.ctx)); err != nil {
			return 0, err
		}
	}
	return total / graphRuns, nil
}
