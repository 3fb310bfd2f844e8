package ortho

import (
	"errors"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or one of the packages warp, tiff, crs and gpu.
var (
	// ErrArgument is an option, a camera or an image that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrFormat is a description of cameras that cannot be read.
	ErrFormat = errors.New("bad format")
	// ErrNoCRS is a surface without a coordinate system, or without a place in it.
	ErrNoCRS = errors.New("no coordinate reference system")
	// ErrOutside is an image that does not show the surface.
	ErrOutside = errors.New("outside of the surface")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "ortho: "+format, args...)
}
