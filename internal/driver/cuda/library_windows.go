package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

type dll struct {
	handle syscall.Handle
}

// openLibrary opens the library from the directory where the driver installs it, and
// from nowhere else.
func openLibrary() (Library, error) {
	root := os.Getenv("SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	handle, err := syscall.LoadLibrary(filepath.Join(root, "System32", "nvcuda.dll"))
	if err != nil {
		return nil, fmt.Errorf("the NVIDIA driver library nvcuda.dll was not found: %w", err)
	}
	return &dll{handle}, nil
}

func (l *dll) Lookup(name string) uintptr {
	addr, err := syscall.GetProcAddress(l.handle, name)
	if err != nil {
		return 0
	}
	return addr
}

func (l *dll) Call(function uintptr, args []uintptr) uintptr {
	r, _, _ := syscall.SyscallN(function, args...)
	return r
}

// obstacle returns "": Windows does not say why a device cannot be used.
func obstacle() string { return "" }
