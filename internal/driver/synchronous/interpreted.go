package synchronous

import (
	"context"
	"errors"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/interp"
)

// Interpreted is a kernel in PTX.
type Interpreted struct {
	*interp.Function
	options interp.Options // except Context and Recorded
	prints  bool
}

// Interpret loads the PTX of a kernel, to run with the memory, checks and step limit in
// o.
func Interpret(k *driver.Kernel, o interp.Options) (*Interpreted, error) {
	f, err := interp.Load(k)
	if err != nil {
		return nil, err
	}
	return &Interpreted{f, o, k.Prints}, nil
}

// Run runs the kernel until it ends or the stream is interrupted.
func (k *Interpreted) Run(s *Stream, l *driver.Frame) (*driver.Fault, error) {
	ctx, end := s.Interrupt.Context()
	defer end()
	return k.RunContext(ctx, s, l)
}

// RunContext runs the kernel until it ends or ctx is cancelled. The caller holds the
// stream's turn.
func (k *Interpreted) RunContext(ctx context.Context, s *Stream, l *driver.Frame) (*driver.Fault, error) {
	c, m := &s.control, s.dev.Memory
	if err := c.open(m, k.prints); err != nil {
		return nil, err
	}
	l.Control = c.block.Addr
	o := k.options
	o.Context, o.Recorded = ctx, func() (*driver.Fault, error) { return c.recorded(m) }
	err := k.Function.Run(l, o)
	fault, ok := errors.AsType[*driver.Fault](err)
	if ok {
		err = nil
	}
	if k.prints {
		messages, dropped, failed := c.printed(m)
		s.Print(dropped, messages...)
		err = errors.Join(err, failed)
	}
	return fault, err
}

// Close does nothing: the garbage collector frees the kernel.
func (k *Interpreted) Close() error { return nil }
