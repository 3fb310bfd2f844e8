package fft

import (
	"fmt"

	"quern.dev/gpu"
)

// Error is an invalid argument of a function of this package. It matches [gpu.ErrInvalid].
type Error struct {
	Op     string // the function or method, such as "NewPlan"
	Arg    string // the argument or field
	Reason string // what is wrong, with the numbers
}

// Error names the function, the argument and the rule.
func (e *Error) Error() string { return "fft: " + e.Op + ": " + e.Arg + ": " + e.Reason }

// Is reports whether target is [gpu.ErrInvalid].
func (e *Error) Is(target error) bool { return target == gpu.ErrInvalid }

func invalid(op, arg, format string, args ...any) error {
	return &Error{Op: op, Arg: arg, Reason: fmt.Sprintf(format, args...)}
}

// failed adds the operation to an error of package gpu.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fft: %s: %w", op, err)
}
