package warp

import (
	"errors"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or one of the packages tiff, crs and gpu.
var (
	// ErrArgument is an option or a source that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrNoCRS is a source without a coordinate system, or without a place in it.
	ErrNoCRS = errors.New("no coordinate reference system")
	// ErrOutside is an output that no source reaches.
	ErrOutside = errors.New("outside of the sources")
	// ErrTooLarge is what a [Locator] returns for a region that needs too much memory at a time: the warper divides it.
	ErrTooLarge = errors.New("too large at a time")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "warp: "+format, args...)
}
