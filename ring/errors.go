package ring

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"quern.dev/ring/internal/errs"
)

// Errors that are matched with errors.Is.
var (
	// ErrQueueFull means that the mailbox of an actor with the policy [Reject] is full.
	ErrQueueFull = errors.New("queue full")
	// ErrClosed means that the runtime, or the group, was closed.
	ErrClosed = errs.ErrClosed
	// ErrExpired means that the deadline of a message had passed before it was handled.
	ErrExpired = errors.New("the message has expired")
	// ErrDropped means that a message was given up for others, by the policy [DropOldest].
	ErrDropped = errors.New("the message was dropped from a full queue")
	// ErrTerminated means that an actor ended before it handled a message.
	ErrTerminated = errors.New("the actor has terminated")
	// ErrRefused means that the actor that a message was to go on to did not take it.
	ErrRefused = errors.New("the message was refused")
	// ErrWithdrawn means that the caller of Ask got a [*StateError], since the actor had
	// failed, before the actor handled the message. It is not handled any more.
	ErrWithdrawn = errors.New("the message was withdrawn")
	errHandler   = errors.New("the handler failed")

	// ErrNoReply means that the handler did not reply to a message that was asked.
	ErrNoReply = errors.New("the handler did not reply")
	// ErrInvalid means that an option or another argument is not acceptable.
	ErrInvalid = errs.ErrInvalid
	// ErrNameTaken means that an actor or a group has the name already. It matches
	// ErrInvalid, too.
	ErrNameTaken = fmt.Errorf("%w: the name is taken", ErrInvalid)

	errNilContext = fmt.Errorf("%w: the context is nil", ErrInvalid)
)

// StateError is the error of an operation that the state of the actor does not
// allow. The actor does not handle the message of a call that returns it, unless Uncertain
// is set, so the call can be made again.
type StateError struct {
	Actor string
	State State
	Op    string // "ask", "activate", ...
	Err   error  // why the actor is in that state, or nil

	// Uncertain is set for a message that the actor had before its handler got stuck (see
	// [StuckError]): it may have been handled, or be handled once the handler returns.
	// Whoever sends it again may have it handled twice.
	Uncertain bool
}

// Error names operation, actor and state.
func (e *StateError) Error() string {
	text := fmt.Sprintf("ring: %s: actor %s is %s", e.Op, e.Actor, e.State)
	if e.Uncertain {
		text += ", and may have handled the message"
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns why the actor is in its state.
func (e *StateError) Unwrap() error { return e.Err }

// HandlerError means that the handler of an actor failed on a message.
type HandlerError struct {
	Actor  string
	Ticket uint64 // number of the message in the actor's mailbox, from 0
	Err    error  // a *gpu.KernelError if it is known where and how
}

// Error names the actor and the message.
func (e *HandlerError) Error() string {
	return fmt.Sprintf("ring: actor %s: message %d: %v", e.Actor, e.Ticket, e.Err)
}

// Unwrap returns the cause.
func (e *HandlerError) Unwrap() error { return e.Err }

// about says which call to which actor an error is of.
func (i *identity) about(op string, err error) error {
	return fmt.Errorf("ring: %s: actor %s: %w", op, i.name, err)
}

// closedFor is the error of what a runtime that is closed does not do any more.
func closedFor(what string) error { return during(what, errs.ErrRuntimeClosed) }

// operationError is an error and the operation that the program called.
type operationError struct {
	doing string
	err   error
}

// during says which operation of the program an error is of, nil if err is nil.
func during(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &operationError{doing, err}
}

// Error names this package once, also if err is one of its errors.
func (e *operationError) Error() string {
	return "ring: " + e.doing + ": " + strings.TrimPrefix(e.err.Error(), "ring: ")
}

func (e *operationError) Unwrap() error { return e.err }

func invalid(format string, args ...any) error {
	return errs.Invalidf(format, args...)
}

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
