// Package dynlib opens shared libraries at run time, without cgo, on Linux, macOS and Windows.
package dynlib

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// Library is an open shared library. It is never closed. It is safe for concurrent use.
type Library struct{ handle windows.Handle }

// Open opens the library in a file. The libraries that it needs may be beside a file with an absolute path; a name without a
// folder is searched as Windows does.
func Open(file string) (*Library, error) {
	flags := uintptr(0)
	if filepath.IsAbs(file) {
		flags = windows.LOAD_WITH_ALTERED_SEARCH_PATH
	}
	handle, err := windows.LoadLibraryEx(file, 0, flags)
	if err != nil {
		return nil, err
	}
	return &Library{handle}, nil
}

// Lookup returns the address of a function, 0 if the library does not have it.
func (l *Library) Lookup(name string) uintptr {
	address, err := windows.GetProcAddress(l.handle, name)
	if err != nil {
		return 0
	}
	return address
}

// Call calls the function at an address with integers and pointers.
func (l *Library) Call(function uintptr, args []uintptr) uintptr {
	r, _, _ := syscall.SyscallN(function, args...)
	return r
}
