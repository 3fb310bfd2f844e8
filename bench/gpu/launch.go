package main

import (
	"runtime"
	"time"

	"quern.dev/bench/bare"
	"quern.dev/bench/kernels"
	"quern.dev/bench/results"
	"quern.dev/gpu"
)

const (
	// batch is the number of launches between two waits. The driver queues about a
	// thousand launches before the next one waits for the device.
	batch   = 500
	batches = 40
)

// launch measures the time of launching an empty kernel with four arguments: until it is
// submitted, and until the device has finished it. It alternates between bare driver calls
// and Quern.
func (b *bench) launch() error {
	x, err := gpu.Alloc[float32](b.dev, 1)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := gpu.Alloc[float32](b.dev, 1)
	if err != nil {
		return err
	}
	defer y.Close()

	g := gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32})
	quern := launcher{
		submit: func() error { return kernels.LaunchEmpty(b.stream, g, 1, 2, x, y) },
		wait:   func() error { return b.stream.Synchronize(b.ctx) },
	}
	var driverCall launcher
	emptyKernel, bareErr := bare.NewLauncher(4, 8, 8, 8)
	if bareErr == nil {
		defer emptyKernel.Close()
		driverCall = launcher{submit: emptyKernel.Submit, wait: emptyKernel.Wait}
	}

	var submits, waits, bareSubmits, bareWaits []float64
	quernErr := error(nil)
	for range batches {
		if bareErr == nil {
			bareErr = driverCall.measure(&bareSubmits, &bareWaits)
		}
		if quernErr == nil {
			quernErr = quern.measure(&submits, &waits)
		}
	}
	enter := func(benchmark, tool string, samples []float64, err error) {
		value := 0.0
		if err == nil {
			value = median(samples) * 1e6
		}
		b.report(benchmark, tool, results.Duration, value, err)
	}
	enter("launch", "driver call", bareSubmits, bareErr)
	enter("launch", "Quern", submits, quernErr)
	enter("launch and wait", "driver call", bareWaits, bareErr)
	enter("launch and wait", "Quern", waits, quernErr)
	allocs, err := quern.allocations()
	b.report("allocations a launch", "Quern", results.Count, allocs, err)
	return nil
}

// launcher is one way to launch the empty kernel.
type launcher struct {
	submit, wait func() error
}

// measure appends the times in seconds of one launch in a batch, and of one launch with a
// wait.
func (l *launcher) measure(submits, waits *[]float64) error {
	begin := time.Now()
	for range batch {
		if err := l.submit(); err != nil {
			return err
		}
	}
	*submits = append(*submits, time.Since(begin).Seconds()/batch)
	if err := l.wait(); err != nil {
		return err
	}
	for range 10 {
		begin := time.Now()
		if err := l.submit(); err != nil {
			return err
		}
		if err := l.wait(); err != nil {
			return err
		}
		*waits = append(*waits, time.Since(begin).Seconds())
	}
	return nil
}

// allocations returns the number of heap allocations per launch.
func (l *launcher) allocations() (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range batch {
		if err := l.submit(); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / batch), l.wait()
}
