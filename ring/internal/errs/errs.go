// Package errs defines the errors that package ring exports and its internal packages return.
package errs

import (
	"errors"
	"fmt"
)

// Errors of package ring.
var (
	ErrClosed   = errors.New("closed")
	ErrInvalid  = errors.New("invalid option")
	ErrReleased = errors.New("payload released")
)

// ErrRuntimeClosed is the error of operations on a closed runtime.
var ErrRuntimeClosed = fmt.Errorf("the runtime is %w", ErrClosed)

// Invalidf returns an error that matches ErrInvalid.
func Invalidf(format string, args ...any) error {
	return fmt.Errorf("ring: %w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
