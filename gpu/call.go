package gpu

import (
	"errors"
	"fmt"
	"unsafe"

	"quern.dev/internal/driver"
)

// Call is a launch of one block that is kept to be run again and again: the
// arguments stay as they are, and the block runs in the goroutine that asks for
// it, beside the work of the stream. Devices that work while the host does
// something else have none. One goroutine at a time may run it.
type Call struct {
	launch *Launch
	stream *Stream
	drv    driver.Inline
	prints bool
}

// Keep ends the putting together of a launch like [Launch.End], but returns it as
// a Call instead of handing it to the device. The grid is one block. The buffers
// are in use until the Call is closed. If the device has no calls, the error is
// [errors.ErrUnsupported].
func (l *Launch) Keep() (*Call, error) {
	if l == nil || l.stream == nil {
		return nil, driverError("keep launch", invalid("launch was not made by Begin, or has ended"))
	}
	c := &Call{launch: l, stream: l.stream, prints: len(l.kernel.info.Formats) > 0}
	err := l.stream.acquire()
	if err == nil {
		if c.drv, err = l.call(); err == nil {
			return c, nil
		}
		l.stream.release()
	}
	err = l.kernel.failed("keep launch of", err)
	l.drop()
	return nil, err
}

func (l *Launch) call() (driver.Inline, error) {
	if l.err != nil {
		return nil, l.err
	}
	if want := len(l.frame.Args); l.next != want {
		return nil, invalid("%s, want %d", count(l.next, "argument"), want)
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
		if m.parent != nil {
			err = invalid("a call cannot hold a view of a unified array, which ends when the host takes one; use a Buffer")
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
		return nil, invalid("a call of %d blocks; it is one", n)
	}
	return caller.NewInline(v.function, l.frame)
}

// drop ends the use of the buffers and of the kernel.
func (l *Launch) drop() {
	for i := range l.params {
		m := l.params[i].memory
		if m == nil {
			continue
		}
		if m.parent != nil {
			m.release()
		} else {
			m.leave()
		}
		l.params[i].memory = nil
	}
	if !l.stream.dev.async { // a GPU's arguments are no memory of Go
		l.frame.Release()
	}
	l.stream = nil
	k := l.kernel
	k.launches.Put(l)
	k.release()
}

// CallArg returns argument number i of the call, a value of type T, which may be
// changed between runs.
func CallArg[T any](c *Call, i int) (*T, error) {
	const doing = "change argument of call"
	var zero T
	if err := c.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if n := len(c.launch.frame.Args); i < 0 || i >= n {
		return nil, c.launch.kernel.failed(doing, invalid("argument %d of %d", i, n))
	}
	a := &c.launch.frame.Args[i]
	if a.Value == nil || a.Size != int(unsafe.Sizeof(zero)) {
		return nil, c.launch.kernel.failed(doing, invalid("have %T, want %s", zero, c.launch.kernel.info.Params[i].describe()))
	}
	return (*T)(a.Value), nil
}

// Run runs the block and returns when it is done. A fault is returned at once, as
// [*KernelError].
func (c *Call) Run() error {
	if err := c.check(); err != nil {
		return driverError("run call", err)
	}
	err := c.drv.Run()
	if err == nil && !c.prints {
		return nil
	}
	return c.report(err)
}

// check reports why the call cannot be used.
func (c *Call) check() error {
	switch {
	case c == nil:
		return invalid("call is nil")
	case c.launch == nil:
		return closedError("call")
	default:
		return nil
	}
}

func (c *Call) report(err error) error {
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

// Running reports whether the block runs at the moment. It may be called from any
// goroutine, as Cancel may.
func (c *Call) Running() bool { return c.drv.Running() }

// Cancel ends the run soon, if the device can: the simulator between any two
// instructions, the CPU at the next ordered load of memory. Run then returns the
// cause.
func (c *Call) Cancel(cause error) { c.drv.Cancel(cause) }

// Close ends the use of the buffers. Closing again does nothing.
func (c *Call) Close() {
	if c == nil || c.launch == nil {
		return
	}
	s := c.stream
	c.launch.drop()
	c.launch = nil
	s.release()
}
