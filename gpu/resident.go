package gpu

import (
	"context"

	"quern.dev/internal/driver"
)

// Resident is what keeps kernels running on a device for a long time, such as
// actors. Some operations wait for everything that runs on a GPU, whatever its
// stream: freeing memory that was made before the first resident, mapped memory of
// the host, managed memory and textures, and loading and unloading kernels. Buffers
// and host buffers that are made beside residents are not among them. The device
// calls Quiesce before one of them, after which no kernel of the resident's runs, and
// Resume after it. Both may be called from any goroutine; they must not themselves
// allocate or free memory, or load kernels. Devices that are open for the same GPU
// have their residents make way for each other. Closing the device calls Quiesce of
// its own, and not Resume: the resident may then free what it has.
type Resident = driver.Resident

// ResidentOperation says what a resident makes way for.
type ResidentOperation = driver.Operation

// AddResident makes r known to the device, until RemoveResident.
func (d *Device) AddResident(r Resident) { d.drv.AddResident(neighbour{r, d}) }

// RemoveResident ends what AddResident began.
func (d *Device) RemoveResident(r Resident) {
	d.drv.RemoveResident(neighbour{r, d})
	if !d.drv.HasResidents() {
		d.beside.giveBack(d)
	}
}

// neighbour is a resident of a device that does other work too.
type neighbour struct {
	Resident
	dev *Device
}

// Quiesce has the other work done before the resident makes way: the operation
// waits for it too, and the resident would be away for as long.
func (n neighbour) Quiesce(op ResidentOperation) error {
	if n.dev.notCalled() == nil {
		for _, s := range n.dev.workingStreams() {
			if s.acquire() != nil {
				continue
			}
			_ = s.drv.Synchronize(context.Background()) // whoever waits for the stream next has the error
			s.release()
		}
	}
	return n.Resident.Quiesce(op)
}

// Detached makes a stream one that [Device.Synchronize] does not wait for: it is
// for kernels that stay until they are told to end.
func Detached() StreamOption {
	return func(o *streamOptions) { o.detached = true }
}

// LimitsKernelTime reports whether the device's driver ends kernels that run for
// some seconds, as it does where the GPU has a display.
func (d *Device) LimitsKernelTime() bool { return d.drv.Info().KernelTimeLimit }
