package gpu

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Call runs f after all work that was added so far; later work begins after f has returned.
// On a GPU, Call returns before f runs.
//
// f runs on its own goroutine. Until it returns, f blocks its stream and operations that
// wait for the whole device, such as loading a kernel, making a stream or freeing memory;
// other streams continue. So f should be short, and must not use the device: it can start
// or notify another goroutine that does. If f uses the stream, or calls [Device.Synchronize]
// or [Device.Close], the call would wait for f itself, and returns an error that matches
// [ErrInvalid]. Call does not detect that f waits for another goroutine which uses the
// stream.
//
// The next wait on the stream returns an error of f, once, or its panic as [*PanicError].
// The first error is kept until then. If the device fails before, f does not run, and the
// wait returns the reason.
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

// onGoroutine runs f on its own goroutine, which f may end.
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

// notCalled returns an error if the calling goroutine runs a function of Call on the stream.
// The operation that follows would wait for that function.
func (s *Stream) notCalled() error {
	if s.callers.Here() {
		return invalid("the stream is waiting for the function that makes this call; make it on a goroutine that the function starts")
	}
	return nil
}

// notCalled is notCalled of all streams and graphs of the device.
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
	// The functions return before the wait does. The device enforces that order, but Go's
	// memory model needs this load for it.
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
