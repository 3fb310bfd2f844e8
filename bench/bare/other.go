//go:build !linux

package bare

import "errors"

var errLinux = errors.New("bare driver calls are measured on Linux only")

// Driver is the opened library.
type Driver struct{}

// Open opens the library.
func Open() (*Driver, error) { return nil, errLinux }

// Lookup returns the address of a function, 0 if there is none of the name.
func (d *Driver) Lookup(name string) uintptr { return 0 }

// CallAt calls the function at an address and returns its result.
func (d *Driver) CallAt(function uintptr, args []uintptr) uintptr { return 0 }

// Launcher launches a kernel that does nothing.
type Launcher struct{}

// NewLauncher makes a launcher of a kernel whose parameters have the given sizes
// in bytes.
func NewLauncher(sizes ...int) (*Launcher, error) { return nil, errLinux }

// Submit makes one call of cuLaunchKernel.
func (l *Launcher) Submit() error { return errLinux }

// Wait waits for the launches.
func (l *Launcher) Wait() error { return errLinux }

// Close releases what the launcher has.
func (l *Launcher) Close() {}
