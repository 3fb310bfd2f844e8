package gpu

import (
	"context"

	"quern.dev/internal/driver"
)

// Persistent is the owner of persistent kernels: kernels that stay on a device until
// they are told to end, such as actors. Some operations of a GPU's driver wait for every
// kernel that runs, whatever its stream; see [Operation]. The device calls Quiesce before
// one of them, after which no kernel of the owner runs, and Resume after it. Buffers and
// host buffers that are made while there are persistent kernels need no such operation.
//
// Both methods may be called from any goroutine; they must not themselves allocate or
// free memory, or load kernels. Devices that are open for the same GPU quiesce each
// other's persistent kernels. Closing the device calls Quiesce with [CloseDevice], and
// not Resume: the owner may then free what it has.
type Persistent interface {
	Quiesce(op Operation) error
	Resume() error
}

// Operation is why persistent kernels are to end for a while.
type Operation string

// The operations that wait for all kernels of a GPU.
const (
	// FreeMemory frees memory that was made before the first persistent kernel, mapped
	// memory of the host, managed memory or a texture.
	FreeMemory = Operation(driver.FreeMemory)
	// LoadKernel loads a kernel or makes room for what it needs.
	LoadKernel = Operation(driver.LoadModule)
	// UnloadKernel unloads one.
	UnloadKernel = Operation(driver.UnloadModule)
	// NewStreams makes streams.
	NewStreams = Operation(driver.NewStreams)
	// MapPeer makes memory of another device or process known, or ends that.
	MapPeer = Operation(driver.MapPeer)
	// CloseDevice closes the device.
	CloseDevice = Operation(driver.CloseDevice)
)

// AddPersistent makes p known to the device, until RemovePersistent.
func (d *Device) AddPersistent(p Persistent) { d.able.persistent.AddPersistent(owner{p, d}) }

// RemovePersistent ends what AddPersistent began.
func (d *Device) RemovePersistent(p Persistent) {
	d.able.persistent.RemovePersistent(owner{p, d})
	if !d.able.persistent.HasPersistent() {
		d.beside.giveBack(d)
	}
}

// owner owns persistent kernels of a device that does other work too.
type owner struct {
	Persistent
	dev *Device
}

// Quiesce has the other work done before the persistent kernels end: the operation
// waits for it too, and they would be away for as long.
func (o owner) Quiesce(op driver.Operation) error {
	if o.dev.notCalled() == nil {
		for _, s := range o.dev.workingStreams() {
			if s.acquire() != nil {
				continue
			}
			_ = s.drv.Synchronize(context.Background()) // whoever waits for the stream next has the error
			s.release()
		}
	}
	return o.Persistent.Quiesce(Operation(op))
}

// Detached makes a stream one that [Device.Synchronize] does not wait for: it is
// for persistent kernels.
func Detached() StreamOption {
	return func(o *streamOptions) { o.detached = true }
}

// LimitsKernelTime reports whether the device's driver ends kernels that run for
// some seconds, as it does where the GPU has a display.
func (d *Device) LimitsKernelTime() bool { return d.drv.Info().KernelTimeLimit }
