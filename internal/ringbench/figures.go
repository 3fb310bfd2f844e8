package ringbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// Figure is a measured value with its goal on the device.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Goal  *Goal   `json:"goal,omitempty"`
	Met   *bool   `json:"met,omitempty"` // nil if there is no goal
}

// Missed reports whether the figure has a goal and misses it.
func (f Figure) Missed() bool { return f.Met != nil && !*f.Met }

// Goal is a bound for a figure.
type Goal struct {
	Bound  float64 `json:"bound"`
	AtMost bool    `json:"at_most"` // an upper bound; otherwise a lower bound
}

// String returns the goal in words.
func (g Goal) String() string {
	if g.AtMost {
		return fmt.Sprintf("at most %g", g.Bound)
	}
	return fmt.Sprintf("at least %g", g.Bound)
}

// AtMost returns upper bounds for an NVIDIA data center GPU and for a CPU with two cores.
func AtMost(gpu, cpu float64) [2]*Goal { return [2]*Goal{{gpu, true}, {cpu, true}} }

// AtLeast is AtMost for lower bounds.
func AtLeast(gpu, cpu float64) [2]*Goal { return [2]*Goal{{gpu, false}, {cpu, false}} }

// OnGPU removes the goal for a CPU.
func OnGPU(goals [2]*Goal) [2]*Goal { return [2]*Goal{goals[0], nil} }

// Checker measures the figures that have goals.
type Checker struct {
	Device   *gpu.Device
	Duration time.Duration     // per measurement with a variable length
	Begin    func(what string) // may be nil
	Show     func(Figure)      // may be nil
	Note     func(string)      // receives a line for each omitted measurement; may be nil
	Figures  []Figure          // measured so far
}

// Check is one measurement of a [Checker].
type Check struct {
	Name string
	Run  func(context.Context, *Checker) error
}

// Checks lists all checks in the order in which they run.
var Checks = []Check{
	{"ask", checkAsk},
	{"throughput", checkThroughput},
	{"actor to actor", checkRelay},
	{"concurrent asks", checkConcurrent},
	{"pauses", checkPauses},
	{"spawn", checkSpawn},
	{"close", checkClose},
}

// Run runs the checks.
func (c *Checker) Run(ctx context.Context, checks []Check) error {
	for _, check := range checks {
		if c.Begin != nil {
			c.Begin(check.Name)
		}
		if err := check.Run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", check.Name, err)
		}
	}
	return nil
}

// Add adds a figure with goals for a GPU and for a CPU. Either goal may be nil.
func (c *Checker) Add(name string, value float64, unit string, goals [2]*Goal) {
	f := Figure{Name: name, Value: value, Unit: unit}
	switch c.Device.Backend() {
	case gpu.CUDA:
		f.Goal = goals[0]
	case gpu.CPU:
		f.Goal = goals[1]
	}
	if g := f.Goal; g != nil {
		met := g.AtMost && value <= g.Bound || !g.AtMost && value >= g.Bound
		f.Met = &met
	}
	c.Figures = append(c.Figures, f)
	if c.Show != nil {
		c.Show(f)
	}
}

func micro(d time.Duration) float64 { return float64(d) / 1e3 }
func milli(d time.Duration) float64 { return float64(d) / 1e6 }

// checked is the payload in bytes of all figures with goals.
const checked = 64

func checkAsk(ctx context.Context, c *Checker) error {
	l, err := MeasureLatency(ctx, c.Device, 1, checked, c.Duration)
	if err != nil {
		return err
	}
	c.Add("Ask, p50", micro(l.P50), "µs", AtMost(4, 2))
	c.Add("Ask, p99", micro(l.P99), "µs", OnGPU(AtMost(8, 0)))
	c.Add("Ask, p99.9", micro(l.P999), "µs", [2]*Goal{})
	// Fewer than one per hundred messages: allocations by the rest of the process.
	c.Add("Ask, allocations per message", l.Allocations, "", AtMost(0.01, 0.01))
	return c.compare(l.P50, "Ask", "a bare echo through mapped memory", func() (Bare, error) {
		return MeasureBareEcho(ctx, c.Device, c.Duration)
	})
}

// compare adds the time of a kernel without actors for the same work, which depends on the
// machine, and the ratio of took to it.
func (c *Checker) compare(took time.Duration, what, bare string, measure func() (Bare, error)) error {
	if c.Device.Backend() != gpu.CUDA {
		if c.Note != nil {
			c.Note(bare + " is omitted: here kernels run in the calling goroutine, and none can answer concurrently")
		}
		return nil
	}
	b, err := measure()
	if err != nil {
		return fmt.Errorf("%s: %w", bare, err)
	}
	c.Add(bare+", p50", micro(b.P50), "µs", [2]*Goal{})
	c.Add(bare+", p99", micro(b.P99), "µs", [2]*Goal{})
	c.Add(what+" relative to that, p50", float64(took)/float64(b.P50), "times", [2]*Goal{})
	return nil
}

