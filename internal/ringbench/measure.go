package ringbench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
)

// Latency holds the round trip times of Ask with one message in flight.
type Latency struct {
	Actors      int           `json:"actors"` // only one of them is asked
	Payload     int           `json:"payload_bytes"`
	Messages    int           `json:"messages"`
	P50         time.Duration `json:"p50_ns"`
	P90         time.Duration `json:"p90_ns"`
	P99         time.Duration `json:"p99_ns"`
	P999        time.Duration `json:"p99_9_ns"`
	Max         time.Duration `json:"max_ns"`
	Allocations float64       `json:"allocations_per_message"`
}

// Throughput is the rate of messages through actors and back.
type Throughput struct {
	Actors   int           `json:"actors"`
	Payload  int           `json:"payload_bytes"`
	Batch    int           `json:"batch"` // messages per call of SendBatch
	Senders  int           `json:"senders"`
	Messages int           `json:"messages"`
	Took     time.Duration `json:"took_ns"`
}

// Rate returns the messages per second.
func (t Throughput) Rate() float64 { return float64(t.Messages) / t.Took.Seconds() }

// warmup is the number of messages before the measured ones.
const warmup = 2000

// mostSamples bounds the memory of a measurement.
const mostSamples = 1 << 21

// MeasureLatency asks one of several actors, one message at a time.
func MeasureLatency(ctx context.Context, dev *gpu.Device, actors, payload int, d time.Duration) (Latency, error) {
	l := Latency{Actors: actors, Payload: payload}
	err := within(ctx, dev, payload, actors, func(e echoes) error {
		ask, number := e.asker(0), uint32(0)
		trip := func() error {
			number++
			return ask(ctx, number)
		}
		if err := warm(d, trip); err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		samples, err := roundTrips(ctx, d, trip)
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		l.Messages = len(samples)
		l.P50, l.P90, l.P99, l.P999, l.Max = samples.at(0.5), samples.at(0.9), samples.at(0.99), samples.at(0.999), samples.at(1)
		l.Allocations = float64(after.Mallocs-before.Mallocs) / float64(len(samples))
		return nil
	})
	return l, err
}

// warm makes round trips that are not measured.
func warm(d time.Duration, trip func() error) error {
	begin := time.Now()
	for n := 0; n < warmup && time.Since(begin) < d/4+time.Millisecond; n++ {
		if err := trip(); err != nil {
			return err
		}
	}
	return nil
}

// roundTrips makes round trips, one after another, and returns their durations, sorted. If
// ctx is canceled, it returns the durations so far.
func roundTrips(ctx context.Context, d time.Duration, trip func() error) (durations, error) {
	samples := make(durations, 0, mostSamples)
	begin := time.Now()
	for now := begin; now.Sub(begin) < d && len(samples) < cap(samples); {
		if err := trip(); err != nil {
			if ctx.Err() != nil && len(samples) > 0 {
				break
			}
			return nil, err
		}
		then := now
		now = time.Now()
		samples = append(samples, now.Sub(then))
	}
	samples.sort()
	return samples, nil
}

// durations holds at least one sample.
type durations []time.Duration

func (d durations) sort() { slices.Sort(d) }

// at returns the sample at a quantile of the sorted samples.
func (d durations) at(share float64) time.Duration { return d[int(share*float64(len(d)-1))] }

// senders returns the number of goroutines that send to actors: half of the processors,
// because the device may need the other half.
func senders(actors int) int { return min(actors, max(1, runtime.NumCPU()/2)) }

// MeasureThroughput sends batches to actors and receives the replies.
func MeasureThroughput(ctx context.Context, dev *gpu.Device, actors, payload, batch int, d time.Duration) (Throughput, error) {
	t := Throughput{Actors: actors, Payload: payload, Batch: batch, Senders: senders(actors)}
	err := within(ctx, dev, payload, actors, func(e echoes) error {
		round := func(d time.Duration) (int, time.Duration, error) {
			var stop atomic.Bool
			timer := time.AfterFunc(d, func() { stop.Store(true) })
			defer timer.Stop()
			forget := context.AfterFunc(ctx, func() { stop.Store(true) })
			defer forget()
			var wg sync.WaitGroup
			counts, errs := make([]int, t.Senders), make([]error, t.Senders)
			begin := time.Now()
			for i := range t.Senders {
				// Messages in flight are received even if ctx is canceled.
				wg.Go(func() { counts[i], errs[i] = e.stream(context.WithoutCancel(ctx), i, t.Senders, batch, stop.Load) })
			}
			wg.Wait()
			took, sum := time.Since(begin), 0
			for _, n := range counts {
				sum += n
			}
			return sum, took, errors.Join(errs...)
		}
		if _, _, err := round(d / 5); err != nil {
			return err
		}
		var err error
		t.Messages, t.Took, err = round(d)
		return err
	})
	return t, err
}
