package gdal

import (
	"errors"
	"fmt"
)

// Errors match one of these.
var (
	// ErrMissing is a GDAL that is not installed, or cannot be used.
	ErrMissing = errors.New("GDAL is not available")
	// ErrFormat is a file that GDAL cannot open or read.
	ErrFormat = errors.New("the file cannot be read")
	// ErrArgument is an argument that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrSubdatasets is a file that has no image of its own, but subdatasets: see [SubdatasetsError].
	ErrSubdatasets = errors.New("the file has several datasets")
	// ErrClosed is a use after Close.
	ErrClosed = errors.New("already closed")
)

// Error is a failure of GDAL.
type Error struct {
	Op     string // "load", "open" or "read"
	Name   string // of the file
	Number int    // GDAL's number of the error, or 0
	Reason string // GDAL's message
	Kind   error  // one of the errors above
}

// Error returns the operation, the file and the reason.
func (e *Error) Error() string {
	text := "gdal: " + e.Op + ": "
	if e.Name != "" {
		text += e.Name + ": "
	}
	return text + e.Reason
}

// Unwrap returns the kind of the error.
func (e *Error) Unwrap() error { return e.Kind }

func failure(kind error, op, name, format string, args ...any) error {
	return &Error{Op: op, Name: name, Reason: fmt.Sprintf(format, args...), Kind: kind}
}

// SubdatasetsError is a file that has no image of its own. It matches [ErrSubdatasets].
type SubdatasetsError struct {
	Name        string
	Subdatasets []Subdataset
}

// Error lists the first subdatasets.
func (e *SubdatasetsError) Error() string {
	text := fmt.Sprintf("gdal: open: %s: the file has %d datasets; open one of them by its name:", e.Name, len(e.Subdatasets))
	for i, s := range e.Subdatasets {
		if i == 10 {
			return text + fmt.Sprintf(" and %d more", len(e.Subdatasets)-i)
		}
		if i > 0 {
			text += ","
		}
		text += " " + s.Name
	}
	return text
}

// Unwrap returns ErrSubdatasets.
func (e *SubdatasetsError) Unwrap() error { return ErrSubdatasets }
