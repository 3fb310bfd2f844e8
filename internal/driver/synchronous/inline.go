package synchronous

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"quern.dev/internal/driver"
)

// NewInline prepares launches of one block that run in the caller and do not wait for
// the stream.
func (s *Stream) NewInline(f driver.Function, l *driver.Frame) (driver.Inline, error) {
	return f.(Kernel).NewInline(s, l)
}

// inline is one block of a kernel in PTX.
type inline struct {
	stream *Stream
	kernel *Interpreted
	frame  *driver.Frame

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the run; nil between runs
}

// NewInline requires streams that share a turn: the block uses the control block of its
// stream.
func (k *Interpreted) NewInline(s *Stream, l *driver.Frame) (driver.Inline, error) {
	if s.dev.Shared == nil {
		return nil, fmt.Errorf("the kernel is not compiled to Go: %w", errors.ErrUnsupported)
	}
	return &inline{stream: s, kernel: k, frame: l}, nil
}

func (c *inline) Run() error {
	turn := c.stream.dev.Shared
	turn.Begin()
	defer turn.End()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	c.set(cancel)
	defer c.set(nil)
	fault, err := c.kernel.RunContext(ctx, c.stream, c.frame)
	switch {
	case fault == nil || err != nil:
		return err
	case fault.Cause != nil:
		return fault.Cause
	}
	return fault
}

func (c *inline) set(cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
}

func (c *inline) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel != nil
}

func (c *inline) Cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(cause)
	}
}
