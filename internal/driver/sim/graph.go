package sim

import "quern.dev/internal/driver"

func (d *device) NewGraphExec(nodes []driver.GraphNode, failed func(error)) (driver.GraphExec, error) {
	return driver.NewSteps(nodes, failed), nil
}

// Failed reports whether a kernel has failed.
func (s *stream) Failed() bool {
	s.dev.begin()
	defer s.dev.end()
	return s.fault != nil
}
