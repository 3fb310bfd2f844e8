package sim

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/interp"
	"quern.dev/internal/driver/synchronous"
	"quern.dev/internal/ptxvm"
)

// StepsVariable is the environment variable that overrides Options.Steps.
const StepsVariable = "QUERN_SIM_STEPS"

// CountVariable is the environment variable that names a file for the counts of what kernels
// do, by line. A device that counts does not check; it uses all cores.
const CountVariable = "QUERN_COUNT"

// defaultSteps lets a launch run for some minutes, less than the ten minutes after
// which go test ends the tests of a package.
const defaultSteps = 1 << 32

// Options are options of the simulator.
type Options struct {
	Steps    int64 // instructions of all threads of a launch; 0 means 1<<32
	NoChecks bool  // skip all checks but the kernels' own, and use all cores

	Counter *ptxvm.Counter // of what launches do, without checks; or nil
}

// Candidate returns the simulator as a device.
func Candidate(o Options) driver.Candidate {
	i := driver.Info{
		Name:          "PTX simulator",
		DriverVersion: "1",
		TotalMemory:   ptxvm.DefaultLimit,
		Limits:        driver.DefaultLimits(),
	}
	i.Limits.Multiprocessors = 1
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
		return nil, fmt.Errorf("the step limit %d is negative; use 0 for the default", o.Steps)
	}
	if o.Steps == 0 {
		o.Steps = defaultSteps
	}
	m := simulated{ptxvm.NewMemory()}
	d := &device{
		Device:  synchronous.Device{Memory: m, Shared: synchronous.NewTurn()},
		info:    i,
		memory:  m,
		options: interp.Options{Memory: m.Memory, Checks: !o.NoChecks && o.Counter == nil, Steps: o.Steps, Counter: o.Counter},
	}
	if file := os.Getenv(CountVariable); file != "" && o.Counter == nil {
		c, err := countInto(file)
		if err != nil {
			return nil, err
		}
		d.counts = c
		d.options.Checks, d.options.Counter, d.options.Counted = false, c.counter, c.launched
	}
	return d, nil
}

type device struct {
	synchronous.Device // its turn covers everything that uses the memory

	info    driver.Info
	memory  simulated
	options interp.Options
	counts  *counts // or nil
}

// Close writes the counts.
func (d *device) Close() error {
	if d.counts == nil {
		return d.Device.Close()
	}
	return errors.Join(d.Device.Close(), d.counts.write())
}

func (d *device) Info() *driver.Info { return &d.info }

func (d *device) Load(k *driver.Kernel) (driver.Function, error) {
	f, err := synchronous.Interpret(k, d.options)
	if err != nil {
		return nil, err
	}
	return &function{f, d}, nil
}

// function is a loaded kernel. Its variables are in device memory.
type function struct {
	*synchronous.Interpreted
	dev *device
}

func (f *function) Close() error {
	f.dev.Shared.Begin()
	defer f.dev.Shared.End()
	f.Unload(f.dev.memory.Memory)
	return nil
}
