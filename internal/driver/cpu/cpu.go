package cpu

import (
	"runtime"

	"quern.dev/internal/driver"
)

// Candidate returns the processor as a device. It can always be opened.
func Candidate() driver.Candidate {
	i := info()
	return driver.Candidate{
		ID:   "cpu",
		Info: i,
		Open: func() (driver.Device, error) {
			return &device{GoMemory: driver.GoMemory{Limit: i.TotalMemory}, info: i}, nil
		},
	}
}

// Memory is the process's own memory, whichever device is in use.
func Memory() driver.GoMemory {
	_, total := memory()
	return driver.GoMemory{Limit: total}
}

func info() driver.Info {
	_, total := memory()
	i := driver.Info{
		Name:          modelName(),
		DriverVersion: runtime.Version(),
		TotalMemory:   total,
		Attributes:    driver.Defaults(),
	}
	i.Attributes.Multiprocessors = runtime.GOMAXPROCS(0)
	return i
}

type device struct {
	driver.GoMemory
	driver.Residents
	driver.NoPriorities

	info driver.Info
}

func (d *device) Info() *driver.Info { return &d.info }

func (d *device) Memory() (free, total int64, err error) {
	free, total = memory()
	return free, total, nil
}

func (d *device) Alloc(size int64) (driver.Memory, error) {
	p, err := d.AllocHost(size)
	return driver.Memory{Addr: uint64(uintptr(p)), Host: p}, err
}

// Free leaves the memory to the garbage collector.
func (d *device) Free(driver.Memory) error { return nil }

func (d *device) NewStream() (driver.Stream, error) { return newStream(), nil }

func (d *device) NewEvent() (driver.Event, error) { return new(driver.Timestamp), nil }

func (d *device) Close() error { return nil }