func checkThroughput(ctx context.Context, c *Checker) error {
	for _, m := range []struct {
		actors int
		goals  [2]*Goal
	}{{1, AtLeast(5, 3)}, {64, AtLeast(20, 3)}} {
		t, err := MeasureThroughput(ctx, c.Device, m.actors, checked, 256, c.Duration)
		if err != nil {
			return err
		}
		c.Add(fmt.Sprintf("there and back, actors: %d", m.actors), t.Rate()/1e6, "M msg/s", m.goals)
	}
	return nil
}

// checkRelay has actors send to each other without the host.
func checkRelay(ctx context.Context, c *Checker) error {
	pair, err := MeasureRelay(ctx, c.Device, 2, 1, c.Duration)
	if err != nil {
		return err
	}
	if pair.P50 > 0 {
		c.Add("actor to actor and back, p50", micro(pair.P50), "µs", OnGPU(AtMost(2, 0)))
		c.Add("actor to actor and back, p99", micro(pair.P99), "µs", [2]*Goal{})
		err := c.compare(pair.P50, "actor to actor and back", "a bare word to another block and back", func() (Bare, error) {
			return MeasureBareRally(ctx, c.Device)
		})
		if err != nil {
			return err
		}
	}
	const actors = 128
	all, err := MeasureRelay(ctx, c.Device, actors, actors*relayBalls, c.Duration)
	if err != nil {
		return err
	}
	c.Add(fmt.Sprintf("actor to actor, actors: %d", actors), all.Rate()/1e6, "M msg/s", OnGPU(AtLeast(50, 0)))
	return nil
}

// checkConcurrent asks 100 actors from 10,000 goroutines concurrently.
func checkConcurrent(ctx context.Context, c *Checker) error {
	const actors, callers, rounds = 100, 10_000, 10
	return within(ctx, c.Device, checked, actors, func(e echoes) error {
		var wg sync.WaitGroup
		errs := make([]error, callers)
		begin := time.Now()
		for i := range callers {
			ask := e.asker(i % actors)
			wg.Go(func() {
				for r := range rounds {
					if err := ask(ctx, uint32(i*rounds+r)); err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		wg.Wait()
		took, wrong := time.Since(begin), 0
		var other []error
		for _, err := range errs {
			if _, ok := errors.AsType[*WrongReply](err); ok {
				wrong++
			} else if err != nil {
				other = append(other, err)
			}
		}
		if len(other) > 0 {
			return fmt.Errorf("%d of %d callers failed, the first with: %w", len(other), callers, other[0])
		}
		c.Add(fmt.Sprintf("wrong replies to %d callers at once, 100 actors", callers), float64(wrong), "", AtMost(0, 0))
		c.Add("answered at once", callers*rounds/took.Seconds()/1e6, "M msg/s", [2]*Goal{})
		return nil
	})
}

// checkSpawn measures the time from the call of Spawn to the first reply, while other
// actors with the same handler exist.
func checkSpawn(ctx context.Context, c *Checker) error {
	const times = 20
	return within(ctx, c.Device, checked, 1, func(e echoes) error {
		if err := e.asker(0)(ctx, 0); err != nil {
			return err
		}
		var took durations
		for i := range times {
			begin := time.Now()
			if err := e.spawn(ctx, 1); err != nil {
				return err
			}
			if err := e.asker(i+1)(ctx, 0); err != nil {
				return err
			}
			took = append(took, time.Since(begin))
		}
		took.sort()
		c.Add("spawn to first reply, warm, p50", milli(took.at(0.5)), "ms", AtMost(1, 1))
		c.Add("spawn to first reply, warm, max", milli(took.at(1)), "ms", [2]*Goal{})
		return nil
	})
}

// checkClose closes a runtime with 1000 actors that have all handled messages.
func checkClose(ctx context.Context, c *Checker) error {
	const actors = 1000
	rt, err := ring.New(c.Device, ring.Config{})
	if err != nil {
		return err
	}
	e := kinds[1].make(rt)
	begin := time.Now()
	err = e.spawn(ctx, actors)
	spawned := time.Since(begin)
	for i := 0; i < actors && err == nil; i++ {
		err = e.asker(i)(ctx, uint32(i))
	}
	begin = time.Now()
	err = errors.Join(err, rt.Close())
	if err != nil {
		return err
	}
	c.Add("close of 1000 actors", milli(time.Since(begin)), "ms", AtMost(100, 100))
	c.Add("spawn of 1000 actors", milli(spawned), "ms", [2]*Goal{})
	return nil
}

// Met reports whether no goal was missed.
func (c *Checker) Met() bool {
	return !slices.ContainsFunc(c.Figures, Figure.Missed)
}
