package main

import (
	"context"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"quern.dev/bench/results"
	"quern.dev/gpu"
)

// bench is one run of the benchmarks.
type bench struct {
	ctx     context.Context
	dev     *gpu.Device
	stream  *gpu.Stream
	size    sizes
	marks   [2]*gpu.Event
	results []results.Result
}

// sizes holds the sizes of the arrays. The arrays of memory-bound benchmarks are several
// times as large as the L2 cache, so that a repetition does not hit the cache.
type sizes struct {
	vector int // elements of saxpy and of the copy
	matrix int // rows and columns of the products
	image  int // rows and columns of the blur
	repeat int
}

var (
	fullSize  = sizes{vector: 1 << 28, matrix: 4096, image: 8192, repeat: 30}
	smallSize = sizes{vector: 1 << 14, matrix: 256, image: 256, repeat: 3}
)

const warmUp = 3 // launches before the measured ones

// report records a figure or the error that replaces it.
func (b *bench) report(benchmark, tool, unit string, value float64, err error) {
	r := results.Result{Benchmark: benchmark, Tool: tool, Unit: unit, Value: value}
	if err != nil {
		r.Value, r.Error = 0, err.Error()
		log.Printf("%s, %s: %v", benchmark, tool, err)
	}
	b.results = append(b.results, r)
}

// compare checks and times the benchmark with each tool. amount is the work of one launch
// in units of 1e9.
func (b *bench) compare(benchmark, unit string, amount float64, check func() error, tools ...tool) {
	for _, t := range tools {
		seconds, err := b.checkAndTime(t, check)
		b.report(benchmark, t.name, unit, amount/seconds, err)
	}
}

// tool is one implementation of a benchmark.
type tool struct {
	name   string
	reset  func() error // poisons the output
	launch func() error
}

func (b *bench) checkAndTime(t tool, check func() error) (float64, error) {
	if err := t.reset(); err != nil {
		return 0, err
	}
	if err := t.launch(); err != nil {
		return 0, err
	}
	if err := check(); err != nil {
		return 0, err
	}
	return b.time(t.launch)
}

// time returns the median device time of a launch in seconds.
func (b *bench) time(launch func() error) (float64, error) {
	for range warmUp {
		if err := launch(); err != nil {
			return 0, err
		}
	}
	var samples []float64
	for range b.size.repeat {
		if err := b.stream.Record(b.marks[0]); err != nil {
			return 0, err
		}
		if err := launch(); err != nil {
			return 0, err
		}
		if err := b.stream.Record(b.marks[1]); err != nil {
			return 0, err
		}
		if err := b.stream.Synchronize(b.ctx); err != nil {
			return 0, err
		}
		d, err := gpu.Elapsed(b.marks[0], b.marks[1])
		if err != nil {
			return 0, err
		}
		samples = append(samples, max(d, time.Nanosecond).Seconds())
	}
	return median(samples), nil
}

func median(samples []float64) float64 {
	slices.Sort(samples)
	n := len(samples)
	return (samples[(n-1)/2] + samples[n/2]) / 2
}

var nan = float32(math.NaN())

// poison returns a function that fills a buffer with NaN, which fails every check.
func (b *bench) poison(out *gpu.Buffer[float32]) func() error {
	return func() error { return gpu.Fill(b.stream, out, nan) }
}

// random returns n numbers between -1 and 1, different in each run.
func random(n int) []float32 {
	v := make([]float32, n)
	parallel(n, func(lo, hi int) {
		r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		for i := lo; i < hi; i++ {
			v[i] = float32(int32(r.Uint32())) * (1.0 / (1 << 31))
		}
	})
	return v
}

// parallel splits [0, n) into parts and calls f for them on all cores.
func parallel(n int, f func(lo, hi int)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}

// tileGrid returns a grid with one block per tile of a rows x columns matrix.
func tileGrid(rows, columns, tileRows, tileColumns int, block gpu.Dim3) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{
		X: (columns + tileColumns - 1) / tileColumns,
		Y: (rows + tileRows - 1) / tileRows,
		Z: 1,
	}, block)
}
