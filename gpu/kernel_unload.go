package gpu

import (
	"context"
	"errors"
)

// Close unloads the kernel from every device that has it, after the work of these
// devices. Launches under way end first, and graphs and inline launches keep the kernel until
// they are closed. Every later use is an error that matches [ErrClosed]. Closing again
// does nothing.
//
// It is for kernels that come and go, as those of [Device.Compile]. A kernel that quern
// gen declares is a variable of its package, for the whole program: it takes memory of
// a device from its first launch there until the device is closed, and needs no Close.
// Closing a device unloads all kernels from it, also those that were not closed, which
// is no leak.
func (k *Kernel) Close() error {
	if k == nil || k.launches.New == nil {
		return nil
	}
	for _, r := range k.loaded() {
		if err := r.dev.notCalled(); err != nil {
			return k.failed("close kernel", err)
		}
	}
	if _, destroy := k.lease.Close(); destroy {
		return k.unload()
	}
	return nil
}

// acquire begins a use of the kernel, which release ends.
func (k *Kernel) acquire() error {
	if err := k.check(); err != nil {
		return err
	}
	if !k.lease.Acquire() {
		return closedError("kernel")
	}
	return nil
}

func (k *Kernel) release() {
	if k.lease.Release() {
		k.unload() // the error is lost: Close has returned
	}
}

// loaded returns the kernel's places on devices, with those of its special forms.
func (k *Kernel) loaded() []*loadedKernel {
	k.mu.Lock()
	var all []*loadedKernel
	for r := range k.places {
		all = append(all, r)
	}
	k.mu.Unlock()
	for _, s := range k.special {
		all = append(all, s.kernel.loaded()...)
	}
	return all
}

// unload unloads the kernel, which nobody uses any more.
func (k *Kernel) unload() error {
	var errs []error
	for _, r := range k.loaded() {
		errs = append(errs, r.unload())
	}
	return errors.Join(errs...)
}

// unload takes a kernel from a device, which goes on. The device's streams may still
// run it: the driver unloads a module when they are done, but a fault or a message of
// the kernel that no wait has delivered needs to know what it is of.
func (r *loadedKernel) unload() error {
	d := r.dev
	needed := false
	for _, s := range d.openStreams() {
		if _, err := s.enter(); err != nil {
			continue // closing it waits, and delivers
		}
		if s.detached { // its kernels make way when the module is unloaded
			needed = true
		} else if err := s.drv.Synchronize(context.Background()); err == nil && len(r.kernel.info.Formats) > 0 {
			needed = s.deliver() != nil || needed
		}
		needed = needed || s.drv.Faulted()
		s.release()
	}
	d.mu.Lock()
	delete(d.loaded, r.id)
	if needed {
		rest := r.kernel.info
		rest.Code, rest.Host = nil, nil
		d.loaded[r.id] = &loadedKernel{dev: d, kernel: &Kernel{info: rest}, id: r.id, closed: true}
	}
	d.mu.Unlock()
	d.kernels.CompareAndDelete(r.kernel, r)
	return r.close("close kernel")
}
