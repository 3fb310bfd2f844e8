package cpu

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// AllocManaged is Alloc: host and device are the same.
func (d *device) AllocManaged(size int64) (driver.Memory, unsafe.Pointer, error) {
	m, err := d.Alloc(size)
	return m, m.Host, err
}

func (d *device) Advise(driver.Memory, int64, driver.Advice) error { return nil }

func (s *stream) Prefetch(driver.Memory, int64, bool) error { return nil }
