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
	// ErrNoDevice is why [Open] fails; the message gives the reason.
	ErrNoDevice = driver.ErrNoDevice

	// ErrOutOfMemory means that a device has not enough free memory.
	ErrOutOfMemory = driver.ErrOutOfMemory

	// ErrPinned means that memory of the host cannot be page-locked.
	ErrPinned = errors.New("memory cannot be page-locked")

	// ErrDeviceLost means that a device does no more work: its memory had an
	// error that cannot be corrected, or a kernel made an access that it must not
	// (possible in kernels marked unchecked only). Every later call on that
	// device returns it; its buffers are lost, and closing them and the device
	// is all that is left to do. Other devices go on.
	ErrDeviceLost = driver.ErrDeviceLost

	// ErrClosed means that what is used was closed, or what it belongs to: a
	// device, stream, event, buffer, host buffer, managed or unified array,
	// texture, pool, scope, kernel, inline launch or executable graph.
	ErrClosed = errors.New("closed")

	// ErrReadOnly means that a buffer would be written that is for reading: a view of
	// a unified array that [Unified.ReadDevice] has returned.
	ErrReadOnly = errors.New("for reading only")

	// ErrInvalid means that an argument is not acceptable: a nil buffer, one of
	// another device, a range outside a buffer, an empty or oversized grid, a
	// block that the kernel or the device does not allow, a wrong type or
	// number of arguments.
	ErrInvalid = driver.ErrInvalid
)

// Error is an error that a device's driver returned. Some match a sentinel
// error, such as [ErrOutOfMemory].
//
// One that matches [ErrDeviceLost] leaves the process without a usable CUDA
// context: every later call on that GPU returns it.
type Error struct {
	Op   string // the driver's function, such as "cuMemAlloc"
	Code int    // the driver's code, 0 if it has none
	Name string // of the code, such as "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // what the driver says about it
	Err  error  // the sentinel error that it matches, or nil
}

// Error names the operation, then the driver's code and text or the reason.
func (e *Error) Error() string { return (*driver.Error)(e).Error() }

// Unwrap returns the sentinel error that e matches.
func (e *Error) Unwrap() error { return e.Err }

// failure is an error with another that errors.Is and errors.As find, and that
// the message does not repeat.
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

// otherDevice is the error for what belongs to device have and is used with
// device want.
func otherDevice(what string, have, want *Device) error {
	if have.id == want.id {
		return invalid("%s is of another opened device (%s was opened more than once)", what, have.id)
	}
	return invalid("%s is of another device (%s, not %s)", what, have.id, want.id)
}

// driverError makes a driver's error the public one, and says what failed.
func driverError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &operationError{doing, public(err)}
}

// partOf says of which operation of the program the failure of another one was part.
// What kernels and functions of the program did, and leaks, speak for themselves.
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

// operationError is an error of this package and what it was doing.
type operationError struct {
	doing string
	err   error
}

// Error names the package once, also if err is of another of its functions.
func (e *operationError) Error() string {
	return "gpu: " + e.doing + ": " + strings.TrimPrefix(e.err.Error(), "gpu: ")
}

func (e *operationError) Unwrap() error { return e.err }

// public makes a driver's error the public one.
func public(err error) error {
	if e, ok := errors.AsType[*driver.CooperativeLaunchError](err); ok {
		err = (*CooperativeLaunchError)(e)
	}
	if e, ok := errors.AsType[*driver.Error](err); ok {
		err = &failure{err.Error(), (*Error)(e)}
	}
	return err
}

// unlessLost drops the error of releasing what was on a device that was lost: it
// is gone with the device, and the program has been told by what failed first.
func unlessLost(err error) error {
	if errors.Is(err, ErrDeviceLost) {
		return nil
	}
	return err
}

// joinLost joins errors, of those of a lost device only the first.
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
