package gpu

import "quern.dev/internal/driver"

// Resident is what keeps kernels running on a device for a long time, such as
// actors. Some operations wait for everything that runs on a GPU, whatever its
// stream: freeing memory, and loading and unloading kernels. The device calls
// Quiesce before one of them, after which no kernel of the resident's runs, and
// Resume after it. Both may be called from any goroutine; they must not themselves
// free memory or load kernels. Closing the device calls Quiesce, and not Resume.
type Resident = driver.Resident

// AddResident makes r known to the device, until RemoveResident.
func (d *Device) AddResident(r Resident) { d.drv.AddResident(r) }

// RemoveResident ends what AddResident began.
func (d *Device) RemoveResident(r Resident) { d.drv.RemoveResident(r) }

// Detached makes a stream one that [Device.Synchronize] does not wait for: it is
// for kernels that stay until they are told to end.
func Detached() StreamOption {
	return func(o *streamOptions) { o.detached = true }
}

// LimitsKernelTime reports whether the device's driver ends kernels that run for
// some seconds, as it does where the GPU has a display.
func (d *Device) LimitsKernelTime() bool { return d.drv.Info().KernelTimeLimit }
