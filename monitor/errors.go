package monitor

import (
	"errors"
	"fmt"

	"quern.dev/internal/nvml"
)

// ErrNoGPU is matched by every [*UnavailableError].
var ErrNoGPU = errors.New("no NVIDIA GPU can be monitored")

// ErrLost is matched by the [*GPUError] of a GPU that has failed or needs a reset.
var ErrLost = errors.New("the GPU is lost")

// Reason is why no GPU can be monitored.
type Reason int

// Reasons of an [*UnavailableError].
const (
	Failed       Reason = iota // NVML failed
	NoLibrary                  // there is no NVML, so no driver
	NoDriver                   // the driver's kernel module is not loaded
	NoPermission               // this user may not use the driver
	Mismatch                   // library and kernel module are of different versions
	NoDevice                   // the driver works, and has no GPU
)

// advice says what to do about a reason.
var advice = [...]string{
	Failed:       "run nvidia-smi to see whether the driver works",
	NoLibrary:    "if the machine has an NVIDIA GPU, install its driver; start a container with access to the GPU (docker run --gpus all) and the driver capability utility",
	NoDriver:     "load the kernel module (modprobe nvidia)",
	NoPermission: "add the user to the group that owns /dev/nvidiactl, or change its permissions",
	Mismatch:     "the driver was updated: reboot, or reload its kernel module",
	NoDevice:     "check that this machine or container has been given a GPU",
}

// UnavailableError means that no GPU can be monitored.
type UnavailableError struct {
	Reason Reason
	Err    error // the cause
}

// Error says that no GPU can be monitored, and why.
func (e *UnavailableError) Error() string { return "monitor: no NVIDIA GPU: " + e.Err.Error() }

// Advice says what to do.
func (e *UnavailableError) Advice() string { return advice[e.Reason] }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Is matches ErrNoGPU.
func (e *UnavailableError) Is(target error) bool { return target == ErrNoGPU }

// unavailable classifies an error of nvml.Open.
func unavailable(err error) *UnavailableError {
	u := &UnavailableError{Failed, err}
	var missing *nvml.MissingError
	var failed *nvml.Error
	switch {
	case errors.As(err, &missing):
		u.Reason = NoLibrary
	case errors.As(err, &failed):
		switch failed.Code {
		case nvml.DriverNotLoaded:
			u.Reason = NoDriver
		case nvml.NoPermission:
			u.Reason = NoPermission
		case nvml.VersionMismatch:
			u.Reason = Mismatch
		case nvml.NotFound, nvml.GPUNotFound:
			u.Reason = NoDevice
		}
	}
	return u
}

// GPUError means that a GPU cannot be read.
type GPUError struct {
	Index int // of the GPU
	Err   error
}

// Error names the GPU, then the cause.
func (e *GPUError) Error() string { return fmt.Sprintf("monitor: GPU %d: %v", e.Index, e.Err) }

// Unwrap returns the cause.
func (e *GPUError) Unwrap() error { return e.Err }

// Is matches ErrLost.
func (e *GPUError) Is(target error) bool { return target == ErrLost && isLost(e.Err) }

func isLost(err error) bool {
	var failed *nvml.Error
	return errors.As(err, &failed) && (failed.Code == nvml.GPUIsLost || failed.Code == nvml.ResetRequired)
}

// errClosed is returned by methods of a closed Monitor.
var errClosed = errors.New("monitor: the monitor is closed")
