package gpu

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/sim"
	"quern.dev/internal/ptxvm"
	"quern.dev/internal/trace"
)

// Backend is a kind of device.
type Backend string

// The back ends.
const (
	CUDA Backend = "cuda" // NVIDIA GPUs, through the driver library
	CPU  Backend = "cpu"  // all cores of the processor; always available
	Sim  Backend = "sim"  // interprets and checks GPU code; always available
)

// DeviceVariable is the environment variable that names the device to open if
// Config.Device is empty.
const DeviceVariable = "QUERN_DEVICE"

// Config selects the device to open. The zero value selects the best available
// device.
type Config struct {
	// Device is "cuda", "cuda:1", "cpu" or "sim"; the CPU and the simulator have one
	// device each, number 0. If it is empty, Open uses the environment variable
	// QUERN_DEVICE. If that is empty too, Open takes the first usable device of
	// [Devices] that is not a simulator.
	Device string

	// Require is the required back end. If it has no usable device, Open fails
	// instead of falling back to the CPU.
	Require Backend

	// Output receives what the kernels of the device print with kernel.Printf; nil
	// means standard output. Waits that return faults also write these messages. The
	// messages of one thread are in order.
	Output io.Writer

	// LaunchTimeout limits the time of a launch, or of a run of a graph, on devices
	// that run kernels in the caller: the CPU and the simulator. A launch that takes
	// longer is stopped and returns a [*KernelError] of kind [GivenUp] that matches
	// [context.DeadlineExceeded]. Zero means no limit. On a GPU nothing stops a
	// kernel; use the contexts of waits to limit the wait.
	LaunchTimeout time.Duration

	// Sim are the options for the simulator.
	Sim SimOptions
}

// SimOptions configure the simulator.
type SimOptions struct {
	// Steps limits the PTX instructions of a launch, over all threads. A launch that
	// exceeds it is stopped with a StepBudget fault. Zero means 1<<32, which takes
	// some minutes. The environment variable QUERN_SIM_STEPS overrides it.
	Steps int64

	// NoChecks turns off all checks except those of the kernels, and uses all cores.
	NoChecks bool

	// Counter is for package profile: it counts what kernels do.
	Counter *ptxvm.Counter
}

// DeviceInfo describes a device, or gives the reason why a device cannot be used.
type DeviceInfo struct {
	ID            string // "cuda:0", or the name of the back end if it has no device
	Backend       Backend
	Name          string
	Memory        int64 // total in bytes, 0 if unknown
	DriverVersion string
	// ComputeMajor and ComputeMinor are the compute capability, 0 if the device has
	// none.
	ComputeMajor, ComputeMinor int

	// Err is the reason why the device cannot be used, or nil.
	Err error
}

// backend is a row of the table of back ends.
type backend struct {
	name Backend
	// list returns at least one device. Without a usable device, Err of that one is
	// the reason.
	list func(Config) []driver.Candidate
	// explicit means that a device is opened only if it is named.
	explicit bool
}

// backends are the back ends in order of preference. Tests replace it.
var backends = []backend{
	{name: CUDA, list: listCUDA},
	{name: CPU, list: listCPU},
	{name: Sim, list: listSim, explicit: true},
}

func listCUDA(Config) []driver.Candidate { return cuda.Candidates() }

func listCPU(Config) []driver.Candidate { return []driver.Candidate{cpu.Candidate()} }

func listSim(c Config) []driver.Candidate {
	return []driver.Candidate{sim.Candidate(sim.Options(c.Sim))}
}

// Devices returns all devices of the machine, best first. A back end without a usable
// device is included, with the reason in Err.
func Devices() []DeviceInfo {
	var infos []DeviceInfo
	for _, b := range backends {
		for _, c := range b.list(Config{}) {
			infos = append(infos, DeviceInfo{
				ID:            c.ID,
				Backend:       b.name,
				Name:          c.Info.Name,
				Memory:        c.Info.TotalMemory,
				DriverVersion: c.Info.DriverVersion,
				ComputeMajor:  c.Info.Major,
				ComputeMinor:  c.Info.Minor,
				Err:           c.Err,
			})
		}
	}
	return infos
}

