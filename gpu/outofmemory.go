package gpu

import (
	"errors"
	"fmt"

	"quern.dev/internal/driver"
)

// OutOfMemoryError means that a device does not have enough free memory, even after its
// pools were trimmed, or that a pool would exceed its limit. It matches [ErrOutOfMemory]
// and, if it comes from a driver, [*Error].
type OutOfMemoryError struct {
	Device string // ID
	Bytes  int64  // requested, as rounded by a pool

	// Limit is the pool's limit, or zero if the device has no more memory.
	Limit int64
	// Free and Total are the device's memory, zero if unknown.
	Free, Total int64

	// Holders are the lines of the program that made the open buffers of the pool or
	// the device, largest first. Sizes are as rounded by pools.
	Holders []Holder

	Err error // the driver's error, or nil
}

// Error states how much was requested, how much is free, and the largest holders.
func (e *OutOfMemoryError) Error() string {
	if e.Limit > 0 {
		return fmt.Sprintf("%s would exceed the pool's limit of %d%s", count64(e.Bytes, "byte"), e.Limit, e.held())
	}
	text := "out of memory"
	if e.Err != nil {
		text = e.Err.Error()
	}
	if e.Total > 0 {
		text += fmt.Sprintf("; %d of %s are free", e.Free, count64(e.Total, "byte"))
	}
	return text + e.held()
}

// held describes what the program holds.
func (e *OutOfMemoryError) held() string {
	buffers, bytes := 0, int64(0)
	for _, h := range e.Holders {
		buffers, bytes = buffers+h.Buffers, bytes+h.Bytes
	}
	return fmt.Sprintf("; in use are %s, %s%s", count(buffers, "buffer"), count64(bytes, "byte"), list(e.Holders))
}

// Unwrap returns ErrOutOfMemory and the driver's error.
func (e *OutOfMemoryError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrOutOfMemory}
	}
	return []error{ErrOutOfMemory, e.Err}
}

// allocating calls alloc, which allocates size bytes. If the device is out of memory, it
// trims the pools and calls alloc again.
func (d *Device) allocating(size int64, alloc func() (driver.Memory, error)) (driver.Memory, error) {
	m, err := alloc()
	if !errors.Is(err, ErrOutOfMemory) {
		return m, err
	}
	if d.trimPools() {
		if m, err = alloc(); !errors.Is(err, ErrOutOfMemory) {
			return m, err
		}
	}
	e := &OutOfMemoryError{Device: d.id, Bytes: size, Holders: holders(d.allocations()), Err: public(err)}
	e.Free, e.Total = d.Memory()
	return m, e
}

// trimPools trims all pools of the device, and reports whether they released memory.
func (d *Device) trimPools() bool {
	trimmed := false
	for _, p := range d.openPools() {
		p, ok := p.(*Pool)
		if !ok {
			continue
		}
		mayKeep := p.config.ReleaseThreshold > 0 // its driver may keep what was released
		if s := p.Stats(); s.Reserved > s.Used || mayKeep {
			trimmed = p.Trim() == nil || trimmed
		}
	}
	return trimmed
}
