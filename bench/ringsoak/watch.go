package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"quern.dev/gpu"
)

// sample is the resource use at one time, in bytes except for the goroutines.
type sample struct {
	device     int64 // of all programs; only on GPUs
	heap       int64 // Go's heap, after a collection
	resident   int64 // of the process including page-locked memory; 0 if unknown
	goroutines int64
}

// watch samples a soak every second.
type watch struct {
	soak    *soak
	begun   time.Time
	samples []sample
}

// until takes samples and prints progress until ctx is done. It calls enough when the
// requested number of messages is reached.
func (w *watch) until(ctx context.Context, enough func()) {
	tick := time.NewTicker(min(time.Second, max(w.soak.options.duration/10, time.Millisecond)))
	defer tick.Stop()
	before, at := uint64(0), w.begun
	for {
		select {
		case now := <-tick.C:
			n := w.soak.messages.Load()
			w.take(float64(n-before) / now.Sub(at).Seconds())
			if before, at = n, now; n >= w.soak.options.messages {
				enough()
			}
		case <-ctx.Done():
			return
		}
	}
}

// wait prints every second what a soak whose duration is over waits for, until over is
// called.
func (w *watch) wait() (over func()) {
	done := make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Printf("%6.1f s %v; ending, waiting for %v\n", time.Since(w.begun).Seconds(), w.soak, w.soak.awaited())
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		told.Wait()
	}
}

// awaited describes what has not ended. It takes no lock of the runtime, which may be the
// cause.
func (s *soak) awaited() string {
	what := s.running.String()
	var missing []string
	for _, m := range s.actors {
		if n := m.outstanding(); n != 0 {
			missing = append(missing, fmt.Sprintf("%s %d", m.name, n))
		}
	}
	if len(missing) > 0 {
		what += "; missing replies: " + some(missing)
	}
	return what
}

// take takes a sample and prints it.
func (w *watch) take(rate float64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s := sample{heap: int64(m.HeapAlloc), resident: resident(), goroutines: int64(runtime.NumGoroutine())}
	if w.soak.dev.Backend() == gpu.CUDA {
		free, total := w.soak.dev.Memory()
		s.device = total - free
	}
	w.samples = append(w.samples, s)
	fmt.Printf("%6.1f s %v; %.0f/s; device %.1f MB, heap %.1f MB, process %.1f MB, %d goroutines\n",
		time.Since(w.begun).Seconds(), w.soak, rate, float64(s.device)/1e6, float64(s.heap)/1e6, float64(s.resident)/1e6, s.goroutines)
}

// String returns the counts so far.
func (s *soak) String() string {
	return fmt.Sprintf("%-7s %11d messages, %9d asked, %6d expired, %5d failures, %7d dead letters, %4d visitors, %6d device operations",
		s.dev.ID(), s.messages.Load(), s.asks.Load(), s.expired.Load(), s.failures.Load(), s.dead.Load(), s.visitors.Load(), s.concurrent.Load())
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

// verdict returns an error if a resource has grown: if its maximum in the second half of
// the run exceeds that in the first half by more than a quarter and its normal variation.
func (w *watch) verdict() error {
	half := len(w.samples) / 2
	if half < 2 {
		return nil
	}
	for _, of := range []struct {
		what  string
		slack int64
		get   func(sample) int64
	}{
		{"memory of the device", 64 << 20, func(s sample) int64 { return s.device }},
		{"Go's heap", 32 << 20, func(s sample) int64 { return s.heap }},
		{"memory of the process", 64 << 20, func(s sample) int64 { return s.resident }},
		{"the number of goroutines", 32, func(s sample) int64 { return s.goroutines }},
	} {
		before, after := most(w.samples[:half], of.get), most(w.samples[half:], of.get)
		if after > before+before/4+of.slack {
			return fmt.Errorf("%s grew from %d to %d", of.what, before, after)
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
