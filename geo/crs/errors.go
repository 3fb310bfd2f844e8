package crs

import (
	"errors"
	"fmt"
)

// Errors match one of these.
var (
	ErrFormat      = errors.New("the text is not a coordinate reference system")
	ErrUnknown     = errors.New("unknown code")
	ErrUnsupported = errors.New("not supported")
	ErrParameter   = errors.New("invalid parameter")
	ErrDatumShift  = errors.New("the datum shift is not known")
	ErrDomain      = errors.New("the point is outside of the domain")
)

// Error says which operation failed and why. It matches one of the errors above.
type Error struct {
	Op     string // such as "parse"
	Object string // what the reason is about: a code, a name, a parameter
	Reason string
	Kind   error

	system *CRS // all but the projection, which is not supported
}

// Error returns the operation, what it failed on, and the reason.
func (e *Error) Error() string {
	text := "crs: " + e.Op + ": "
	if e.Object != "" {
		text += e.Object + ": "
	}
	return text + e.Reason
}

// Unwrap returns the kind of the error.
func (e *Error) Unwrap() error { return e.Kind }

// of keeps the system for Describe, if the error is about its projection.
func of(err error, c *CRS) error {
	if e, ok := err.(*Error); ok && e.Kind == ErrUnsupported {
		e.system = c
	}
	return err
}

func failure(kind error, op, object, format string, args ...any) error {
	return &Error{Op: op, Object: object, Reason: fmt.Sprintf(format, args...), Kind: kind}
}
