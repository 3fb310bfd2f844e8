package worldfile

import (
	"errors"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or those of package os.
var (
	// ErrFormat is a damaged file.
	ErrFormat = errors.New("damaged file")
	// ErrUnsupported is a file, or a kind of pixels, that this package does not have.
	ErrUnsupported = errors.New("unsupported")
	// ErrArgument is an argument that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrClosed is a use after Close.
	ErrClosed = errors.New("already closed")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "worldfile: "+format, args...)
}
