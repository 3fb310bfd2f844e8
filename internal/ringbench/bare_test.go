package ringbench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
)

// The simulator is missing, because its kernels and the host take turns and cannot wait
// for each other.
var bareBackends = []gpu.Backend{gpu.CPU, gpu.CUDA}

func TestBareKernelAnswersHost(t *testing.T) {
	for _, backend := range bareBackends {
		t.Run(string(backend), func(t *testing.T) {
			b, err := MeasureBareEcho(t.Context(), open(t, backend), 20*time.Millisecond)
			if err != nil || b.Trips == 0 || b.P50 <= 0 || b.P50 > b.P99 {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
}

func TestBareBlocksAnswerEachOther(t *testing.T) {
	for _, backend := range bareBackends {
		t.Run(string(backend), func(t *testing.T) {
			const trips = 20
			b, err := measureBareRally(t.Context(), open(t, backend), trips)
			if err != nil || b.Trips != trips || b.P50 <= 0 || b.P50 > b.P99 {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
}

func TestBareKernelEndsAtItsLimit(t *testing.T) {
	dev := open(t, gpu.CPU)
	on := dev.DefaultStream()
	words, err := gpu.Upload(on, make([]uint64, bareWords))
	if err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	const life = 2 * time.Millisecond
	begin := time.Now()
	err = LaunchMirror(on, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), words, cycles(dev, life))
	if err = errors.Join(err, on.Synchronize(t.Context())); err != nil || time.Since(begin) < life {
		t.Errorf("ended after %v, %v", time.Since(begin), err)
	}
}

func TestCanceledBareEchoEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	b, err := MeasureBareEcho(ctx, open(t, gpu.CPU), time.Hour)
	if b.Trips == 0 && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestOmittedMeasurementsAreReported(t *testing.T) {
	var notes []string
	c := &Checker{Device: open(t, gpu.CPU), Duration: 10 * time.Millisecond, Note: func(s string) { notes = append(notes, s) }}
	if err := c.Run(t.Context(), Checks[:1]); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "a bare echo through mapped memory is omitted: ") {
		t.Errorf("%q", notes)
	}
}
