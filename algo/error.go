package algo

import (
	"fmt"

	"quern.dev/gpu"
)

// Error is the error of a call with bad arguments. It matches [gpu.ErrInvalid]. The call has
// written nothing.
type Error struct {
	Op   string // name of the function
	Arg  string // name of the argument
	Rule string // what is wrong, with the numbers
}

// Error names the function, the argument and the rule.
func (e *Error) Error() string { return fmt.Sprintf("algo: %s: %s: %s", e.Op, e.Arg, e.Rule) }

// Is reports whether target is [gpu.ErrInvalid].
func (e *Error) Is(target error) bool { return target == gpu.ErrInvalid }

func invalid(op, arg, format string, args ...any) error {
	return &Error{op, arg, fmt.Sprintf(format, args...)}
}

// failed adds the name of the function to an error of package gpu.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("algo: %s: %w", op, err)
}

// present returns an error if a buffer is nil, or no buffer for other reasons.
func present[T any](op, arg string, b *gpu.Buffer[T]) error {
	if b == nil {
		return invalid(op, arg, "the buffer is nil")
	}
	if err := b.Err(); err != nil {
		return fmt.Errorf("algo: %s: %s: %w", op, arg, err)
	}
	return nil
}

// length returns an error if a buffer does not have n elements.
func length[T any](op, arg string, b *gpu.Buffer[T], n int) error {
	if err := present(op, arg, b); err != nil {
		return err
	}
	if b.Len() != n {
		return invalid(op, arg, "%d elements, want %d", b.Len(), n)
	}
	return nil
}

// apart returns an error if a buffer that is written shares memory with one that is read.
func apart[A, B any](op, arg string, written *gpu.Buffer[A], other string, read *gpu.Buffer[B]) error {
	distance, ok := gpu.Distance(read, written)
	if ok && distance < read.Len()*sizeOf[B]() && -distance < written.Len()*sizeOf[A]() {
		return invalid(op, arg, "it shares memory with %s", other)
	}
	return nil
}

// apartFrom is [apart] for two other buffers.
func apartFrom[A, B, C any](op, arg string, written *gpu.Buffer[A], argB string, b *gpu.Buffer[B], argC string, c *gpu.Buffer[C]) error {
	if err := apart(op, arg, written, argB, b); err != nil {
		return err
	}
	return apart(op, arg, written, argC, c)
}

// sameOrApart returns an error if dst shares memory with src and is another buffer. Both have the
// same length.
func sameOrApart[T any](op string, dst, src *gpu.Buffer[T]) error {
	if distance, ok := gpu.Distance(src, dst); ok && distance == 0 {
		return nil
	}
	return apart(op, "dst", dst, "src", src)
}
