package gpu

import (
	"context"

	"quern.dev/internal/driver"
)

// Persistent is implemented by the owner of persistent kernels: kernels that run on a
// device until they are told to end, such as actors. Some operations of a GPU's driver wait
// for all running kernels on all streams; see [Operation]. The device calls Quiesce before
// such an operation and Resume after it. Between the two, no kernel of the owner may run.
// Allocating buffers and host buffers needs no such operation while there are persistent
// kernels.
//
// Both methods may be called from any goroutine. They must not allocate or free
// memory, or load kernels. Each device that is open for a GPU quiesces the persistent
// kernels of all of them. Closing the device calls Quiesce with [CloseDevice], and
// does not call Resume: the owner may then free its resources.
type Persistent interface {
	Quiesce(op Operation) error
	Resume() error
}

// Operation is a driver operation that makes persistent kernels end temporarily.
type Operation string

// The operations that wait for all kernels of a GPU.
const (
	// FreeMemory frees memory that was allocated before the first persistent kernel,
	// mapped host memory, managed memory or a texture.
	FreeMemory = Operation(driver.FreeMemory)
	// LoadKernel loads a kernel or resizes a resource that it needs.
	LoadKernel = Operation(driver.LoadModule)
	// UnloadKernel unloads a kernel.
	UnloadKernel = Operation(driver.UnloadModule)
	// NewStreams makes streams.
	NewStreams = Operation(driver.NewStreams)
	// MapPeer maps memory of another device or process, or ends the mapping.
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
		d.persistentMemory.giveBack(d)
	}
}

// owner adapts a Persistent to the driver, for a device that also does other work.
type owner struct {
	Persistent
	dev *Device
}

// Quiesce waits for the device's other work before the persistent kernels end. Otherwise
// the operation would wait for that work while the persistent kernels are stopped.
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

// Detached makes a stream for persistent kernels. [Device.Synchronize] does not wait for
// it.
func Detached() StreamOption {
	return func(o *streamOptions) { o.detached = true }
}

// LimitsKernelTime reports whether the driver stops kernels after some seconds, as it does
// on a GPU with a display.
func (d *Device) LimitsKernelTime() bool { return d.drv.Info().KernelTimeLimit }
