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

// Delete does nothing: no tensors can exist on this platform.
func Delete(unsafe.Pointer, bool) {}
