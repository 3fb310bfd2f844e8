package gpu

import (
	"errors"
	"fmt"
	"unsafe"

	"quern.dev/internal/driver"
)

// InlineLaunch is a launch of one block that can be run many times.
// [InlineLaunch.Run] runs it on the calling goroutine, outside the order of the
// stream. Devices that work asynchronously do not support it. Only one goroutine at a
// time may run it.
type InlineLaunch struct {
	launch *Launch
	stream *Stream
	drv    driver.Inline
	prints bool
}

// Inline completes a launch as [Launch.End] does, but returns it instead of submitting
// it. The grid must have one block. The buffers are in use until the InlineLaunch is
// closed. If the device does not support inline launches, the error matches
// [errors.ErrUnsupported].
func (l *Launch) Inline() (*InlineLaunch, error) {
	if l == nil || l.stream == nil {
		return nil, driverError("prepare inline launch", invalid("launch was not made by Begin, or has ended"))
	}
	c := &InlineLaunch{launch: l, stream: l.stream, prints: len(l.kernel.info.Formats) > 0}
	err := l.stream.acquire()
	if err == nil {
		if c.drv, err = l.inline(); err == nil {
			return c, nil
		}
		l.stream.release()
	}
	err = l.kernel.failed("prepare inline launch of", err)
	l.drop()
	return nil, err
}

func (l *Launch) inline() (driver.Inline, error) {
	if l.err != nil {
		return nil, l.err
	}
	if want := len(l.frame.Args); l.next != want {
		return nil, invalid("%s, want %d", count(l.next, "argument"), want)
	}
	if err := l.hold(); err != nil {
		return nil, err
	}
	caller, ok := l.stream.drv.(driver.InlineLauncher)
	if !ok {
		return nil, fmt.Errorf("device %s does not run kernels in their caller: %w", l.stream.dev.id, errors.ErrUnsupported)
	}
	for i := range l.params {
		m := l.params[i].memory
		if m == nil {
			continue
		}
		err := m.visit(l.stream)
		if m.view() != nil {
			err = invalid("an inline launch cannot hold a view of a unified array, because the view ends when the host takes one; use a Buffer")
		}
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", l.kernel.info.Params[i].Name, err)
		}
	}
	v, err := l.place()
	if err != nil {
		return nil, err
	}
	if n := l.frame.Grid.Count(); n != 1 {
		return nil, invalid("an inline launch has one block, not %d", n)
	}
	return caller.NewInline(v.function, l.frame)
}

// drop ends the use of the buffers and the kernel.
func (l *Launch) drop() {
	for i := range l.params {
		if m := l.params[i].memory; m != nil {
			m.lease.Closed() // loads the lease; see hold
		}
	}
	for i := range l.params {
		s := &l.params[i]
		m := s.memory
		s.memory = nil
		if !s.held {
			continue
		}
		s.held = false
		if l.special && m.view() != nil {
			m.release()
		} else {
			m.leave()
		}
	}
	if !l.stream.dev.async { // a GPU's arguments are not Go memory
		l.frame.Release()
	}
	l.stream = nil
	k := l.kernel
	k.launches.Put(l)
	k.release()
}

// InlineArg returns a pointer to argument i of the launch, a value of type T. The
// value may be changed between runs.
func InlineArg[T any](c *InlineLaunch, i int) (*T, error) {
	const doing = "change argument of inline launch"
	var zero T
	if err := c.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if n := len(c.launch.frame.Args); i < 0 || i >= n {
		return nil, c.launch.kernel.failed(doing, invalid("argument %d of %d", i, n))
	}
	a := &c.launch.frame.Args[i]
	if a.Value == nil || a.Size != int(unsafe.Sizeof(zero)) {
		return nil, c.launch.kernel.failed(doing, invalid("have %T, want %s", zero, c.launch.kernel.info.param(i).describe()))
	}
	return (*T)(a.Value), nil
}

// Run runs the block and returns when it is done. It returns a fault of the kernel as
// [*KernelError].
func (c *InlineLaunch) Run() error {
	if err := c.check(); err != nil {
		return driverError("run inline launch", err)
	}
	err := c.drv.Run()
	if err == nil && !c.prints {
		return nil
	}
	return c.report(err)
}

// check returns an error if the launch cannot be used.
func (c *InlineLaunch) check() error {
	switch {
	case c == nil:
		return invalid("inline launch is nil")
	case c.launch == nil:
		return closedError("inline launch")
	default:
		return nil
	}
}

func (c *InlineLaunch) report(err error) error {
	if f, ok := err.(*driver.Fault); ok {
		err = c.stream.dev.kernelError(f)
	} else {
		err = driverError("run kernel "+c.launch.kernel.info.Name, err)
	}
	if c.prints {
		err = errors.Join(c.stream.deliver(), err)
	}
	return err
}

// Running reports whether the block is running. Running and Cancel may be called from
// any goroutine.
func (c *InlineLaunch) Running() bool { return c.drv.Running() }

// Cancel ends the run soon: on the simulator before the next instruction, on the CPU
// at the next ordered load of memory. Run then returns the cause.
func (c *InlineLaunch) Cancel(cause error) { c.drv.Cancel(cause) }

// Close ends the use of the buffers. Closing again does nothing.
func (c *InlineLaunch) Close() {
	if c == nil || c.launch == nil {
		return
	}
	s := c.stream
	c.launch.drop()
	c.launch = nil
	s.release()
}
