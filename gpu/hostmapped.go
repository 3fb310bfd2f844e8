package gpu

import "quern.dev/internal/driver"

// Mapped returns h as a buffer for launches on the device that made it: kernels
// then read and write the memory of the host, over the bus. It need not be closed,
// and lives as long as h.
//
// Host and kernels may use the memory at the same time, by ordered accesses
// ([quern.dev/kernel.LoadAcquire] and its like with [quern.dev/kernel.SystemScope]
// there, sync/atomic here), but for the simulator, where they take turns.
func (h *HostBuffer[T]) Mapped() (*Buffer[T], error) {
	b := h.buffer()
	if err := b.acquire(b.Device()); err != nil {
		return nil, driverError("map host buffer", err)
	}
	defer b.mem.release()
	if err := b.mem.host.mapped(b.mem); err != nil {
		return nil, driverError("map host buffer", err)
	}
	return b.Slice(0, b.length), nil
}

// mapped gives the memory an address on its device, once.
func (h *hostMemory) mapped(m *memory) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil || m.drv != (driver.Memory{}) {
		return nil
	}
	var err error
	m.drv, err = m.dev.drv.MapHost(h.at, m.size)
	return err
}

// unmap ends the address. Nobody uses the memory any more.
func (h *hostMemory) unmap(m *memory) error {
	if m.drv == (driver.Memory{}) {
		return nil
	}
	err := m.dev.drv.UnmapHost(m.drv)
	m.drv = driver.Memory{}
	return err
}

// Faulted reports, without waiting, whether a kernel of the stream has failed
// since the last wait, which the next one will say.
func (s *Stream) Faulted() (bool, error) {
	if err := s.acquire(); err != nil {
		return false, driverError("look for a fault", err)
	}
	defer s.release()
	return s.drv.Faulted(), nil
}
