package sparse

import (
	"fmt"

	"quern.dev/gpu"
)

// Error reports an argument that a function of this package does not accept. It
// matches [gpu.ErrInvalid]. Nothing has been written.
type Error struct {
	Op     string // the function, such as "MulVec"
	Arg    string // the argument, such as "x"
	Reason string // what is wrong, and what is allowed
}

// Error returns, for example, "sparse: MulVec: x has 12 elements, but a has 16
// columns".
func (e *Error) Error() string { return "sparse: " + e.Op + ": " + e.Arg + " " + e.Reason }

// Is reports whether target is [gpu.ErrInvalid].
func (e *Error) Is(target error) bool { return target == gpu.ErrInvalid }

func invalid(op, arg, format string, args ...any) error {
	return &Error{op, arg, fmt.Sprintf(format, args...)}
}

// usable returns an error if a buffer of an argument cannot be used: the first of the given ones.
func usable(op, arg string, errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("sparse: %s: %s: %w", op, arg, err)
		}
	}
	return nil
}

// failed adds the function to an error of another package.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sparse: %s: %w", op, err)
}
