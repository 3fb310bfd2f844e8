package main

import (
	"context"
	"io"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestRunOnEveryDevice(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // for the measurements
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev) },
			"cuBLASLt", "blas.GemmEpilogue: ", "fft.Plan.Forward: ", "sparse.MulVec: ")
	})
}

func TestInterrupt(t *testing.T) { exampletest.EndsWhenInterrupted(t, run) }
