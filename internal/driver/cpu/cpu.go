package cpu

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
)

// alignment of allocations in bytes: a cache line, and the widest vector.
const alignment = 64

// Candidate returns the processor as a device. It can always be opened.
func Candidate() driver.Candidate {
	i := info()
	return driver.Candidate{
		ID:   "cpu",
		Info: i,
		Open: func() (driver.Device, error) { return &device{info: i}, nil },
	}
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
	info driver.Info
}

func (d *device) Info() *driver.Info { return &d.info }

func (d *device) Memory() (free, total int64, err error) {
	free, total = memory()
	return free, total, nil
}

func (d *device) Alloc(size int64) (m driver.Memory, err error) {
	// The run-time system ends the process when memory runs out, so what cannot
	// fit is refused before it is asked for.
	if total := d.info.TotalMemory; total > 0 && size > total {
		return m, outOfMemory(size)
	}
	if size > math.MaxInt-alignment {
		return m, outOfMemory(size)
	}
	defer func() {
		if recover() != nil {
			err = outOfMemory(size)
		}
	}()
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, size+alignment-1)))
	p = unsafe.Add(p, -uintptr(p)%alignment)
	return driver.Memory{Addr: uint64(uintptr(p)), Host: p}, nil
}

func outOfMemory(size int64) error {
	return &driver.Error{
		Op: "allocate", Name: "out of memory", Err: driver.ErrOutOfMemory,
		Text: fmt.Sprintf("%d bytes are more than the machine has", size),
	}
}

// Free leaves the memory to the garbage collector.
func (d *device) Free(driver.Memory) error { return nil }

func (d *device) NewStream() (driver.Stream, error) { return newStream(), nil }

func (d *device) NewEvent() (driver.Event, error) { return new(driver.Timestamp), nil }

func (d *device) Close() error { return nil }
