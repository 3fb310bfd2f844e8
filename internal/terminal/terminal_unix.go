//go:build linux || darwin

package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"
)

func control[T any](f *os.File, request uintptr, value *T) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
	})
	if err == nil && failed != 0 {
		err = failed
	}
	return err
}

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return control(f, getAttributes, new(syscall.Termios)) == nil }

// Size returns the number of columns and rows.
func Size(f *os.File) (columns, rows int, err error) {
	var size struct{ rows, columns, x, y uint16 }
	err = control(f, syscall.TIOCGWINSZ, &size)
	return int(size.columns), int(size.rows), err
}

// Raw makes keys available at once, without echo and without signals, until restore is called.
// Output is not changed.
func Raw(f *os.File) (restore func() error, err error) {
	var saved syscall.Termios
	if err := control(f, getAttributes, &saved); err != nil {
		return nil, err
	}
	raw := saved
	raw.Lflag &^= syscall.ICANON | syscall.ECHO | syscall.ISIG | syscall.IEXTEN
	raw.Iflag &^= syscall.IXON | syscall.ICRNL
	raw.Cc[syscall.VMIN], raw.Cc[syscall.VTIME] = 1, 0
	if err := control(f, setAttributes, &raw); err != nil {
		return nil, err
	}
	return func() error { return control(f, setAttributes, &saved) }, nil
}

// Resized returns a channel that receives when the size of the terminal has changed, until stop
// is called.
func Resized() (resized <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

// Suspend stops this process, as Ctrl-Z does, until it is continued.
func Suspend() error { return syscall.Kill(0, syscall.SIGTSTP) }
