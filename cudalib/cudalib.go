package cudalib

import (
	"errors"

	"quern.dev/gpu"
	"quern.dev/internal/culib"
	"quern.dev/internal/engine"
	"quern.dev/internal/engine/chooser"
)

// Engine says what computes the operations of a stream.
type Engine = engine.Engine

// The engines.
const (
	Quern  = engine.Quern  // Quern's own kernels
	Vendor = engine.Vendor // cuBLASLt, cuFFT and cuSPARSE
	Auto   = engine.Auto   // the faster one
)

// Report says what computed an operation, and why.
type Report = chooser.Report

// Choice is a measurement of Auto: the times of both engines, and the winner.
type Choice = chooser.Choice

// Error is an operation that a library cannot compute.
type Error = engine.Error

// Library describes a library: its name, the file, the version, or why it cannot be used.
type Library = culib.Info

// ErrMissing is matched by errors of libraries that are not installed, or too old.
var ErrMissing = culib.ErrMissing

// Use sets the engine of operations that are added to s from now on. Vendor needs a GPU:
// otherwise the error matches errors.ErrUnsupported. A missing library is an error of the
// operations that need it.
func Use(s *gpu.Stream, e Engine) error {
	d := s.Device()
	switch {
	case e > Auto:
		return &Error{Library: "cudalib", Reason: e.String() + " is not an engine", Advice: "use Auto, Quern or Vendor", Err: gpu.ErrInvalid}
	case e == Vendor && d != nil && d.Backend() != gpu.CUDA:
		return &Error{Library: "cudalib", Reason: d.ID() + " is not a CUDA device", Advice: "use engine Auto or Quern", Err: errors.ErrUnsupported}
	}
	return chooser.Set(s, e, culib.Provider{})
}

// EngineOf returns the engine of a stream.
func EngineOf(s *gpu.Stream) Engine { return chooser.Of(s) }

// Ran returns what computed the last operation on s that has two engines. It is empty if there
// was none since Use, or if the engine of s is Quern.
func Ran(s *gpu.Stream) Report { return chooser.Last(s) }

// Choices returns what Auto has decided on a device, oldest first.
func Choices(d *gpu.Device) []Choice { return chooser.Choices(d) }

// Libraries opens the libraries, if they are not open yet, and describes them. d must be open.
func Libraries(d *gpu.Device) []Library { return culib.Libraries(d) }
