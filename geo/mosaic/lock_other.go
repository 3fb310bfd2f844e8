//go:build !windows && (!unix || aix || solaris)

package mosaic

import (
	"errors"
	"os"
)

// removeOpen says that an open file can be removed.
const removeOpen = true

func lock(*os.File) error { return errors.ErrUnsupported }
