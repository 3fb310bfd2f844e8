package blas

import (
	"fmt"

	"quern.dev/gpu"
)

// Error is an argument that breaks a rule. Nothing was launched or written. It matches
// [gpu.ErrInvalid].
type Error struct {
	Op     string // the function, such as "Gemm"
	Arg    string // the argument, such as "C"
	Reason string // the rule, with the numbers that break it
}

// Error returns a message such as "blas: Gemm: C has 12 rows, but op(A) has 16".
func (e *Error) Error() string { return "blas: " + e.Op + ": " + e.Arg + " " + e.Reason }

// Is reports whether target is [gpu.ErrInvalid].
func (e *Error) Is(target error) bool { return target == gpu.ErrInvalid }

func invalid(op, arg, format string, args ...any) error {
	return &Error{op, arg, fmt.Sprintf(format, args...)}
}

// wrap names the operation in an error of package gpu.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("blas: %s: %w", op, err)
}
