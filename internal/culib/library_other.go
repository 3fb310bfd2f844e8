//go:build !linux

package culib

import (
	"errors"

	"quern.dev/internal/engine"
)

// openFile returns an error: the libraries are used on Linux only.
func openFile(engine.Library, int) (Library, string, error) {
	return nil, "", errors.New("the library is used on Linux only")
}
