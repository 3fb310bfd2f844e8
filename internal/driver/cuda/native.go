package cuda

import (
	"runtime"

	"quern.dev/internal/driver"
)

// Handle returns the CUstream.
func (s *stream) Handle() uintptr { return s.handle }

// Native calls f with the device's context current. The libraries load their kernels when
// they are first used, which waits for all kernels; so f runs apart from persistent ones.
func (d *device) Native(f func() error) error {
	if d.HasPersistent() {
		return d.Apart(driver.LoadModule, func() error { return d.inContext(f) })
	}
	return d.inContext(f)
}

// inContext calls f with the context current on this thread, and leaves it current.
func (d *device) inContext(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := d.api.raw(cuCtxSetCurrent, d.context); r != success {
		return d.api.check(cuCtxSetCurrent, r)
	}
	return f()
}
