package random

import (
	"fmt"

	"quern.dev/gpu"
)

// Error reports an argument that a function of this package does not accept. It
// matches [gpu.ErrInvalid]. Nothing has been written.
type Error struct {
	Op     string // the function, such as "Normal"
	Arg    string // the argument, such as "dst"
	Reason string // what is wrong, and what is allowed
}

// Error returns, for example, "random: Gamma: shape is -1; it must be positive and
// finite".
func (e *Error) Error() string { return "random: " + e.Op + ": " + e.Arg + " " + e.Reason }

// Is reports whether target is [gpu.ErrInvalid].
func (e *Error) Is(target error) bool { return target == gpu.ErrInvalid }

func invalid(op, arg, format string, args ...any) error {
	return &Error{op, arg, fmt.Sprintf(format, args...)}
}

// failed adds the function to an error of package gpu.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("random: %s: %w", op, err)
}

// maxIndex bounds the indices of a stream. Four draws of an index that need more
// words than one group take them from the counters above.
const maxIndex = 1 << 48

// check returns an error unless dst can be filled from src, whose numbers are
// those of indices below limit.
func check[T any](op string, s *gpu.Stream, src Source, dst *gpu.Buffer[T]) error {
	switch {
	case s == nil:
		return invalid(op, "s", "is nil")
	case dst == nil:
		return invalid(op, "dst", "is nil")
	case dst.Err() != nil:
		return fmt.Errorf("random: %s: dst: %w", op, dst.Err())
	case src.Offset > maxIndex || uint64(dst.Len()) > maxIndex-src.Offset:
		return invalid(op, "src", "has offset %d, which with the %d elements of dst exceeds 2^48 numbers; use another stream", src.Offset, dst.Len())
	}
	return nil
}
