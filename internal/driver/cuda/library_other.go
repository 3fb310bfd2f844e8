//go:build !linux && !windows

package cuda

import (
	"fmt"
	"runtime"
)

func openLibrary() (Library, error) {
	return nil, fmt.Errorf("CUDA is not available for %s", runtime.GOOS)
}

// obstacle returns "": the error of openLibrary is complete.
func obstacle() string { return "" }
