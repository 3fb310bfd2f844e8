package sim

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/interp"
	"quern.dev/internal/ptxvm"
)

// StepsVariable is the environment variable that overrides Options.Steps.
const StepsVariable = "QUERN_SIM_STEPS"

// defaultSteps lets a launch run for some minutes, fewer than the ten after which
// go test ends a package's tests.
const defaultSteps = 1 << 32

// Options are options of the simulator.
type Options struct {
	Steps    int64 // instructions of all threads of a launch; 0 is 1<<32
	NoChecks bool  // leave out all checks but the kernels' own, and use all cores
}

// Candidate returns the simulator as a device.
func Candidate(o Options) driver.Candidate {
	i := driver.Info{
		Name:          "PTX simulator",
		DriverVersion: "1",
		TotalMemory:   ptxvm.DefaultLimit,
		Attributes:    driver.Defaults(),
	}
	i.Attributes.Multiprocessors = 1
	return driver.Candidate{
		ID:   "sim",
		Info: i,
		Open: func() (driver.Device, error) { return open(i, o) },
	}
}

func open(i driver.Info, o Options) (driver.Device, error) {
	if text := os.Getenv(StepsVariable); text != "" {
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("%s=%s is not a positive number", StepsVariable, text)
		}
		o.Steps = n
	}
	if o.Steps < 0 {
		return nil, fmt.Errorf("a budget of %d steps", o.Steps)
	}
	if o.Steps == 0 {
		o.Steps = defaultSteps
	}
	d := &device{GoMemory: driver.GoMemory{Limit: i.TotalMemory}, info: i, memory: ptxvm.NewMemory(), turn: make(chan struct{}, 1)}
	d.options = interp.Options{Memory: d.memory, Checks: !o.NoChecks, Steps: o.Steps}
	return d, nil
}

type device struct {
	driver.GoMemory
	driver.Residents
	driver.NoPriorities

	info    driver.Info
	memory  *ptxvm.Memory
	options interp.Options

	// turn holds one value while a call is at work. It is a channel so that a
	// wait for it can be cancelled.
	turn chan struct{}
}

func (d *device) Info() *driver.Info { return &d.info }

func (d *device) Memory() (free, total int64, err error) {
	total = d.info.TotalMemory
	return total - d.memory.Used(), total, nil
}

func (d *device) Alloc(size int64) (driver.Memory, error) {
	return d.alloc(size, "buffer")
}

func (d *device) alloc(size int64, name string) (driver.Memory, error) {
	if size > d.info.TotalMemory {
		return driver.Memory{}, outOfMemory(size, ptxvm.ErrOutOfMemory)
	}
	addr, err := d.memory.Alloc(int(size), name)
	if errors.Is(err, ptxvm.ErrOutOfMemory) {
		return driver.Memory{}, outOfMemory(size, err)
	}
	return driver.Memory{Addr: addr}, err
}

func outOfMemory(size int64, err error) error {
	return &driver.Error{
		Op: "allocate", Name: "out of memory", Err: driver.ErrOutOfMemory,
		Text: fmt.Sprintf("%d bytes: %v", size, err),
	}
}

func (d *device) Free(m driver.Memory) error {
	d.begin()
	defer d.end()
	return d.memory.Free(m.Addr)
}

func (d *device) NewEvent() (driver.Event, error) { return new(driver.Timestamp), nil }

func (d *device) Load(k *driver.Kernel) (driver.Function, error) {
	f, err := interp.Load(k)
	if err != nil {
		return nil, err
	}
	return &function{f, d, k.Prints}, nil
}

func (d *device) Close() error { return nil }

func (d *device) begin() { d.turn <- struct{}{} }
func (d *device) end()   { <-d.turn }

// function is a loaded kernel.
type function struct {
	*interp.Function
	dev    *device
	prints bool
}

func (f *function) Close() error {
	f.dev.begin()
	defer f.dev.end()
	f.Unload(f.dev.memory)
	return nil
}
