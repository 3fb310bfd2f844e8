package engine

import (
	"fmt"
	"sync"

	"quern.dev/gpu"
)

// Engine is an implementation of library functions.
type Engine uint8

// The engines. The default is Quern.
const (
	Quern  Engine = iota // Quern's kernels
	Vendor               // the libraries of the device's vendor
	Auto                 // what is faster for the sizes at hand
)

// String returns "Quern", "Vendor" or "Auto".
func (e Engine) String() string {
	switch e {
	case Quern:
		return "Quern"
	case Vendor:
		return "Vendor"
	case Auto:
		return "Auto"
	}
	return fmt.Sprintf("Engine(%d)", uint8(e))
}

// Report says how an operation was computed.
type Report struct {
	Operation string // such as "blas.Gemm"
	Engine    Engine // Quern or Vendor
	Library   string // and its version, such as "cuBLASLt 13.1.0"; empty for Quern
	Reason    string // why
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

// Setting is the engine of a stream. It is safe for concurrent use.
type Setting struct {
	Engine   Engine
	Provider Provider

	choices *choices // of the device

	mu   sync.Mutex
	last Report
}

// key is the key of the setting among the values of a stream.
type key struct{}

// Set sets the engine of a stream.
func Set(s *gpu.Stream, e Engine, p Provider) error {
	if e == Quern {
		return s.SetValue(key{}, (*Setting)(nil))
	}
	c, err := choicesOf(s.Device())
	if err != nil {
		return err
	}
	return s.SetValue(key{}, &Setting{Engine: e, Provider: p, choices: c})
}

// Of returns the engine of a stream, or nil if that is Quern.
func Of(s *gpu.Stream) *Setting {
	u, _ := s.Value(key{}).(*Setting)
	return u
}

// Last returns what computed the last operation that Choose decided. It is safe to call on nil.
func (u *Setting) Last() Report {
	if u == nil {
		return Report{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

func (u *Setting) report(r Report) Engine {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = r
	return r.Engine
}
