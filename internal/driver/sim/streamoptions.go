package sim

import "quern.dev/internal/driver"

// NewPriorityStream makes a stream like any other.
func (d *device) NewPriorityStream(int) (driver.Stream, error) { return d.NewStream() }
