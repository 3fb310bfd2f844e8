//go:build !((linux || darwin || windows) && (amd64 || arm64))

package dlpack

import (
	"errors"
	"fmt"
	"unsafe"
)

func deleterAddress() (uintptr, error) {
	return 0, fmt.Errorf("%w: calls from C on this platform", errors.ErrUnsupported)
}

// Delete does nothing: without New no tensor comes to be.
func Delete(unsafe.Pointer, bool) {}
