package tiff

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// What is wrong, for [errors.Is].
var (
	// ErrFormat is damage: the file contradicts itself or the TIFF specification.
	ErrFormat = errors.New("damaged file")
	// ErrUnsupported is something that is valid TIFF and that this package does not do.
	ErrUnsupported = errors.New("unsupported")
	// ErrLimit is a file that would take more than [Limits] allows.
	ErrLimit = errors.New("limit exceeded")
	// ErrIO is a failure of reading or writing that has nothing to do with the contents of the file.
	ErrIO = errors.New("input or output failed")
	// ErrArgument is an argument of the caller that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrClosed is a use after Close or Abort.
	ErrClosed = errors.New("already closed")
)

// Error is an error in a file or in an argument. It names the place in the file.
type Error struct {
	Op        string // "open", "read", "write"
	File      string // the name that Open got, or that of a Virtual; empty for other readers
	Kind      error  // ErrFormat, ErrUnsupported, ErrLimit, ErrIO, ErrArgument or ErrClosed
	Directory int    // index of the directory (IFD) in the file, or -1
	Block     int    // index of the tile or strip in the directory, or -1
	Tag       Tag    // the tag, or 0
	Offset    int64  // byte of the file, or -1
	Reason    string // what is wrong, and what to do
	Err       error  // the cause, or nil
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("tiff: ")
	b.WriteString(e.Op)
	if e.File != "" {
		fmt.Fprintf(&b, ": %s", e.File)
	}
	if e.Directory >= 0 {
		fmt.Fprintf(&b, ": directory %d", e.Directory)
	}
	if e.Tag != 0 {
		fmt.Fprintf(&b, ": tag %s", e.Tag)
	}
	if e.Block >= 0 {
		fmt.Fprintf(&b, ": block %d", e.Block)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ": at byte %d", e.Offset)
	}
	b.WriteString(": ")
	b.WriteString(e.Reason)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// place is where errors happen; its methods make errors of that place.
type place struct {
	op        string
	directory int
	block     int
	file      string
}

var (
	opening = place{op: "open", directory: -1, block: -1}
	writing = place{op: "write", directory: -1, block: -1}
)

func (p place) fail(kind error, tag Tag, offset int64, format string, args ...any) *Error {
	e := &Error{Op: p.op, File: p.file, Kind: kind, Directory: p.directory, Block: p.block, Tag: tag, Offset: offset}
	e.Reason = fmt.Sprintf(format, args...)
	return e
}

func (p place) damaged(tag Tag, offset int64, format string, args ...any) *Error {
	return p.fail(ErrFormat, tag, offset, format, args...)
}

func (p place) unsupported(tag Tag, format string, args ...any) *Error {
	return p.fail(ErrUnsupported, tag, -1, format, args...)
}

func (p place) limit(tag Tag, format string, args ...any) *Error {
	return p.fail(ErrLimit, tag, -1, format, args...)
}

// unreadable is a failure to read, which is damage if the file ends early.
func (p place) unreadable(tag Tag, offset int64, err error) *Error {
	kind := ErrIO
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		kind = ErrFormat
	}
	return p.fail(kind, tag, offset, "cannot be read").because(err)
}

func (p place) argument(format string, args ...any) *Error {
	return p.fail(ErrArgument, 0, -1, format, args...)
}

// because adds a cause.
func (e *Error) because(err error) *Error {
	e.Err = err
	return e
}
