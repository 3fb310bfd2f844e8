package main

import (
	"context"
	"errors"

	"quern.dev/examples/internal/example"
	"quern.dev/fft"
	"quern.dev/gpu"
)

// strouhal returns how many vortices leave one side of the cylinder in the time in which
// the flow passes it: the frequency at which the velocity behind it has the most power,
// in the second half of the steps.
func (m *simulation) strouhal(ctx context.Context, scope *gpu.Scope) (number float64, err error) {
	record := make([]float32, m.done)
	if err := gpu.Download(ctx, m.s, record, m.record.Slice(0, m.done)); err != nil {
		return 0, err
	}
	record = record[m.done/2:]
	mean := float32(0)
	for _, v := range record {
		mean += v / float32(len(record))
	}
	for i, w := range fft.Hann(len(record)) {
		record[i] = (record[i] - mean) * float32(w)
	}
	// Zeros behind the signal make the elements of the spectrum lie closer together.
	points := 8 * len(record)
	plan, err := fft.NewRealPlan[float32, complex64](m.s.Device(), fft.Desc{Shape: []int{points}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	var signal, power *gpu.Buffer[float32]
	var spectrum *gpu.Buffer[complex64]
	err = errors.Join(example.Acquire(scope, points, &signal), example.Acquire(scope, points/2+1, &power), example.Acquire(scope, points/2+1, &spectrum))
	if err != nil {
		return 0, err
	}
	levels := make([]float32, points/2+1)
	for _, step := range []func() error{
		func() error { return gpu.Zero(m.s, signal) },
		func() error { return gpu.CopyIn(m.s, signal.Slice(0, len(record)), record) },
		func() error { return plan.Forward(m.s, spectrum, signal) },
		func() error { return fft.Power(m.s, power, spectrum, 1) },
		func() error { return gpu.Download(ctx, m.s, levels, power) },
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	most := 0
	for i, v := range levels {
		if v > levels[most] {
			most = i
		}
	}
	diameter := 2 * float64(m.Radius)
	return fft.RealFrequencies(points, 1)[most] * diameter / speed, nil
}
