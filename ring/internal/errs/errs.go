// Package errs has the errors that package ring exports and its internal packages return.
package errs

import (
	"errors"
	"fmt"
)

// Errors of package ring.
var (
	Closed   = errors.New("closed")
	Invalid  = errors.New("invalid option")
	Released = errors.New("payload released")
)

// RuntimeClosed is why a runtime does nothing any more.
var RuntimeClosed = fmt.Errorf("the runtime is %w", Closed)

// Invalidf returns an Invalid error.
func Invalidf(format string, args ...any) error {
	return fmt.Errorf("ring: %w: %s", Invalid, fmt.Sprintf(format, args...))
}
