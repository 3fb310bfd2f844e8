package engine

import (
	"fmt"
	"math/bits"

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

// Chooser decides which engine computes the operations of a stream. It is safe for concurrent
// use. Its implementation is in package chooser.
type Chooser interface {
	// Provider returns the vendor's libraries.
	Provider() Provider

	// Choose returns Quern or Vendor for an operation on s. If that takes a measurement, known
	// is false; then call Measure.
	Choose(s *gpu.Stream, c Class) (e Engine, known bool, err error)

	// Measure decides by measuring on s, which it waits for. An error is one of earlier work
	// on s. problem describes the sizes.
	Measure(s *gpu.Stream, c Class, problem string, t Trial) (Engine, error)

	// FallsBack reports whether Quern's kernels compute an operation after all, because the
	// vendor's library returned err. With Auto they do if it does not support the operands at
	// hand; then it has done nothing.
	FallsBack(c Class, err error) bool
}

// key is the key of the Chooser among the values of a stream.
type key struct{}

// Set sets what chooses the engine of a stream. If c is nil, it is Quern.
func Set(s *gpu.Stream, c Chooser) error { return s.SetValue(key{}, c) }

// Of returns what chooses the engine of a stream, or nil if it is Quern.
func Of(s *gpu.Stream) Chooser {
	c, _ := s.Value(key{}).(Chooser)
	return c
}
