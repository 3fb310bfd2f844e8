package sim

import (
	"errors"
	"unsafe"

	"quern.dev/internal/driver"
)

// AllocManaged returns memory whose bytes the host shares.
func (d *device) AllocManaged(size int64) (driver.Memory, unsafe.Pointer, error) {
	m, err := d.alloc(size, "managed memory")
	if err != nil {
		return m, nil, err
	}
	b, err := d.memory.Bytes(m.Addr, int(size))
	if err != nil {
		return driver.Memory{}, nil, errors.Join(err, d.Free(m))
	}
	return m, unsafe.Pointer(unsafe.SliceData(b)), nil
}

func (d *device) Advise(driver.Memory, int64, driver.Advice) error { return nil }

func (s *stream) Prefetch(driver.Memory, int64, bool) error { return nil }
