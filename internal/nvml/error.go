package nvml

import (
	"errors"
	"fmt"
)

// Code is a result of the library (nvmlReturn_t).
type Code int32

// The results that callers distinguish.
const (
	Success          Code = 0
	NotSupported     Code = 3
	NoPermission     Code = 4
	NotFound         Code = 6
	InsufficientSize Code = 7
	DriverNotLoaded  Code = 9
	Timeout          Code = 10
	FunctionNotFound Code = 13
	GPUIsLost        Code = 15
	ResetRequired    Code = 16
	VersionMismatch  Code = 18
	GPUNotFound      Code = 28
)

// ErrNotSupported means that the driver lacks the function, or that the GPU does not report the value.
var ErrNotSupported = errors.New("not supported by the driver or the GPU")

// Error is a failed call of the library.
type Error struct {
	Op   string // the function
	Code Code
	Text string // NVML's text for the code
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (NVML error %d)", e.Op, e.Text, e.Code) }

// Is matches ErrNotSupported.
func (e *Error) Is(target error) bool {
	return target == ErrNotSupported && (e.Code == NotSupported || e.Code == FunctionNotFound)
}

// MissingError means that there is no library.
type MissingError struct{ Reason string }

func (e *MissingError) Error() string { return e.Reason }
