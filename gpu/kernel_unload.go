package gpu

import (
	"context"
	"errors"
)

// Close waits for running launches and unloads the kernel from all devices. Graphs and inline
// launches keep the kernel until they are closed. Later uses return an error that matches
// [ErrClosed]. Closing again does nothing.
//
// Close is for kernels of limited lifetime, such as those of [Device.Compile]. Kernels that
// quern gen declares are variables for the whole program and need no Close: each uses memory
// of a device from its first launch until the device is closed. Closing a device unloads its
// kernels. A kernel that is not closed is not a leak.
func (k *Kernel) Close() error {
	if k == nil {
		return nil
	}
	k.ready()
	if k.launches.New == nil {
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
		k.unload() // the error is dropped: Close has already returned
	}
}

// loaded returns the kernel and its special forms on all devices.
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

// unload unloads a kernel that is no longer in use.
func (k *Kernel) unload() error {
	var errs []error
	for _, r := range k.loaded() {
		errs = append(errs, r.unload())
	}
	return errors.Join(errs...)
}

// unload unloads a kernel from a device that stays open. Streams may still be running the
// kernel: the driver unloads a module when they are done. The description stays while a
// fault or a message of the kernel may still have to be reported.
func (r *loadedKernel) unload() error {
	d := r.dev
	needed := false
	for _, s := range d.openStreams() {
		if _, err := s.enter(); err != nil {
			continue // closing it waits, and delivers
		}
		if s.detached { // its kernels end temporarily when the module is unloaded
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
