package ring

import (
	"fmt"
	"runtime/debug"
)

// PanicError means that a function of the program has panicked, or that it has
// ended its goroutine with runtime.Goexit.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine
}

// newPanicError is called by the function that has recovered.
func newPanicError(value any) *PanicError {
	return &PanicError{Value: value, Stack: debug.Stack()}
}

// Error says what the value is, not the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
