package mosaic

import (
	"errors"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or one of the packages warp, tiff, crs and gpu.
var (
	// ErrArgument is an option or a source that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrWork is a failure of reading or writing the work file.
	ErrWork = errors.New("work file failed")
	// ErrBusy means that another call, or another process, uses the work file.
	ErrBusy = errors.New("work file in use")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "mosaic: "+format, args...)
}
