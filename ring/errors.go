package ring

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode"
	"unicode/utf8"

	"quern.dev/ring/internal/errs"
)

// Errors that are matched with errors.Is.
var (
	// ErrQueueFull means that the mailbox of an actor with the policy [Reject] is full.
	ErrQueueFull = errors.New("queue full")
	// ErrClosed means that the runtime, or the group, was closed.
	ErrClosed = errs.ErrClosed
	// ErrExpired means that the deadline of a message passed before it was handled.
	ErrExpired = errors.New("the message has expired")
	// ErrDropped means that a message was dropped to make room for others, by the policy
	// [DropOldest].
	ErrDropped = errors.New("the message was dropped from a full queue")
	// ErrTerminated means that an actor ended before it handled a message.
	ErrTerminated = errors.New("the actor has terminated")
	// ErrRefused means that the actor that a reply was to go on to did not accept it.
	ErrRefused = errors.New("the message was refused")
	// ErrWithdrawn means that the actor failed before it handled the message, and the
	// caller of Ask got a [*StateError]. The message will not be handled.
	ErrWithdrawn = errors.New("the message was withdrawn")
	errHandler   = errors.New("the handler failed")

	// ErrNoReply means that the handler did not reply to a message of Ask.
	ErrNoReply = errors.New("the handler did not reply")
	// ErrInvalid means that an option or another argument is invalid.
	ErrInvalid = errs.ErrInvalid
	// ErrNameTaken means that another actor or group has the name. It also matches
	// ErrInvalid.
	ErrNameTaken = fmt.Errorf("%w: the name is taken", ErrInvalid)
)

// StateError means that the state of the actor does not allow an operation. The actor does
// not handle the message of a call that returns it, unless Uncertain is set. So the call
// can be repeated.
type StateError struct {
	Actor string
	State State
	Op    string // "ask", "activate", ...
	Err   error  // the cause of that state, or nil

	// Uncertain is set for a message that the actor had before its handler got stuck (see
	// [StuckError]): the message may have been handled, or may be handled once the
	// handler returns. If it is sent again, it may be handled twice.
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

// Unwrap returns the cause of the actor's state.
func (e *StateError) Unwrap() error { return e.Err }

// HandlerError means that the handler of an actor failed on a message.
type HandlerError struct {
	Actor  string
	ID     uint64 // of the message: that of [DeadLetter.ID] and [HostContext.ID]
	Ticket uint64 // number of the message, from 0, among those of the actor with the same level of priority or from actors on the device
	Err    error  // a *gpu.KernelError if position and cause are known
}

// Error names the actor and the message.
func (e *HandlerError) Error() string {
	return fmt.Sprintf("ring: actor %s: message %d: %v", e.Actor, e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *HandlerError) Unwrap() error { return e.Err }

// about adds an operation and an actor to an error.
func (i *identity) about(op string, err error) error {
	return fmt.Errorf("ring: %s: actor %s: %w", op, i.name, err)
}

// closedFor returns the error of an operation on a closed runtime.
func closedFor(what string) error { return during(what, errs.ErrRuntimeClosed) }

// operationError is an error of an operation of this package.
type operationError struct {
	doing string
	err   error
}

// during adds an operation of the program to an error. It returns nil if err is nil.
func during(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &operationError{doing, err}
}

// Error names the package once, even if err is an error of this package.
func (e *operationError) Error() string {
	return "ring: " + e.doing + ": " + strings.TrimPrefix(e.err.Error(), "ring: ")
}

func (e *operationError) Unwrap() error { return e.err }

func invalid(format string, args ...any) error {
	return errs.Invalidf(format, args...)
}

// maxName is the maximum length of a name in bytes.
const maxName = 255

// checkName returns an error if a name cannot be shown in one line of a text.
func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return invalid("the name has %d bytes; want %d at most", len(name), maxName)
	case !utf8.ValidString(name):
		return invalid("the name %.40q is not valid UTF-8", name)
	case strings.TrimSpace(name) == "":
		return invalid("the name %.40q is empty or only space", name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return invalid("the name %.40q has the character %U, which cannot be shown", name, r)
		}
	}
	return nil
}

// shown returns a name as an error shows it.
func shown(name string) string {
	if checkName(name) == nil {
		return name
	}
	return fmt.Sprintf("%.40q", name)
}

// PanicError means that a function of the program panicked, or ended its goroutine
// with runtime.Goexit.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine
}

// newPanicError makes an error of a recovered value. The function that recovers calls
// it.
func newPanicError(value any) *PanicError {
	return &PanicError{Value: value, Stack: debug.Stack()}
}

// Error states the value of the panic, but not the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
