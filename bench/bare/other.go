//go:build !linux

package bare

import "errors"

var errLinux = errors.New("bare: driver calls are measured on Linux only")

// Driver is the opened driver library.
type Driver struct{}

// Open opens the driver library.
func Open() (*Driver, error) { return nil, errLinux }

// Lookup returns the address of a function, or 0 if there is no function with that name.
func (d *Driver) Lookup(name string) uintptr { return 0 }

// CallAt calls the function at an address and returns its result.
func (d *Driver) CallAt(function uintptr, args []uintptr) uintptr { return 0 }

// Launcher launches an empty kernel.
type Launcher struct{}

// NewLauncher returns a launcher of a kernel whose parameters have the given sizes in
// bytes.
func NewLauncher(sizes ...int) (*Launcher, error) { return nil, errLinux }

// Submit calls cuLaunchKernel once.
func (l *Launcher) Submit() error { return errLinux }

// Wait waits for the launches to finish.
func (l *Launcher) Wait() error { return errLinux }

// Close releases the resources of the launcher.
func (l *Launcher) Close() {}
