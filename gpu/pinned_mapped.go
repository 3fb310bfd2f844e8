package gpu

import "quern.dev/internal/driver"

// Mapped returns h as a buffer for launches on the device that made h. Kernels then access host
// memory over the bus. The buffer is valid until h is closed, and need not be closed itself.
//
// Except on the simulator, host and kernels may use the memory at the same time with ordered
// accesses: functions such as [quern.dev/kernel.LoadAcquire] with
// [quern.dev/kernel.SystemScope] in kernels, sync/atomic on the host.
func (h *HostBuffer[T]) Mapped() (*Buffer[T], error) {
	b := h.buffer()
	if err := b.acquire(b.Device()); err != nil {
		return nil, driverError("map host buffer", err)
	}
	defer b.mem.release()
	if err := b.mem.host().mapped(b.mem); err != nil {
		return nil, driverError("map host buffer", err)
	}
	return b.Slice(0, b.length), nil
}

// mapped maps the host memory of m for kernels on the device of m.
func (h *hostMemory) mapped(m *memory) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mappedSize < m.size { // the first time, or a later use of memory of a pool
		err = h.unmap(m.dev)
		if err == nil {
			h.device, err = mapHost(m.dev.drv, h.at, m.size)
		}
		if err == nil {
			h.mappedSize = m.size
		}
	}
	if err == nil && m.drv != h.device {
		m.drv = h.device
	}
	return err
}

// unmap removes the mapping. The memory must not be in use.
func (h *hostMemory) unmap(d *Device) error {
	if h.device == (driver.Memory{}) {
		return nil
	}
	err := unmapHost(d.drv, h.device)
	h.device, h.mappedSize = driver.Memory{}, 0
	return err
}

// Faulted reports, without waiting, whether a kernel of the stream has failed since the last
// wait. The next wait returns the fault.
func (s *Stream) Faulted() (bool, error) {
	if err := s.acquire(); err != nil {
		return false, driverError("query fault", err)
	}
	defer s.release()
	return s.drv.Faulted(), nil
}
