package cpu

import "quern.dev/internal/driver"

func (d *device) NewGraphExec(nodes []driver.GraphNode) (driver.GraphExec, error) {
	return driver.NewSteps(nodes), nil
}

// Failed reports whether a kernel has failed.
func (s *stream) Failed() bool {
	s.begin()
	defer s.end()
	return s.fault != nil
}
