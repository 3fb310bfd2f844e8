package cpu

import (
	"errors"
	"fmt"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/synchronous"
	"quern.dev/kernel/host"
)

// inline is one block of a compiled kernel.
type inline struct {
	stream *synchronous.Stream
	id     uint32
	args   host.Args
	host   *host.Call
	output *host.Output // nil unless the kernel prints
}

// NewInline accepts kernels whose blocks do not wait for each other.
func (f *compiled) NewInline(s *synchronous.Stream, l *driver.Frame) (driver.Inline, error) {
	if f.cooperative || f.cluster.X > 0 {
		return nil, fmt.Errorf("the kernel's blocks wait for each other: %w", errors.ErrUnsupported)
	}
	c := &inline{stream: s, id: l.ID}
	for i := range l.Args {
		if a := &l.Args[i]; a.Value != nil {
			c.args.PointValue(i, a.Value, uintptr(a.Size))
		} else {
			c.args.SetSlice(i, a.Data, int(a.Length))
		}
	}
	if f.prints {
		c.output = &host.Output{Size: driver.OutputSize}
	}
	c.host = host.NewCall(f.kernel, &host.Launch{Block: l.Block, DynamicShared: l.Shared, Args: &c.args, Output: c.output})
	return c, nil
}

func (c *inline) Run() error {
	failure := c.host.Run()
	if o := c.output; o != nil {
		var messages []driver.Message
		if text := o.String(); text != "" {
			messages = append(messages, driver.Message{Text: text})
		}
		c.stream.PrintLater(o.Dropped, messages...)
		o.Reset()
	}
	switch {
	case failure == nil:
		return nil
	case failure.Canceled != nil:
		return failure.Canceled
	default:
		return faultOf(failure, c.id)
	}
}

// Running returns true: a run begins at once.
func (c *inline) Running() bool { return true }

func (c *inline) Cancel(cause error) { c.host.Cancel(cause) }
