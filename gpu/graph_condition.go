package gpu

import (
	"fmt"

	"quern.dev/internal/driver"
)

// If records work that each run of the graph does only if the element of condition is not
// zero at that point. s must be recording a graph.
//
// The body is recorded on its own stream, which other streams join as they join a graph.
// Streams that are already recording a graph, including s, return an error in the body,
// because their work would be unconditional. The body cannot contain calls of Go functions.
// It does not run after a kernel of the run has failed.
func If(s *Stream, condition *Buffer[uint32], body func(s *Stream) error) error {
	return conditional(s, driver.GraphIf, condition, body)
}

// While records work as [If] does. Each run of the graph repeats the work while the element of
// condition is not zero, which it tests before each iteration. The loop ends only when the
// element is zero or a kernel fails.
func While(s *Stream, condition *Buffer[uint32], body func(s *Stream) error) error {
	return conditional(s, driver.GraphWhile, condition, body)
}

func conditional(s *Stream, kind driver.GraphKind, condition *Buffer[uint32], body func(s *Stream) error) error {
	doing := fmt.Sprintf("record %v", kind)
	c, err := s.enter()
	if err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := condition.acquire(s.dev); err != nil {
		return driverError(doing+": condition", err)
	}
	defer condition.mem.release()
	switch {
	case c == nil:
		return driverError(doing, invalid("the stream is not recording a graph; call this function within Device.Capture or Graph.Add"))
	case condition.length != 1:
		return driverError(doing, invalid("a condition of %s, want 1", count(condition.length, "element")))
	case body == nil:
		return driverError(doing, invalid("no function to record"))
	}
	nodes, err := c.body(doing, s, body)
	if err != nil {
		return err
	}
	if n := callIn(nodes); n != "" {
		return driverError(doing, invalid("the body contains %s of a Go function, which is not possible in conditional nodes", n))
	}
	return driverError(doing, c.add(s, driver.GraphNode{Kind: kind, Cond: condition.at(), Body: worksOf(nodes)},
		fmt.Sprintf("%v of %s", kind, count(len(nodes), "node")), append(holdsOf(nodes), condition.mem)...))
}

// callIn describes a Go function call among the nodes and the nodes within them. It
// returns "" if there is none.
func callIn(nodes []*Node) string {
	var find func(works []driver.GraphNode) bool
	find = func(works []driver.GraphNode) bool {
		for i := range works {
			if works[i].Kind == driver.GraphCall || find(works[i].Body) {
				return true
			}
		}
		return false
	}
	for _, n := range nodes {
		if n.work.Kind == driver.GraphCall || find(n.work.Body) {
			return "a call"
		}
	}
	return ""
}
