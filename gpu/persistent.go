package gpu

import (
	"context"

	"quern.dev/internal/driver"
)

// Persistent is the owner of persistent kernels: kernels that run on a device until they are
// told to end, such as actors. Some operations of a GPU's driver wait for all running kernels
// on all streams; see [Operation]. The device calls Quiesce before such an operation, after
// which no kernel of the owner may run, and Resume after it. Allocating buffers and host
// buffers while there are persistent kernels needs no such operation.
//
// Both methods may be called from any goroutine; they must not themselves allocate or
// free memory, or load kernels. Devices that are open for the same GPU quiesce each
// other's persistent kernels. Closing the device calls Quiesce with [CloseDevice], and
// not Resume: the owner may then free what it has.
type Persistent interface {
	Quiesce(op Operation) error
	Resume() error
}

// Operation is a driver operation for which persistent kernels end temporarily.
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

// AddPersistent registers p with the device, until RemovePersistent.
func (d *Device) AddPersistent(p Persistent) { d.able.persistent.AddPersistent(owner{p, d}) }

// RemovePersistent removes p from the device.
func (d *Device) RemovePersistent(p Persistent) {
	d.able.persistent.RemovePersistent(owner{p, d})
	if !d.able.persistent.HasPersistent() {
		d.beside.giveBack(d)
	}
}

// owner adapts a Persistent to a device that does other work too.
type owner struct {
	Persistent
	dev *Device
}

// Quiesce waits for the device's other work before the persistent kernels end. The operation
// waits for that work too, and the persistent kernels would be absent for as long.
func (o owner) Quiesce(op driver.Operation) error {
	if o.dev.notCalled() == nil {
		for _, s := range o.dev.workingStreams() {
			if s.acquire() != nil {
				continue
			}
			_ = s.drv.Synchronize(context.Background()) // the next wait on the stream returns the error
			s.release()
		}
	}
	return o.Persistent.Quiesce(Operation(op))
}

// Detached makes a stream for persistent kernels: [Device.Synchronize] does not wait for
// it.
func Detached() StreamOption {
	return func(o *streamOptions) { o.detached = true }
}

// LimitsKernelTime reports whether the driver ends kernels after some seconds, as it does if
// the GPU has a display.
func (d *Device) LimitsKernelTime() bool { return d.drv.Info().KernelTimeLimit }
