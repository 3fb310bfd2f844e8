package chooser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Choice is the result of a measurement.
type Choice struct {
	Report
	Problem     string        // the sizes that were measured
	Own, Vendor time.Duration // 0 if it was not measured
}

// choices are the results for a device.
type choices struct {
	mu    sync.RWMutex
	known map[engine.Class]*Choice
	order []*Choice

	measuring sync.Mutex // so that measurements do not disturb each other
}

var devices sync.Map // *gpu.Device -> *choices

func choicesOf(d *gpu.Device) (*choices, error) {
	if c, ok := devices.Load(d); ok {
		return c.(*choices), nil
	}
	fresh := &choices{known: make(map[engine.Class]*Choice)}
	if c, ok := devices.LoadOrStore(d, fresh); ok {
		return c.(*choices), nil
	}
	err := d.OnClose(func() error {
		devices.Delete(d)
		return nil
	})
	if err != nil {
		devices.Delete(d)
		return nil, err
	}
	return fresh, nil
}

// Choices returns the results for a device, oldest first.
func Choices(d *gpu.Device) []Choice {
	c, ok := devices.Load(d)
	if !ok {
		return nil
	}
	list := c.(*choices)
	list.mu.RLock()
	defer list.mu.RUnlock()
	var out []Choice
	for _, x := range list.order {
		out = append(out, *x)
	}
	return out
}

func (c *choices) get(k engine.Class) *Choice {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[k]
}

func (c *choices) put(k engine.Class, x *Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[k] == nil {
		c.order = append(c.order, x)
	}
	c.known[k] = x
}

// tune measures. Tests replace it.
var tune = gpu.Tune

// Measure implements engine.Chooser.
func (u *chooser) Measure(s *gpu.Stream, c engine.Class, problem string, t engine.Trial) (engine.Engine, error) {
	ctx := context.Background()
	if err := s.Synchronize(ctx); err != nil {
		return engine.Quern, err
	}
	list := u.choices
	list.measuring.Lock()
	defer list.measuring.Unlock()
	if x := list.get(c); x != nil { // measured in the meantime
		return u.report(x.Report), nil
	}
	x := &Choice{Problem: problem, Report: Report{Operation: c.Operation}}
	if err := t.Check(); err != nil {
		x.Reason = briefly(err)
		list.put(c, x)
		return u.report(x.Report), nil
	}
	result, err := gpu.Acquire[byte](s.Device().Pool(), s, max(t.Bytes, 1))
	if err != nil {
		// Not kept: there may be memory the next time.
		x.Reason = fmt.Sprintf("no memory to measure: %v", err)
		return u.report(x.Report), nil
	}
	defer result.Close()
	version := u.provider.Version(s.Device(), c.Library)
	tuned, err := tune(ctx, s, gpu.Tuning{
		Name:    "engine of " + c.Operation,
		Problem: fmt.Sprintf("%s; %v; %s", problem, c.Numbers, version),
		Candidates: []gpu.Candidate{
			{Name: engine.Quern.String(), Launch: func(s *gpu.Stream) error { return t.Own(s, result) }},
			{Name: engine.Vendor.String(), Launch: func(s *gpu.Stream) error { return t.Vendor(s, result) }},
		},
	})
	if err != nil { // not kept; what is wrong shows when the operation runs
		x.Reason = fmt.Sprintf("the measurement failed: %v", err)
		return u.report(x.Report), nil
	}
	x.decide(tuned, version)
	list.put(c, x)
	return u.report(x.Report), nil
}

// decide sets the result from a measurement.
func (x *Choice) decide(t *gpu.Tuned, version string) {
	times := make(map[string]time.Duration)
	for _, r := range t.Trials {
		times[r.Name] = r.Median
		if r.Err != nil {
			x.Reason = r.Name + " failed: " + firstLine(r.Err)
		}
	}
	x.Own, x.Vendor = times[engine.Quern.String()], times[engine.Vendor.String()]
	if t.Winner == engine.Vendor.String() {
		x.Engine, x.Library = engine.Vendor, version
	}
	if x.Reason == "" {
		x.Reason = fmt.Sprintf("measured %v, Quern %v", x.Vendor, x.Own)
		if x.Engine == engine.Quern {
			x.Reason = fmt.Sprintf("measured %v, %s %v", x.Own, version, x.Vendor)
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
