package opt

import (
	"fmt"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Error is a fault in the programmer's kernel that a pass found.
type Error struct {
	Pos    ir.Pos
	Kernel string
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: kernel %s: %s", e.Pos, e.Kernel, e.Msg) }

// Errors is a list of faults in source order.
type Errors []*Error

func (list Errors) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single faults.
func (list Errors) Unwrap() []error {
	out := make([]error, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}

// Position and Message are the parts of the text.
func (e *Error) Position() ir.Pos { return e.Pos }

// Message is what is wrong.
func (e *Error) Message() string { return e.Msg }
