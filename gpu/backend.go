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
)

// Backend is a kind of device.
type Backend string

// The back ends.
const (
	CUDA Backend = "cuda" // NVIDIA GPUs, through the driver library
	CPU  Backend = "cpu"  // all cores of the processor; always there
	Sim  Backend = "sim"  // interprets and checks the code for GPUs; always there
)

// DeviceVariable is the environment variable that chooses the device which
// [Open] opens if Config.Device is empty.
const DeviceVariable = "QUERN_DEVICE"

// Config says which device to open. The zero value is the best one there is.
type Config struct {
	// Device is "cuda", "cuda:1", "cpu" or "sim"; the last two have one device
	// each, number 0. If it is empty, the environment variable QUERN_DEVICE takes
	// its place; if that is empty too, Open takes the first usable device of
	// [Devices] that is not a simulator.
	Device string

	// Require is the back end that the device must have. If there is no such
	// device, Open fails instead of falling back to the CPU.
	Require Backend

	// Output is where the kernels of the device print with kernel.Printf; nil is
	// standard output. Their messages are written by the waits that also return
	// faults, those of one thread in order.
	Output io.Writer

	// LaunchTimeout ends a launch, or a run of a graph, that takes longer, on devices
	// that run kernels in the caller: the CPU and the simulator. The launch returns a
	// [*KernelError] of kind [GivenUp] that matches [context.DeadlineExceeded]. Zero
	// is no limit. On a GPU nothing ends a kernel; there the contexts of waits say
	// how long to wait.
	LaunchTimeout time.Duration

	// Sim applies if the device is the simulator.
	Sim SimOptions
}

// SimOptions are options of the simulator.
type SimOptions struct {
	// Steps is the number of PTX instructions, over all threads, after which a
	// launch is stopped with a StepBudget fault. Zero means 1<<32, which takes some
	// minutes; the environment variable QUERN_SIM_STEPS overrides it.
	Steps int64

	// NoChecks turns off all checks but the kernels' own, and uses all cores.
	NoChecks bool
}

// DeviceInfo describes a device, or says why one cannot be used.
type DeviceInfo struct {
	ID            string // "cuda:0"; the name of the back end if it has no device
	Backend       Backend
	Name          string
	Memory        int64 // total in bytes, 0 if unknown
	DriverVersion string
	// ComputeMajor and ComputeMinor are the compute capability, 0 if it has none.
	ComputeMajor, ComputeMinor int

	// Err says why the device cannot be used, nil if it can.
	Err error
}

// backend is a line of the table of back ends.
type backend struct {
	name Backend
	// list returns the devices, at least one: without a device its Err says why.
	list func(Config) []driver.Candidate
	// explicit means that a device is opened only if it is asked for by name.
	explicit bool
}

// backends in order of preference. Tests replace it.
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

// Devices returns all devices of the machine, best first. A back end that has no
// usable device is there too, with the reason in Err.
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

// Open opens a device. Devices that were asked for and cannot be used, and a
// back end that is required and has no device, are errors that match
// [ErrNoDevice] and give the reason.
func Open(config Config) (*Device, error) {
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

// normalize fills in the environment's choice and checks the names.
func (c Config) normalize() (Config, error) {
	source := "Config.Device"
	if c.Device == "" {
		c.Device, source = os.Getenv(DeviceVariable), DeviceVariable
	}
	known := func(name Backend) bool {
		return slices.ContainsFunc(backends, func(b backend) bool { return b.name == name })
	}
	if c.Device != "" && !known(c.backend()) {
		return c, fmt.Errorf("gpu: open: %w: %s=%s names no back end; write cuda, cuda:1, cpu or sim", ErrNoDevice, source, c.Device)
	}
	if name, number, ok := strings.Cut(c.Device, ":"); ok {
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return c, fmt.Errorf("gpu: open: %w: %s=%s: %q is not a device number", ErrNoDevice, source, c.Device, number)
		}
		c.Device = fmt.Sprintf("%s:%d", name, n)
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

// selects reports whether Device, whose back end is the candidate's, means the
// candidate. Where a back end has one device, that is number 0; one that says
// why its back end has none stands for all numbers.
func (c Config) selects(candidate driver.Candidate) bool {
	_, number, ok := strings.Cut(c.Device, ":")
	if !ok || candidate.ID == c.Device {
		return true
	}
	alone := !strings.Contains(candidate.ID, ":")
	return alone && (number == "0" || candidate.Err != nil)
}

// onlyDevice says that the back end has one device, if so.
func (c Config) onlyDevice() string {
	switch b := c.backend(); b {
	case CPU, Sim:
		return fmt.Sprintf("; %s has one device, %[1]s", b)
	default:
		return ""
	}
}

// wants reports whether devices of b are to be considered.
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

// wanted names what was asked for, for messages.
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
