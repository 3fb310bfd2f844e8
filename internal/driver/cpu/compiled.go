package cpu

import (
	"sync"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/synchronous"
	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// compiled is a kernel that was compiled to Go.
type compiled struct {
	kernel      host.Func
	prints      bool
	cooperative bool
	cluster     kernel.Dim3
	launches    sync.Pool // of *launch
}

// launch holds what one call of host.Execute needs. It is reused.
type launch struct {
	host.Launch
	args host.Args
}

func (f *compiled) Properties() driver.Properties {
	return driver.Properties{MaxThreads: driver.MaxThreadsPerBlock}
}

func (f *compiled) Close() error { return nil }

func (f *compiled) Run(s *synchronous.Stream, l *driver.Frame) (*driver.Fault, error) {
	if f.cooperative {
		if err := driver.CheckCooperative(l.Grid, driver.MaxCooperative); err != nil {
			return nil, err
		}
	}
	h, _ := f.launches.Get().(*launch)
	if h == nil {
		h = new(launch)
		h.Args = &h.args
	}
	for i := range l.Args {
		if a := &l.Args[i]; a.Value != nil {
			h.args.SetValue(i, a.Value, uintptr(a.Size))
		} else {
			h.args.SetSlice(i, a.Data, int(a.Length))
		}
	}
	h.Grid, h.Block, h.DynamicShared = l.Grid, l.Block, l.Shared
	h.Cooperative, h.Cluster = f.cooperative, f.cluster
	h.Interrupt = &s.Interrupt
	if f.prints {
		h.Output = &host.Output{Size: driver.OutputSize}
	}
	failure := host.Execute(f.kernel, &h.Launch)
	if f.prints {
		s.Print(h.Output.Dropped, driver.Message{Text: h.Output.String()})
		h.Output = nil
	}
	h.args.Reset()
	h.Interrupt = nil
	f.launches.Put(h)
	if failure == nil {
		return nil, nil
	}
	return faultOf(failure, l.ID), nil
}

// faultOf converts a kernel failure to a fault. id identifies the kernel in fault
// records.
func faultOf(f *host.Failure, id uint32) *driver.Fault {
	return &driver.Fault{
		ID:       id,
		Site:     -1,
		Kind:     kindOf(f),
		File:     f.File,
		Line:     f.Line,
		Package:  f.Package,
		Reason:   f.Reason,
		Cause:    f.Canceled,
		HasIndex: f.HasIndex,
		Index:    f.Index,
		Length:   f.Length,
		Block:    f.Block,
		Thread:   f.Thread,
	}
}

// kindOf classifies a failure by the text of the Go run-time error.
func kindOf(f *host.Failure) driver.Kind {
	switch {
	case f.Canceled != nil:
		return driver.KindGivenUp
	case f.HasIndex:
		return driver.KindRange
	case f.Reason == "integer divide by zero":
		return driver.KindDivide
	case f.Reason == "negative shift amount":
		return driver.KindShift
	case f.Reason == "invalid memory address or nil pointer dereference":
		return driver.KindNil
	default:
		return driver.KindPanic
	}
}
