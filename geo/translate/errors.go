package translate

import (
	"errors"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or one of the packages tiff and crs.
var (
	// ErrArgument is an option that cannot be used, or not with the image.
	ErrArgument = errors.New("bad argument")
	// ErrOutside is a part outside of the image.
	ErrOutside = errors.New("outside of the image")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "translate: "+format, args...)
}
