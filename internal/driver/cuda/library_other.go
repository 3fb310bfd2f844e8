//go:build !linux && !windows

package cuda

import (
	"fmt"
	"runtime"
)

func openLibrary() (Library, error) {
	return nil, fmt.Errorf("there is no CUDA for %s", runtime.GOOS)
}

// obstacle returns "": openLibrary has said it all.
func obstacle() string { return "" }
