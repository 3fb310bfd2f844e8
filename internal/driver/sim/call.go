package sim

import (
	"context"
	"sync"

	"quern.dev/internal/driver"
)

// call is a block of a kernel.
type call struct {
	stream   *stream
	function *function
	frame    *driver.Frame

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the run; nil if there is none
}

func (s *stream) NewCall(f driver.Function, l *driver.Frame) (driver.Call, error) {
	return &call{stream: s, function: f.(*function), frame: l}, nil
}

func (c *call) Run() error {
	c.stream.dev.begin()
	defer c.stream.dev.end()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	c.set(cancel)
	defer c.set(nil)
	fault, err := c.stream.launch(ctx, c.function, c.frame)
	switch {
	case fault == nil || err != nil:
		return err
	case fault.Cause != nil:
		return fault.Cause
	}
	return fault
}

func (c *call) set(cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
}

func (c *call) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel != nil
}

func (c *call) Cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(cause)
	}
}
