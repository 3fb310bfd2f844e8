// Package chooser implements the engines of streams: it chooses between Quern's kernels and a
// vendor's libraries, with Auto by measuring.
package chooser

import (
	"errors"
	"sync"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Report says how an operation was computed.
type Report struct {
	Operation string        // such as "blas.Gemm"
	Engine    engine.Engine // Quern or Vendor
	Library   string        // and its version, such as "cuBLASLt 13.1.0"; empty for Quern
	Reason    string        // why
}

// String returns, for example, "blas.Gemm: Vendor (cuBLASLt 13.1.0): measured 12µs, Quern 15µs".
func (r Report) String() string {
	if r.Operation == "" {
		return "no operation"
	}
	text := r.Operation + ": " + r.Engine.String()
	if r.Library != "" {
		text += " (" + r.Library + ")"
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// chooser is the engine of a stream.
type chooser struct {
	engine   engine.Engine
	provider engine.Provider
	choices  *choices // of the device

	mu   sync.Mutex
	last Report
}

// Set sets the engine of a stream.
func Set(s *gpu.Stream, e engine.Engine, p engine.Provider) error {
	if e == engine.Quern {
		return engine.Set(s, nil)
	}
	c, err := choicesOf(s.Device())
	if err != nil {
		return err
	}
	return engine.Set(s, &chooser{engine: e, provider: p, choices: c})
}

// Of returns the engine of a stream.
func Of(s *gpu.Stream) engine.Engine {
	if u, ok := engine.Of(s).(*chooser); ok {
		return u.engine
	}
	return engine.Quern
}

// Last returns what computed the last operation on a stream.
func Last(s *gpu.Stream) Report {
	u, ok := engine.Of(s).(*chooser)
	if !ok {
		return Report{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

func (u *chooser) report(r Report) engine.Engine {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = r
	return r.Engine
}

// Provider implements engine.Chooser.
func (u *chooser) Provider() engine.Provider { return u.provider }

// Choose implements engine.Chooser.
func (u *chooser) Choose(s *gpu.Stream, c engine.Class) (e engine.Engine, known bool, err error) {
	switch recording := s.Recording(); {
	case u.engine == engine.Vendor && recording:
		return engine.Vendor, true, &engine.Error{Library: c.Library.String(), Op: c.Operation, Err: errors.ErrUnsupported,
			Reason: "a graph cannot hold calls of the library", Advice: "use engine Auto or Quern on the stream that records"}
	case u.engine == engine.Vendor:
		return u.report(Report{c.Operation, engine.Vendor, u.provider.Version(s.Device(), c.Library), "as the stream asks"}), true, nil
	case recording:
		return u.report(Report{c.Operation, engine.Quern, "", "the stream is recording a graph"}), true, nil
	}
	if x := u.choices.get(c); x != nil {
		return u.report(x.Report), true, nil
	}
	return engine.Quern, false, nil
}

// FallsBack implements engine.Chooser.
func (u *chooser) FallsBack(c engine.Class, err error) bool {
	if u.engine != engine.Auto || err == nil || !errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	u.report(Report{c.Operation, engine.Quern, "", briefly(err)})
	return true
}

// briefly returns what is wrong, without the advice to use Auto.
func briefly(err error) string {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Problem()
	}
	return err.Error()
}
