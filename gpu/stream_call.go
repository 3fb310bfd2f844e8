package gpu

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Call makes f run when the work that was asked for so far is done; work that is
// asked for later begins after f has returned. On a GPU, Call returns before f
// runs, like all that adds work.
//
// f runs on a goroutine of its own. As long as it runs it holds up its stream
// and what waits for the whole device, such as loading a kernel, making a stream
// or freeing memory; work of other streams goes on. So f should be short and must
// not use the device: what is to be done with it then is for a goroutine that f
// starts or tells. A use of the stream by f would wait for f itself, and is an
// error that matches [ErrInvalid], as is [Device.Synchronize] or [Device.Close]
// there. That f waits for another goroutine which uses the stream is not noticed.
//
// An error of f is returned by the next wait on the stream, once, and so is a
// panic, as [*PanicError]. The first error is kept until it is returned. If the
// device fails before, f does not run, and the wait returns why.
func (s *Stream) Call(f func() error) error {
	c, err := s.enter()
	if err != nil {
		return driverError("call", err)
	}
	defer s.release()
	if f == nil {
		return driverError("call", invalid("function is nil"))
	}
	if c != nil {
		return driverError("call", c.call(s, f))
	}
	return driverError("call", callHost(s.drv, func() {
		err := onGoroutine(func() error {
			defer s.callers.Enter()()
			return f()
		})
		if err != nil {
			s.failed.CompareAndSwap(nil, &err)
		}
		s.called.Add(1)
	}))
}

// onGoroutine runs f on a goroutine of its own, so that whatever f does to its
// goroutine, which may be to end it, is done to no other.
func onGoroutine(f func() error) error {
	result := make(chan error, 1)
	go func() {
		err := errors.New("the function ended its goroutine")
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
			result <- err
		}()
		err = f()
	}()
	return <-result
}

// notCalled returns an error if the goroutine runs a function that the stream
// calls, for which what it is about to do would wait.
func (s *Stream) notCalled() error {
	if s.callers.Here() {
		return invalid("the stream waits for this function to return, which uses it; leave that to a goroutine that the function starts")
	}
	return nil
}

// notCalled is that of the device's streams and graphs.
func (d *Device) notCalled() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.streams {
		if err := s.notCalled(); err != nil {
			return err
		}
	}
	for e := range d.graphs {
		if err := e.notCalled(); err != nil {
			return err
		}
	}
	return nil
}

// callError returns the error of a function in the stream, once.
func (s *Stream) callError() error {
	// What the functions did happens before the wait returns. The device sees to
	// the order, of which Go's memory model knows nothing.
	s.called.Load()
	if s.failed.Load() == nil {
		return nil
	}
	if err := s.failed.Swap(nil); err != nil {
		return driverError("call", *err)
	}
	return nil
}

// PanicError is the panic of a function that a stream or [OnEach] called.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine, as debug.Stack writes it
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
