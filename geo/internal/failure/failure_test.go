package failure

import (
	"errors"
	"io"
	"testing"
)

func TestErrorsMatchTheirKindAndTheirCause(t *testing.T) {
	kind := errors.New("bad argument")
	err := New(kind, "warp: %s: cannot be read: %w", "a.tif", io.ErrUnexpectedEOF)
	if err.Error() != "warp: a.tif: cannot be read: unexpected EOF" {
		t.Error(err)
	}
	if !errors.Is(err, kind) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		t.Errorf("%v does not match what it wraps", err)
	}
}
