package fly

import (
	"errors"
	"fmt"
)

// Errors match one of these, or one of the packages tiff, crs, warp, video and gpu.
var (
	// ErrArgument is an image, a path or an option that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrPlace is an image or a point whose place on the Earth is not known.
	ErrPlace = errors.New("no place on the Earth")
	// ErrMemory is a scene that Options.Memory does not admit.
	ErrMemory = errors.New("not enough memory allowed")
)

// Error says which operation failed, on what, and why.
type Error struct {
	Op     string // "load", "path", "render", "film"
	Object string // "mosaic", "dem", "waypoint 3"
	Reason string // what is wrong, and what to do
	Kind   error  // one of the errors above
}

// Error returns all of it.
func (e *Error) Error() string {
	return "fly: " + e.Op + ": " + e.Object + ": " + e.Reason
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func fail(kind error, op, object, format string, args ...any) error {
	return &Error{Op: op, Object: object, Reason: fmt.Sprintf(format, args...), Kind: kind}
}
