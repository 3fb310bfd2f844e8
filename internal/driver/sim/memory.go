package sim

import (
	"errors"
	"fmt"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/ptxvm"
)

// simulated is the interpreter's memory as the memory of a device.
type simulated struct{ *ptxvm.Memory }

func (m simulated) Alloc(size int64, name string) (driver.Memory, error) {
	if size > ptxvm.DefaultLimit {
		return driver.Memory{}, m.outOfMemory(size)
	}
	addr, err := m.Memory.Alloc(int(size), name)
	if errors.Is(err, ptxvm.ErrOutOfMemory) {
		return driver.Memory{}, m.outOfMemory(size)
	}
	return driver.Memory{Addr: addr}, err
}

func (m simulated) outOfMemory(size int64) error {
	return &driver.Error{
		Op: "allocate", Name: "out of memory", Err: driver.ErrOutOfMemory,
		Text: fmt.Sprintf("%d bytes requested, %d of the simulator's %d in use", size, m.Used(), int64(ptxvm.DefaultLimit)),
	}
}

func (m simulated) Free(p driver.Memory) error { return m.Memory.Free(p.Addr) }

func (m simulated) Read(dst []byte, src driver.Memory) error { return m.Memory.Read(src.Addr, dst) }

func (m simulated) Write(dst driver.Memory, src []byte) error { return m.Memory.Write(dst.Addr, src) }

func (m simulated) Copy(dst, src driver.Memory, n int64) error {
	return m.Memory.Copy(dst.Addr, src.Addr, int(n))
}

func (m simulated) Fill(dst driver.Memory, pattern []byte, count int64) error {
	return m.Memory.Fill(dst.Addr, len(pattern)*int(count), pattern)
}

func (d *device) Memory() (free, total int64, err error) {
	total = d.info.TotalMemory
	return total - d.memory.Used(), total, nil
}

func (d *device) Alloc(size int64) (driver.Memory, error) { return d.memory.Alloc(size, "buffer") }

func (d *device) Free(m driver.Memory) error {
	d.Shared.Begin()
	defer d.Shared.End()
	return d.memory.Free(m)
}

// Forget marks the memory as uninitialized.
func (d *device) Forget(m driver.Memory, size int64) {
	d.Shared.Begin()
	defer d.Shared.End()
	d.memory.Forget(m.Addr, int(size))
}

// AllocManaged returns memory that is shared with the host.
func (d *device) AllocManaged(size int64) (driver.Memory, unsafe.Pointer, error) {
	m, err := d.memory.Alloc(size, "managed memory")
	if err != nil {
		return m, nil, err
	}
	b, err := d.memory.Bytes(m.Addr, int(size))
	if err != nil {
		return driver.Memory{}, nil, errors.Join(err, d.Free(m))
	}
	return m, unsafe.Pointer(unsafe.SliceData(b)), nil
}

// MapHost maps the memory to an address of the simulator.
func (d *device) MapHost(p unsafe.Pointer, size int64) (driver.Memory, error) {
	d.Shared.Begin()
	defer d.Shared.End()
	addr, err := d.memory.Adopt(unsafe.Slice((*byte)(p), size), "host memory")
	return driver.Memory{Addr: addr}, err
}

// UnmapHost removes the mapping, so that a later use of it is detected.
func (d *device) UnmapHost(m driver.Memory) error { return d.Free(m) }
