package cpu

import (
	"quern.dev/internal/driver"
	"quern.dev/internal/driver/interp"
	"quern.dev/internal/ptxvm"
)

// interpreted is a kernel that exists as PTX alone. Its addresses are Go
// pointers.
type interpreted struct {
	*interp.Function
	memory *ptxvm.Memory
	prints bool
}

func loadPTX(k *driver.Kernel) (driver.Function, error) {
	f, err := interp.Load(k)
	if err != nil {
		return nil, err
	}
	return &interpreted{f, ptxvm.NewDirectMemory(), k.Prints}, nil
}

func (f *interpreted) Close() error { return nil }

func (f *interpreted) run(s *stream, l *driver.Frame) error {
	if f.prints && s.printed == nil {
		s.printed = make([]uint64, driver.OutputSize/8)
	}
	s.resetControl()
	clear(s.record)
	ctx, end := s.Interrupt.Context()
	defer end()
	err := f.Run(l, interp.Options{Memory: f.memory, Context: ctx, Recorded: func() (*driver.Fault, error) {
		return driver.Record(s.record), nil
	}})
	if f.prints {
		s.collect()
	}
	return err
}
