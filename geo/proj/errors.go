package proj

import (
	"errors"
	"fmt"
)

// Errors match one of these, or [crs.ErrDomain].
var (
	ErrMissing   = errors.New("PROJ is not installed")
	ErrVersion   = errors.New("the version of PROJ is not supported")
	ErrSystem    = errors.New("PROJ does not know the system")
	ErrOperation = errors.New("PROJ has no operation between the systems")
	ErrParameter = errors.New("invalid parameter")
)

// Error says which operation failed and why.
type Error struct {
	Op     string // such as "transform"
	Object string // a library or a system
	Reason string // PROJ's own words where it has some
	Kind   error
}

// Error returns the operation, what it failed on, and the reason.
func (e *Error) Error() string {
	text := "proj: " + e.Op + ": "
	if e.Object != "" {
		text += e.Object + ": "
	}
	return text + e.Reason
}

// Unwrap returns the kind of the error.
func (e *Error) Unwrap() error { return e.Kind }

func failure(kind error, op, object, format string, args ...any) error {
	return &Error{op, object, fmt.Sprintf(format, args...), kind}
}
