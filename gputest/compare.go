package gputest

import (
	"slices"
	"testing"

	"quern.dev/gpu"
)

// Argument is a slice argument of a kernel. Each device and plain Go get their
// own copy. See [Slice] and [Output].
type Argument interface {
	begin() error                                       // makes the copy for plain Go
	upload(t *testing.T, dev *gpu.Device, written bool) // makes the copy for a device
	check(t *testing.T, dev *gpu.Device)                // compares the two
	isOutput() bool
}

// Arg is a slice argument of elements of type T.
type Arg[T any] struct {
	values     []T
	output     bool
	comparison *comparison
	err        error

	host   []T
	device *gpu.Buffer[T]
}

// Slice returns an argument with the given values. Each device and plain Go get
// their own copy. The options define how the resulting values are compared. The
// name appears in messages.
func Slice[T any](name string, values []T, opts ...Option) *Arg[T] {
	a := &Arg[T]{values: values}
	a.comparison, a.err = newComparison[T](append([]Option{Name(name)}, opts...))
	return a
}

// Output returns an argument of n elements that the kernel only writes. Before
// the run it is filled with poison that differs between devices and plain Go. The
// comparison therefore finds elements that only one of them writes, and results
// computed from elements that were not written yet.
func Output[T any](name string, n int, opts ...Option) *Arg[T] {
	a := Slice(name, make([]T, max(n, 0)), opts...)
	a.output, a.comparison.poisoned = true, true
	return a
}

// Device returns the argument's buffer on the device under test, for the launch.
func (a *Arg[T]) Device() *gpu.Buffer[T] { return a.device }

// Host returns the argument's slice for plain Go.
func (a *Arg[T]) Host() []T { return a.host }

func (a *Arg[T]) isOutput() bool { return a.output }

func (a *Arg[T]) begin() error {
	a.host = slices.Clone(a.values)
	if a.output {
		fill(a.host, ofHost)
	}
	return a.err
}

func (a *Arg[T]) upload(t *testing.T, dev *gpu.Device, written bool) {
	t.Helper()
	switch {
	case !a.output:
		a.device = Upload(t, dev, a.values)
	case written:
		a.device = Alloc[T](t, dev, len(a.values))
	default:
		b, err := gpu.Alloc[T](dev, len(a.values))
		a.device = closeAtEnd(t, b, err)
	}
}

func (a *Arg[T]) check(t *testing.T, dev *gpu.Device) {
	t.Helper()
	if message := compare(a.comparison, Download(t, dev, a.device), a.host); message != "" {
		t.Error(message)
	}
}

// Compare runs plain once, and launch on every device as [Each] does, on copies
// of the arguments. It then compares all arguments with those of plain. launch
// submits work to the stream with the arguments' buffers ([Arg.Device]). plain
// computes the same in plain Go with the arguments' slices ([Arg.Host]), usually
// by calling the kernel's function with [kernel.Each]. Arguments that are only
// read must remain unchanged.
//
// If there are outputs, the simulator runs launch twice. In the first run the
// outputs are uninitialized, so the simulator finds elements that a kernel reads
// before they are written.
func Compare(t *testing.T, launch func(s *gpu.Stream) error, plain func(), args ...Argument) {
	t.Helper()
	if launch == nil || plain == nil {
		t.Fatal("gputest.Compare: launch or plain is nil")
	}
	outputs := false
	for i, a := range args {
		if a == nil {
			t.Fatalf("gputest.Compare: argument %d is nil", i)
		}
		if err := a.begin(); err != nil {
			t.Fatalf("gputest.Compare: %v", err)
		}
		outputs = outputs || a.isOutput()
	}
	plain()
	Each(t, func(t *testing.T, dev *gpu.Device) {
		t.Helper()
		s := dev.DefaultStream()
		run := func(written bool) {
			t.Helper()
			for _, a := range args {
				a.upload(t, dev, written)
			}
			if err := launch(s); err != nil {
				t.Fatal(err)
			}
			if err := s.Synchronize(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if dev.Backend() == gpu.Sim && outputs {
			run(false)
		}
		run(true)
		for _, a := range args {
			a.check(t, dev)
		}
	})
}
