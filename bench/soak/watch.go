package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"quern.dev/gpu"
)

// sample is the memory use at one time, in bytes.
type sample struct {
	pool     int64 // reserved by the pools
	device   int64 // in use on the device by all programs; only on GPUs
	heap     int64 // Go's heap, after a collection
	resident int64 // of the process; 0 if unknown
}

// watch samples a soak periodically.
type watch struct {
	soak    *soak
	samples []sample
}

// until takes samples and prints progress until ctx is done.
func (w *watch) until(ctx context.Context) {
	tick := time.NewTicker(w.soak.options.interval())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.take()
		case <-ctx.Done():
			w.take()
			return
		}
	}
}

func (w *watch) take() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s := sample{
		pool:     w.soak.pool.Stats().Reserved + w.soak.hostPool.Stats().Reserved,
		heap:     int64(m.HeapAlloc),
		resident: resident(),
	}
	if w.soak.dev.Backend() == gpu.CUDA {
		free, total := w.soak.dev.Memory()
		s.device = total - free
	}
	w.samples = append(w.samples, s)
	fmt.Printf("%v; device %.1f MB, heap %.1f MB, process %.1f MB\n", w.soak, float64(s.device)/1e6, float64(s.heap)/1e6, float64(s.resident)/1e6)
}

// resident returns the memory of the process on Linux, and 0 elsewhere.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if n, _ := fmt.Sscan(string(text), &size, &pages); n < 2 {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// Memory use is steady if its maximum in the second half of the run exceeds that in the
// first half by less than a quarter plus a few megabytes, the variation due to random
// buffer sizes.
const (
	growth = 1.25
	slack  = 64 << 20
)

// verdict returns an error if memory use has grown.
func (w *watch) verdict() error {
	half := len(w.samples) / 2
	if half < 2 {
		return nil
	}
	for _, of := range []struct {
		what string
		get  func(sample) int64
	}{
		{"the pools", func(s sample) int64 { return s.pool }},
		{"the device", func(s sample) int64 { return s.device }},
		{"Go's heap", func(s sample) int64 { return s.heap }},
		{"the process", func(s sample) int64 { return s.resident }},
	} {
		before, after := most(w.samples[:half], of.get), most(w.samples[half:], of.get)
		if float64(after) > float64(before)*growth+slack {
			return fmt.Errorf("memory of %s grew from %d to %d bytes", of.what, before, after)
		}
	}
	return nil
}

func most(samples []sample, get func(sample) int64) int64 {
	n := int64(0)
	for _, s := range samples {
		n = max(n, get(s))
	}
	return n
}
