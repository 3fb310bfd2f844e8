package video

import (
	"errors"
	"fmt"
	"strings"
)

// Errors match one of these, or one of packages context and gpu.
var (
	// ErrNotFound is an ffmpeg or ffprobe that is not installed.
	ErrNotFound = errors.New("program not found")
	// ErrProcess is an ffmpeg that failed, or ended before its work was done.
	ErrProcess = errors.New("ffmpeg failed")
	// ErrCodec is an encoder that this ffmpeg, or this machine, does not have.
	ErrCodec = errors.New("encoder not available")
	// ErrFormat is an input that is not a video.
	ErrFormat = errors.New("not a video")
	// ErrOutput is an output file that cannot be written.
	ErrOutput = errors.New("output cannot be written")
	// ErrArgument is an argument that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrClosed is a use after Close or Abort.
	ErrClosed = errors.New("already closed")
)

// Error says which operation failed, and why.
type Error struct {
	Op     string // "create", "write", "close", "open", "read", "join", "probe"
	Object string // the file, the program or the option
	Reason string // what is wrong, and what to do
	Stderr string // the last lines that ffmpeg printed
	Kind   error  // one of the errors above
	Err    error  // the cause, or nil
}

// Error returns all of it.
func (e *Error) Error() string {
	s := "video: " + e.Op + ": " + e.Object + ": " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Stderr != "" {
		s += ": " + strings.ReplaceAll(e.Stderr, "\n", "; ")
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

func fail(kind error, op, object, format string, args ...any) *Error {
	return &Error{Op: op, Object: object, Reason: fmt.Sprintf(format, args...), Kind: kind}
}
