//go:build (!unix && !windows) || aix || solaris

package filemap

import (
	"errors"
	"os"
)

// Map is not supported.
func Map(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// Unmap is not supported.
func Unmap([]byte) error { return errors.ErrUnsupported }
