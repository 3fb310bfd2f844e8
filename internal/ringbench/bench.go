package ringbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"quern.dev/gpu"
)

// Config is what Run measures: latencies for each number of actors and payload,
// throughputs for each of those with each batch, and what actors send to each other
// for each number of them.
type Config struct {
	Actors, Payloads, Batches []int
	Duration                  time.Duration // of each measurement
}

// Limits of what a Config may ask for.
const (
	MaxActors = 4096
	MaxBatch  = 512 // inFlight of them fill a mailbox
)

// Validate reports what cannot be measured.
func (c *Config) Validate() error {
	for _, n := range c.Actors {
		if n < 1 || n > MaxActors {
			return fmt.Errorf("%d actors; there can be 1 to %d", n, MaxActors)
		}
	}
	for _, bytes := range c.Payloads {
		if _, err := kindOf(bytes); err != nil {
			return err
		}
	}
	for _, n := range c.Batches {
		if n < 1 || n > MaxBatch {
			return fmt.Errorf("a batch of %d messages; it has 1 to %d", n, MaxBatch)
		}
	}
	if c.Duration < time.Millisecond {
		return fmt.Errorf("a duration of %v; it is 1ms at least", c.Duration)
	}
	return nil
}

// Place is where something was measured.
type Place struct {
	Device     string    `json:"device"`
	ID         string    `json:"id"`
	Backend    string    `json:"backend"`
	Processors int       `json:"processors"` // of the host
	Platform   string    `json:"platform"`
	Go         string    `json:"go"`
	Time       time.Time `json:"time"`
}

// PlaceOf describes a device and its host.
func PlaceOf(dev *gpu.Device) Place {
	return Place{Device: dev.Name(), ID: dev.ID(), Backend: string(dev.Backend()), Processors: runtime.NumCPU(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Time: time.Now().Round(time.Second)}
}

// Report is what was measured.
type Report struct {
	Place
	Duration   time.Duration `json:"duration_ns"` // of each measurement
	Latency    []Latency     `json:"latency"`
	Throughput []Throughput  `json:"throughput"`
	Relaying   []Relaying    `json:"actor_to_actor"`
	Peer       Published     `json:"peer"`
	Complete   bool          `json:"complete"` // nothing was left out
}

// Published are figures that others have published.
type Published struct {
	Name     string        `json:"name"`
	P50      time.Duration `json:"p50_ns"`
	P99      time.Duration `json:"p99_ns"`
	Messages float64       `json:"messages_per_second"`
}

// Peer is PyDotCompute 0.1, from its own README, on the GPU of its authors.
var Peer = Published{Name: "PyDotCompute, as published", P50: 63 * time.Microsecond, P99: 131 * time.Microsecond, Messages: 76e3}

// Observer learns of measurements while they go on. Its functions may be nil.
type Observer struct {
	Begin      func(step, steps int, what string)
	Latency    func(Latency)
	Throughput func(Throughput)
	Relaying   func(Relaying)
}

// Run measures. If ctx is cancelled the report has what was measured before.
func Run(ctx context.Context, dev *gpu.Device, c Config, o Observer) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Report{Place: PlaceOf(dev), Duration: c.Duration, Peer: Peer}
	relays := [][2]int{{2, 1}} // actors, balls
	for _, n := range c.Actors {
		if n > 1 {
			relays = append(relays, [2]int{n, n * relayBalls})
		}
	}
	step, steps := 0, len(c.Actors)*len(c.Payloads)*(1+len(c.Batches))+len(relays)
	begin := func(format string, args ...any) {
		step++
		call(o.Begin != nil, func() { o.Begin(step, steps, fmt.Sprintf(format, args...)) })
	}
	for _, actors := range c.Actors {
		for _, payload := range c.Payloads {
			begin("latency, %d actors, %d bytes", actors, payload)
			l, err := MeasureLatency(ctx, dev, actors, payload, c.Duration)
			if err != nil {
				return r, err
			}
			r.Latency = append(r.Latency, l)
			call(o.Latency != nil, func() { o.Latency(l) })
		}
	}
	for _, actors := range c.Actors {
		for _, payload := range c.Payloads {
			for _, batch := range c.Batches {
				begin("throughput, %d actors, %d bytes, batches of %d", actors, payload, batch)
				t, err := MeasureThroughput(ctx, dev, actors, payload, batch, c.Duration)
				if err != nil {
					return r, err
				}
				r.Throughput = append(r.Throughput, t)
				call(o.Throughput != nil, func() { o.Throughput(t) })
			}
		}
	}
	for _, n := range relays {
		begin("actor to actor, %d actors, %d messages on their way", n[0], n[1])
		t, err := MeasureRelay(ctx, dev, n[0], n[1], c.Duration)
		if err != nil {
			return r, err
		}
		r.Relaying = append(r.Relaying, t)
		call(o.Relaying != nil, func() { o.Relaying(t) })
	}
	r.Complete = ctx.Err() == nil
	return r, ctx.Err()
}

func call(there bool, f func()) {
	if there {
		f()
	}
}
