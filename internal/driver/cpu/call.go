package cpu

import (
	"errors"
	"fmt"

	"quern.dev/internal/driver"
	"quern.dev/kernel/host"
)

// call is a block of a compiled kernel.
type call struct {
	stream *stream
	id     uint32
	args   host.Args
	host   *host.Call
	output *host.Output // nil unless the kernel prints
}

// NewCall prepares calls of a compiled kernel. Blocks of an interpreted one report
// their faults through the stream, which they would have to wait for.
func (s *stream) NewCall(f driver.Function, l *driver.Frame) (driver.Call, error) {
	k, ok := f.(*compiled)
	if !ok || k.cooperative || k.cluster.X > 0 {
		return nil, fmt.Errorf("a kernel that runs in its caller is compiled to Go, and its blocks do not wait for each other: %w", errors.ErrUnsupported)
	}
	c := &call{stream: s, id: l.ID}
	for i := range l.Args {
		if a := &l.Args[i]; a.Value != nil {
			c.args.PointValue(i, a.Value, uintptr(a.Size))
		} else {
			c.args.SetSlice(i, a.Data, int(a.Length))
		}
	}
	if k.prints {
		c.output = &host.Output{Size: driver.OutputSize}
	}
	c.host = host.NewCall(k.kernel, &host.Launch{Block: l.Block, DynamicShared: l.Shared, Args: &c.args, Output: c.output})
	return c, nil
}

func (c *call) Run() error {
	failure := c.host.Run()
	if c.output != nil {
		c.stream.took(c.output)
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

// Running reports true: a run begins at once.
func (c *call) Running() bool { return true }

func (c *call) Cancel(cause error) { c.host.Cancel(cause) }

// took takes over what a call has printed.
func (s *stream) took(o *host.Output) {
	s.begin()
	defer s.end()
	if text := o.String(); text != "" {
		s.messages = append(s.messages, driver.Message{Text: text})
	}
	s.dropped += o.Dropped
	o.Reset()
}