// Open opens a device. If the device that the configuration names cannot be used, or
// the required back end has no usable device, the error matches [ErrNoDevice] and
// gives the reason.
func Open(config Config) (*Device, error) {
	trace.Environment()
	c, err := config.normalize()
	if err != nil {
		return nil, err
	}
	var passed []string
	for _, b := range backends {
		switch {
		case !c.wants(b):
			continue
		case c.Require != "" && b.name != c.Require:
			passed = append(passed, fmt.Sprintf("%s: the %s back end is required", b.name, c.Require))
			continue
		}
		for _, candidate := range b.list(c) {
			if !c.selects(candidate) {
				continue
			}
			if r := trace.Active(); r != nil && b.name == CUDA && candidate.Err == nil {
				r.UseCUDA() // CUPTI starts best before there are contexts
			}
			drv, err := open(candidate)
			if err != nil {
				passed = append(passed, fmt.Sprintf("%s: %v", candidate.ID, err))
				continue
			}
			return newDevice(b.name, candidate.ID, drv, passed, c)
		}
	}
	if len(passed) == 0 {
		passed = []string{c.Device + ": there is no such device" + c.onlyDevice()}
	}
	return nil, fmt.Errorf("gpu: open %s: %w: %s", c.wanted(), ErrNoDevice, strings.Join(passed, "; "))
}

func open(c driver.Candidate) (driver.Device, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	return c.Open()
}

// normalize fills in the environment's choice and checks the configuration.
func (c Config) normalize() (Config, error) {
	source := "Config.Device"
	if c.Device == "" {
		c.Device, source = os.Getenv(DeviceVariable), DeviceVariable
	}
	known := func(name Backend) bool {
		return slices.ContainsFunc(backends, func(b backend) bool { return b.name == name })
	}
	if c.Device != "" && !known(c.backend()) {
		return c, fmt.Errorf("gpu: open: %w: %s=%s names no back end; use cuda, cuda:1, cpu or sim", ErrNoDevice, source, c.Device)
	}
	if name, number, ok := strings.Cut(c.Device, ":"); ok {
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return c, fmt.Errorf("gpu: open: %w: %s=%s: %q is not a device number", ErrNoDevice, source, c.Device, number)
		}
		c.Device = fmt.Sprintf("%s:%d", name, n)
	}
	if v := os.Getenv(VariantVariable); v != "" && !slices.Contains(variantNames[:], v) {
		return c, fmt.Errorf("gpu: open: %w", invalid("%s=%s names no variant; use coarse, proven, narrow or wide", VariantVariable, v))
	}
	if c.LaunchTimeout < 0 {
		return c, fmt.Errorf("gpu: open: %w", invalid("Config.LaunchTimeout is negative: %v", c.LaunchTimeout))
	}
	if c.Require != "" && !known(c.Require) {
		return c, fmt.Errorf("gpu: open: %w: Config.Require: there is no back end %q", ErrNoDevice, c.Require)
	}
	return c, nil
}

// backend returns the back end that Device names.
func (c Config) backend() Backend {
	name, _, _ := strings.Cut(c.Device, ":")
	return Backend(name)
}

// selects reports whether Device selects the candidate, which is of the same back
// end. If a back end has one device, that is number 0. A candidate that explains why
// its back end has no device stands for all numbers.
func (c Config) selects(candidate driver.Candidate) bool {
	_, number, ok := strings.Cut(c.Device, ":")
	if !ok || candidate.ID == c.Device {
		return true
	}
	alone := !strings.Contains(candidate.ID, ":")
	return alone && (number == "0" || candidate.Err != nil)
}

// onlyDevice returns a note that the back end has only one device, if so.
func (c Config) onlyDevice() string {
	switch b := c.backend(); b {
	case CPU, Sim:
		return fmt.Sprintf("; %s has one device, %[1]s", b)
	default:
		return ""
	}
}

// wants reports whether to consider devices of b.
func (c Config) wants(b backend) bool {
	switch {
	case c.Device != "":
		return b.name == c.backend()
	case c.Require != "":
		return b.name == c.Require
	default:
		return !b.explicit
	}
}

// wanted names the requested device in messages.
func (c Config) wanted() string {
	switch {
	case c.Device != "":
		return c.Device
	case c.Require != "":
		return string(c.Require)
	default:
		return "a device"
	}
}
