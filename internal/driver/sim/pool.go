package sim

import "quern.dev/internal/driver"

// pool forgets what buffers held, so that reading the rest of an earlier one is
// an uninitialised read.
type pool struct {
	driver.Pool
	dev *device
}

func (d *device) NewPool(int64) (driver.Pool, error) {
	return pool{driver.PlainPool(d), d}, nil
}

func (p pool) Forget(m driver.Memory, size int64) {
	p.dev.begin()
	defer p.dev.end()
	p.dev.memory.Forget(m.Addr, int(size))
}

// Idle reports true: the work is done when a call returns.
func (s *stream) Idle() (bool, error) { return true, nil }
