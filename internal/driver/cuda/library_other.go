//go:build !linux && !windows

package cuda

import (
	"fmt"
	"runtime"
)

func openLibrary() (Library, error) {
	return nil, fmt.Errorf("there is no CUDA for %s", runtime.GOOS)
}

// obstacle returns "": the error of openLibrary is complete.
func obstacle() string { return "" }
