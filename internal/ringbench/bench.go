package ringbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"quern.dev/gpu"
)

// Config says what Run measures: latencies for each number of actors and each payload,
// throughputs for each of these with each batch size, and messages between actors for each
// number of actors.
type Config struct {
	Actors, Payloads, Batches []int
	Duration                  time.Duration // per measurement
}

// Limits of a Config.
const (
	MaxActors = 4096
	MaxBatch  = 512 // inFlight batches of this size fill a mailbox
)

// Validate reports values that are out of range.
func (c *Config) Validate() error {
	for _, n := range c.Actors {
		if n < 1 || n > MaxActors {
			return fmt.Errorf("%d actors: want 1 to %d", n, MaxActors)
		}
	}
	for _, bytes := range c.Payloads {
		if _, err := kindOf(bytes); err != nil {
			return err
		}
	}
	for _, n := range c.Batches {
		if n < 1 || n > MaxBatch {
			return fmt.Errorf("a batch of %d messages: want 1 to %d", n, MaxBatch)
		}
	}
	if c.Duration < time.Millisecond {
		return fmt.Errorf("a duration of %v: want at least 1ms", c.Duration)
	}
	return nil
}

// Place describes where a measurement was made.
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

// Report holds all results of Run.
type Report struct {
	Place
	Duration   time.Duration `json:"duration_ns"` // per measurement
	Latency    []Latency     `json:"latency"`
	Throughput []Throughput  `json:"throughput"`
	Relaying   []Relaying    `json:"actor_to_actor"`
	Peer       Published     `json:"peer"`
	Complete   bool          `json:"complete"` // nothing was omitted
}

// Published holds figures published by others.
type Published struct {
	Name     string        `json:"name"`
	P50      time.Duration `json:"p50_ns"`
	P99      time.Duration `json:"p99_ns"`
	Messages float64       `json:"messages_per_second"`
}

// Peer is PyDotCompute 0.1, from its own README, on its authors' GPU.
var Peer = Published{Name: "PyDotCompute, as published", P50: 63 * time.Microsecond, P99: 131 * time.Microsecond, Messages: 76e3}

// Observer receives results as they are measured. Its functions may be nil.
type Observer struct {
	Begin      func(step, steps int, what string)
	Latency    func(Latency)
	Throughput func(Throughput)
	Relaying   func(Relaying)
}

// Run measures. If ctx is canceled, the report contains the results so far.
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
		begin("actor to actor, %d actors, %d messages in flight", n[0], n[1])
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
