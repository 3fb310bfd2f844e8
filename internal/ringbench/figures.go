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

// Figure is something that was measured, with the goal that there is for it on
// the device.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Goal  *Goal   `json:"goal,omitempty"`
	Met   *bool   `json:"met,omitempty"` // nil if there is no goal
}

// Missed reports whether there is a goal that the figure does not keep.
func (f Figure) Missed() bool { return f.Met != nil && !*f.Met }

// Goal is a bound that a figure should keep.
type Goal struct {
	Bound  float64 `json:"bound"`
	AtMost bool    `json:"at_most"` // or at least
}

// String returns the goal in words.
func (g Goal) String() string {
	if g.AtMost {
		return fmt.Sprintf("at most %g", g.Bound)
	}
	return fmt.Sprintf("at least %g", g.Bound)
}

// AtMost returns goals on an NVIDIA GPU of a data centre and on a CPU with two
// cores.
func AtMost(gpu, cpu float64) [2]*Goal { return [2]*Goal{{gpu, true}, {cpu, true}} }

// AtLeast is AtMost for figures that should be large.
func AtLeast(gpu, cpu float64) [2]*Goal { return [2]*Goal{{gpu, false}, {cpu, false}} }

// OnGPU leaves out the goal on a CPU.
func OnGPU(goals [2]*Goal) [2]*Goal { return [2]*Goal{goals[0], nil} }

// Checker measures what there are goals for.
type Checker struct {
	Device   *gpu.Device
	Duration time.Duration     // of each measurement that can be of any length
	Begin    func(what string) // may be nil
	Show     func(Figure)      // may be nil
	Note     func(string)      // learns of what is left out; may be nil
	Figures  []Figure          // so far
}

// Check is one measurement that a [Checker] makes.
type Check struct {
	Name string
	Run  func(context.Context, *Checker) error
}

// Checks are all, in the order in which they are made.
var Checks = []Check{
	{"ask", checkAsk},
	{"throughput", checkThroughput},
	{"actor to actor", checkRelay},
	{"concurrent asks", checkConcurrent},
	{"pauses", checkPauses},
	{"spawn", checkSpawn},
	{"close", checkClose},
}

// Run makes the checks.
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

// Add adds a figure with goals for a GPU and for a CPU, which may be nil.
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

// checked is the payload of what there are goals for.
const checked = 64

func checkAsk(ctx context.Context, c *Checker) error {
	l, err := MeasureLatency(ctx, c.Device, 1, checked, c.Duration)
	if err != nil {
		return err
	}
	c.Add("Ask, p50", micro(l.P50), "µs", AtMost(4, 2))
	c.Add("Ask, p99", micro(l.P99), "µs", OnGPU(AtMost(8, 0)))
	c.Add("Ask, p99.9", micro(l.P999), "µs", [2]*Goal{})
	// Less than one in a hundred messages: what the rest of the process does.
	c.Add("Ask, allocations a message", l.Allocations, "", AtMost(0.01, 0.01))
	return c.compare(l.P50, "Ask", "a bare echo through mapped memory", func() (Bare, error) {
		return MeasureBareEcho(ctx, c.Device, c.Duration)
	})
}

// compare adds what a kernel without actors takes for the same, which depends on the
// machine, and how many times that took is.
func (c *Checker) compare(took time.Duration, what, bare string, measure func() (Bare, error)) error {
	if c.Device.Backend() != gpu.CUDA {
		if c.Note != nil {
			c.Note(bare + " is left out: here kernels run in their caller, and none answers beside it")
		}
		return nil
	}
	b, err := measure()
	if err != nil {
		return fmt.Errorf("%s: %w", bare, err)
	}
	c.Add(bare+", p50", micro(b.P50), "µs", [2]*Goal{})
	c.Add(bare+", p99", micro(b.P99), "µs", [2]*Goal{})
	c.Add(what+" against that, p50", float64(took)/float64(b.P50), "times", [2]*Goal{})
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

// checkConcurrent asks 100 actors from 10,000 goroutines at once.
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

// checkSpawn measures from the call that makes an actor to its first reply,
// beside others of its kind.
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

// checkClose closes a runtime with 1000 actors that have all been at work.
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
