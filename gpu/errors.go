package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"quern.dev/internal/driver"
)

// Errors that are matched with errors.Is.
var (
	// ErrNoDevice means that [Open] found no device; the message gives the reason.
	ErrNoDevice = driver.ErrNoDevice

	// ErrOutOfMemory means that a device does not have enough free memory.
	ErrOutOfMemory = driver.ErrOutOfMemory

	// ErrPinned means that host memory cannot be page-locked.
	ErrPinned = errors.New("memory cannot be page-locked")

	// ErrDeviceLost means that a device has stopped working: its memory had an
	// uncorrectable error, or a kernel made an illegal access (possible only in kernels
	// marked unchecked). Every later call on the device returns it. The contents of its
	// buffers are lost; the program can only close them and the device. Other devices
	// continue to work.
	ErrDeviceLost = driver.ErrDeviceLost

	// ErrClosed means that the object, or the object that it belongs to, was closed: a
	// device, stream, event, buffer, host buffer, managed or unified array, texture, pool,
	// scope, kernel, inline launch or executable graph.
	ErrClosed = errors.New("closed")

	// ErrReadOnly means that work would write to a read-only buffer: a view of a unified
	// array that [Unified.ReadDevice] returned.
	ErrReadOnly = errors.New("read-only")

	// ErrInvalid means that an argument is invalid: a nil buffer, a buffer of another
	// device, a range outside a buffer, an empty or oversized grid, a block that the
	// kernel or the device does not allow, a wrong type or number of arguments.
	ErrInvalid = driver.ErrInvalid
)

// Error is an error that a device's driver returned. Some match a sentinel
// error, such as [ErrOutOfMemory].
//
// After an error that matches [ErrDeviceLost], the process has no usable CUDA context for
// that GPU: every later call returns the same error.
type Error struct {
	Op   string // the driver's function, such as "cuMemAlloc"
	Code int    // the driver's code, 0 if it has none
	Name string // of the code, such as "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // the driver's description
	Err  error  // the sentinel error that it matches, or nil
}

// Error names the operation, then the driver's code and text or the reason.
func (e *Error) Error() string { return (*driver.Error)(e).Error() }

// Unwrap returns the sentinel error that e matches.
func (e *Error) Unwrap() error { return e.Err }

// failure is an error that wraps another one without repeating its message.
type failure struct {
	text string
	is   error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.is }

// invalid returns an error that matches ErrInvalid.
func invalid(format string, args ...any) error {
	return &failure{fmt.Sprintf(format, args...), ErrInvalid}
}

// count returns "1 element" or "2 elements".
func count(n int, noun string) string { return count64(int64(n), noun) }

func count64(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// closedError returns an error that matches ErrClosed: "buffer is closed".
func closedError(what string) error {
	return &failure{what + " is closed", ErrClosed}
}

// closedError returns an error for the use of an object of the device that is closed. Closing
// a device closes its objects, and the error then names the device.
func (d *Device) closedError(what string) error {
	if d.lease.Closed() {
		what = "device " + d.id
	}
	return closedError(what)
}

// otherDevice returns the error for the use of an object of device have with device want.
func otherDevice(what string, have, want *Device) error {
	if have.id == want.id {
		return invalid("%s is of another opened device (%s was opened more than once)", what, have.id)
	}
	return invalid("%s is of another device (%s, not %s)", what, have.id, want.id)
}

// driverError returns the public form of a driver's error, with the operation that failed.
func driverError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &operationError{doing, public(err)}
}

// partOf adds an operation to an error of another operation that it called. It does not
// change errors of kernels and of the program's functions, or leaks.
func partOf(doing string, err error) error {
	switch e := err.(type) {
	case *operationError:
		return &operationError{doing, e}
	case interface{ Unwrap() []error }:
		if reflect.TypeOf(err) != joined {
			return err
		}
		var all []error
		for _, err := range e.Unwrap() {
			all = append(all, partOf(doing, err))
		}
		return errors.Join(all...)
	default:
		return err
	}
}

// joined is the type of what errors.Join returns.
var joined = reflect.TypeOf(errors.Join(ErrClosed))

// operationError is an error of an operation of this package.
type operationError struct {
	doing string
	err   error
}

// Error names the package once, even if err is an operationError.
func (e *operationError) Error() string {
	return "gpu: " + e.doing + ": " + strings.TrimPrefix(e.err.Error(), "gpu: ")
}

func (e *operationError) Unwrap() error { return e.err }

// public returns the public form of a driver's error.
func public(err error) error {
	if e, ok := errors.AsType[*driver.CooperativeLaunchError](err); ok {
		err = (*CooperativeLaunchError)(e)
	}
	if e, ok := errors.AsType[*driver.Error](err); ok {
		err = &failure{err.Error(), (*Error)(e)}
	}
	return err
}

// unlessLost drops the error of releasing something of a lost device. The program already
// has the error of the operation that found the device lost.
func unlessLost(err error) error {
	if errors.Is(err, ErrDeviceLost) {
		return nil
	}
	return err
}

// joinLost joins errors. Of the errors of a lost device it keeps only the first.
func joinLost(errs []error) error {
	var told []error
	lost := false
	for _, err := range errs {
		if errors.Is(err, ErrDeviceLost) {
			if lost {
				continue
			}
			lost = true
		}
		told = append(told, err)
	}
	return errors.Join(told...)
}
