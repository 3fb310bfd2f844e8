package engine

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"time"

	"quern.dev/gpu"
)

// Class is a class of problems for which the same implementation is the faster one.
type Class struct {
	Operation string  // such as "blas.Gemm"
	Library   Library // that computes it, too
	Numbers   [14]int // types, forms, and sizes in the units of Size
}

// Size returns a number that sizes of about the same magnitude share: there are four of them
// between a power of two and the next.
func Size(n int) int {
	if n < 8 {
		return n
	}
	shift := bits.Len(uint(n)) - 3
	return (n>>shift + 4*shift)
}

// Trial is what Auto needs for a measurement. The functions write the result to memory of that
// many bytes, instead of the operands.
type Trial struct {
	Bytes       int
	Check       func() error // whether the vendor's library can compute this
	Own, Vendor func(s *gpu.Stream, result *gpu.Buffer[byte]) error
}

// Choice is the result of a measurement.
type Choice struct {
	Report
	Problem     string        // the sizes that were measured
	Own, Vendor time.Duration // 0 if it was not measured
}

// choices are the results for a device.
type choices struct {
	mu    sync.RWMutex
	known map[Class]*Choice
	order []*Choice

	measuring sync.Mutex // so that measurements do not disturb each other
}

var devices sync.Map // *gpu.Device -> *choices

func choicesOf(d *gpu.Device) (*choices, error) {
	if c, ok := devices.Load(d); ok {
		return c.(*choices), nil
	}
	fresh := &choices{known: make(map[Class]*Choice)}
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

func (c *choices) get(k *Class) *Choice {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[*k]
}

func (c *choices) put(k *Class, x *Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[*k] == nil {
		c.order = append(c.order, x)
	}
	c.known[*k] = x
}

// Choose returns Quern or Vendor for an operation on s, whose setting u is. If that takes a
// measurement, known is false; then call Measure.
func (u *Setting) Choose(s *gpu.Stream, c *Class) (e Engine, known bool, err error) {
	switch recording := s.Recording(); {
	case u.Engine == Vendor && recording:
		return Vendor, true, &Error{Library: c.Library.String(), Op: c.Operation, Err: errors.ErrUnsupported,
			Reason: "a graph cannot hold calls of the library", Advice: "use engine Auto or Quern on the stream that records"}
	case u.Engine == Vendor:
		return u.report(Report{c.Operation, Vendor, u.Provider.Version(s.Device(), c.Library), "as the stream asks"}), true, nil
	case recording:
		return u.report(Report{c.Operation, Quern, "", "the stream is recording a graph"}), true, nil
	}
	if x := u.choices.get(c); x != nil {
		return u.report(x.Report), true, nil
	}
	return Quern, false, nil
}

// FallsBack reports whether Quern's kernels compute an operation after all, because the vendor's
// library returned err. With Auto they do if it does not support the operands at hand; then it
// has done nothing.
func (u *Setting) FallsBack(c *Class, err error) bool {
	if u.Engine != Auto || err == nil || !errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	u.report(Report{c.Operation, Quern, "", err.Error()})
	return true
}

// tune measures. Tests replace it.
var tune = gpu.Tune

// Measure decides by measuring on s, which it waits for. An error is one of earlier work on s.
// problem describes the sizes.
func (u *Setting) Measure(s *gpu.Stream, c Class, problem string, t Trial) (Engine, error) {
	ctx := context.Background()
	if err := s.Synchronize(ctx); err != nil {
		return Quern, err
	}
	list := u.choices
	list.measuring.Lock()
	defer list.measuring.Unlock()
	if x := list.get(&c); x != nil { // measured in the meantime
		return u.report(x.Report), nil
	}
	x := &Choice{Problem: problem, Report: Report{Operation: c.Operation}}
	if err := t.Check(); err != nil {
		x.Reason = err.Error()
		list.put(&c, x)
		return u.report(x.Report), nil
	}
	result, err := gpu.Acquire[byte](s.Device().Pool(), s, max(t.Bytes, 1))
	if err != nil {
		// Not kept: there may be memory the next time.
		x.Reason = fmt.Sprintf("no memory to measure: %v", err)
		return u.report(x.Report), nil
	}
	defer result.Close()
	version := u.Provider.Version(s.Device(), c.Library)
	tuned, err := tune(ctx, s, gpu.Tuning{
		Name:    "engine of " + c.Operation,
		Problem: fmt.Sprintf("%s; %v; %s", problem, c.Numbers, version),
		Candidates: []gpu.Candidate{
			{Name: Quern.String(), Launch: func(s *gpu.Stream) error { return t.Own(s, result) }},
			{Name: Vendor.String(), Launch: func(s *gpu.Stream) error { return t.Vendor(s, result) }},
		},
	})
	if err != nil { // not kept; what is wrong shows when the operation runs
		x.Reason = fmt.Sprintf("the measurement failed: %v", err)
		return u.report(x.Report), nil
	}
	x.decide(tuned, version)
	list.put(&c, x)
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
	x.Own, x.Vendor = times[Quern.String()], times[Vendor.String()]
	if t.Winner == Vendor.String() {
		x.Engine, x.Library = Vendor, version
	}
	if x.Reason == "" {
		x.Reason = fmt.Sprintf("measured %v, Quern %v", x.Vendor, x.Own)
		if x.Engine == Quern {
			x.Reason = fmt.Sprintf("measured %v, %s %v", x.Own, version, x.Vendor)
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
