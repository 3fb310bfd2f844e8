//go:build unix && !aix && !solaris

package mosaic

import (
	"errors"
	"os"
	"syscall"
)

// removeOpen says that an open file can be removed.
const removeOpen = true

// lock locks a file, or returns errLocked.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		}
		return err
	}
}
