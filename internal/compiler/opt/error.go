package opt

import (
	"fmt"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Error is an error in the programmer's kernel that a pass found.
type Error struct {
	Pos    ir.Pos
	Kernel string
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: kernel %s: %s", e.Pos, e.Kernel, e.Msg) }

// Errors is a list of errors in source order.
type Errors []*Error

func (list Errors) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the individual errors.
func (list Errors) Unwrap() []error {
	out := make([]error, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}

// Position and Message return the parts of the text.
func (e *Error) Position() ir.Pos { return e.Pos }

// Message says what is wrong.
func (e *Error) Message() string { return e.Msg }
