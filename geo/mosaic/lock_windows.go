package mosaic

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// removeOpen says that an open file can be removed.
const removeOpen = false

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	lockfileFailImmediately = 1
	lockfileExclusiveLock   = 2
	errorLockViolation      = syscall.Errno(33)
)

// lock locks a file, or returns errLocked. The lock is on a byte far behind the data, which stays readable.
func lock(f *os.File) error {
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), lockfileExclusiveLock|lockfileFailImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorLockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return errLocked
	}
	return err
}
