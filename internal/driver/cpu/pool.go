package cpu

import "quern.dev/internal/driver"

func (d *device) NewPool(int64) (driver.Pool, error) { return driver.PlainPool(d), nil }

// Idle reports true: the work is done when a call returns.
func (s *stream) Idle() (bool, error) { return true, nil }
