//go:build linux || darwin

// Package dynlib opens shared libraries at run time, without cgo, on Linux, macOS and Windows.
package dynlib

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Library is an open shared library. It is never closed. It is safe for concurrent use.
type Library struct{ handle uintptr }

// Open opens the library in a file. A name without a slash is searched as the dynamic loader does.
func Open(file string) (*Library, error) {
	// The C library keeps the last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	return &Library{handle}, nil
}

// Lookup returns the address of a function, 0 if the library does not have it.
func (l *Library) Lookup(name string) uintptr {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	address, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0
	}
	return address
}

// Call calls the function at an address with integers and pointers.
func (l *Library) Call(function uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}
