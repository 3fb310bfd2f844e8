// Package interp runs kernels that exist as PTX on the CPU, for the devices cpu and
// sim. It connects the interface of package driver to package ptxvm: it converts a
// frame to a launch, and the interpreter's faults to those of package driver.
package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quern.dev/internal/driver"
	"quern.dev/internal/ptxvm"
	"quern.dev/kernel"
)

// Function is an interpreted kernel. It is safe for concurrent use.
type Function struct {
	name   string
	label  string
	module *ptxvm.Module
	props  driver.Properties
	placed int // bytes of shared variables in dynamic shared memory
	params int // declared in the PTX

	cooperative bool
}

// Load parses the kernel's PTX.
func Load(k *driver.Kernel) (*Function, error) {
	m, err := ptxvm.Parse(k.PTX)
	if err != nil {
		return nil, fmt.Errorf("PTX of kernel %s: %w", k.Name, err)
	}
	e := m.Entry(k.Name)
	if e == nil {
		return nil, fmt.Errorf("PTX of kernel %s has no entry of that name", k.Name)
	}
	return &Function{
		name:   k.Name,
		label:  k.Label,
		module: m,
		placed: k.Placed,

		cooperative: k.Cooperative,
		params:      len(e.Params),
		props: driver.Properties{
			MaxThreads: driver.MaxThreadsPerBlock,
			Registers:  e.Registers,
			Shared:     e.SharedSize,
			Local:      e.LocalSize,
		},
	}, nil
}

// Properties returns the resources that the kernel uses. Registers are virtual and
// limit nothing.
func (f *Function) Properties() driver.Properties { return f.props }

// Cooperative reports whether launches need the counter of arrivals to be zero.
func (f *Function) Cooperative() bool { return f.cooperative }

// Unload frees the kernel's variables in m.
func (f *Function) Unload(m *ptxvm.Memory) { m.Unload(f.module) }

// Options control how a kernel runs.
type Options struct {
	Memory *ptxvm.Memory
	Checks bool
	Steps  int64 // of all threads together, 0 for no limit

	// Counter counts what launches do, if it is not nil. Counted, if it is not nil, is called
	// after each.
	Counter *ptxvm.Counter
	Counted func()

	// Recorded returns the fault found by the kernel's own checks, or nil.
	Recorded func() (*driver.Fault, error)

	Context context.Context // cancels the launch; nil: cannot be cancelled
}

// Run runs the kernel and waits for its end. It returns what stopped the kernel as
// [*driver.Fault]. A failed check of the kernel takes precedence: the interpreter ends
// the launch at the first fault that it detects itself, which may be a consequence of
// the thread that the check stopped, such as a read of what that thread would have
// written, or a wait for it.
func (f *Function) Run(l *driver.Frame, o Options) error {
	err := f.run(l, o)
	recorded, failure := o.Recorded()
	switch {
	case failure != nil:
		return errors.Join(err, failure)
	case recorded != nil:
		return recorded
	}
	return err
}

func (f *Function) run(l *driver.Frame, o Options) error {
	if f.cooperative {
		if err := driver.CheckCooperative(l.Blocks(), driver.MaxCooperative); err != nil {
			return err
		}
	}
	l.Stated = uint32(l.Grid.X)
	grid := l.Blocks()
	ctx := o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	err := f.module.Launch(ctx, f.name, ptxvm.Config{
		Grid:          [3]int{grid.X, grid.Y, grid.Z},
		Block:         [3]int{l.Block.X, l.Block.Y, l.Block.Z},
		DynamicShared: l.Shared + f.placed,
		Params:        l.Bytes[:max(len(l.Bytes)-1, min(len(l.Bytes), f.params))],
		Memory:        o.Memory,
		Checks:        o.Checks,
		Cooperative:   f.cooperative,
		MaxSteps:      o.Steps,
		Counter:       o.Counter,
		Label:         f.label,
	})
	if o.Counted != nil {
		o.Counted()
	}
	if fault, ok := errors.AsType[*ptxvm.Fault](err); ok {
		return translate(fault, l)
	}
	return err
}

var kinds = map[ptxvm.Kind]driver.Kind{
	ptxvm.OutOfBounds:      driver.KindMemory,
	ptxvm.ReadOnly:         driver.KindMemory,
	ptxvm.Misaligned:       driver.KindMisaligned,
	ptxvm.UseAfterFree:     driver.KindFreed,
	ptxvm.Uninitialised:    driver.KindUninitialized,
	ptxvm.SharedRace:       driver.KindRace,
	ptxvm.GlobalRace:       driver.KindRace,
	ptxvm.DivergentBarrier: driver.KindBarrier,
	ptxvm.DivergentWarp:    driver.KindBarrier,
	ptxvm.StepBudget:       driver.KindBudget,
	ptxvm.Trap:             driver.KindTrap,
	ptxvm.IllegalOperand:   driver.KindTrap,
	ptxvm.GivenUp:          driver.KindGivenUp,
}

func translate(f *ptxvm.Fault, l *driver.Frame) *driver.Fault {
	reason := f.Kind.String()
	if f.Detail != "" {
		reason += ": " + f.Detail
	}
	switch {
	case f.Kind != ptxvm.Uninitialised:
	case strings.Contains(f.Detail, "asynchronous copy"):
		reason += "; is the wait for it missing, or an AsyncCommit or a barrier before it?"
	case strings.HasPrefix(f.Detail, "shared "):
		reason += "; is a t.Sync() missing?"
	}
	block, thread := first(f.Site, l)
	fault := &driver.Fault{
		Access: accessOf(f, l),
		ID:     l.ID,
		Site:   -1,
		Kind:   kinds[f.Kind],
		File:   f.File,
		Line:   f.Line,
		Reason: reason,
		Cause:  f.Cause,
		Block:  block,
		Thread: thread,
	}
	if f.Other != nil {
		fault.Other = &driver.Other{File: f.Other.File, Line: f.Other.Line}
		fault.Other.Block, fault.Other.Thread = first(*f.Other, l)
	}
	return fault
}

// first returns the block and the thread of the kernel as written that are at s, the first
// ones if a thread runs several.
func first(s ptxvm.Site, l *driver.Frame) (block, thread kernel.Dim3) {
	return l.First(kernel.Dim3{X: s.Block[0], Y: s.Block[1], Z: s.Block[2]}, kernel.Dim3{X: s.Thread[0], Y: s.Thread[1], Z: s.Thread[2]})
}

// accessOf describes a fault's access to global memory, or returns nil if it was not
// one.
func accessOf(f *ptxvm.Fault, l *driver.Frame) *driver.Access {
	g := f.Global
	if g == nil {
		return nil
	}
	a := &driver.Access{Address: f.Address, Size: g.Size, Write: g.Write, Lo: g.Lo, Hi: g.Hi, Where: g.Where}
	for i := range l.Args {
		if arg := &l.Args[i]; arg.Value == nil {
			a.Slices = append(a.Slices, driver.SliceArg{Param: i, Addr: arg.Addr, Length: arg.Length})
		}
	}
	return a
}
