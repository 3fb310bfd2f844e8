package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"quern.dev/gpu/internal/goroutines"
	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
	"quern.dev/internal/trace"
)

// GraphExec is a graph that is ready to run. Its runs do not overlap, even on different
// streams. It is safe for concurrent use.
type GraphExec struct {
	dev   *Device
	drv   driver.GraphExec
	lease lease.Lease
	last  atomic.Pointer[Stream] // that ran the graph
	stand *Kernel                // stands for the graph in errors of waits

	callers goroutines.Set // that are running functions of the graph

	mu    sync.Mutex // guards the fields below, and updates
	graph *Graph     // whose nodes identify those of the executable graph
	nodes []*Node    // current nodes
	past  []*Node    // nodes that runs from before an update may still use
}

// mostPast limits how many nodes that updates have replaced keep their buffers.
// Beyond it an update waits for the runs.
const mostPast = 256

// Launch runs the graph in the order of the stream. On a GPU it returns when the run is
// queued, on the CPU and the simulator when it is done. The next wait on the stream returns
// the fault of a kernel and the error of a call; if several streams run the graph, a wait on
// one of them does.
//
// On a stream that is recording, the current state of the graph becomes one node of the
// other graph.
func (e *GraphExec) Launch(s *Stream) error {
	c, err := s.enter()
	if err != nil {
		return driverError("launch graph", err)
	}
	defer s.release()
	if err := e.acquire(s.dev); err != nil {
		return driverError("launch graph", err)
	}
	defer e.release()
	if c != nil {
		return driverError("launch graph", e.record(c, s))
	}
	if run, err := s.admit(e.stand); !run {
		return driverError("launch graph", err)
	}
	e.last.Store(s)
	n := s.began(e.stand)
	o := s.traceLaunch(trace.Graph, e.stand)
	return driverError("launch graph", s.launched(n, o.end(e.drv.Launch(s.drv))))
}

// bind makes calls of Go functions go through the executable graph.
func (e *GraphExec) bind(works []driver.GraphNode) []driver.GraphNode {
	for i := range works {
		if f := works[i].Call; f != nil {
			works[i].Call = func() error { return e.call(f) }
		}
		e.bind(works[i].Body)
	}
	return works
}

// call runs a function of the graph.
func (e *GraphExec) call(f func() error) error {
	return onGoroutine(func() error {
		defer e.callers.Enter()()
		if s := e.last.Load(); s != nil {
			defer s.callers.Enter()()
		}
		return f()
	})
}

// notCalled returns an error if a function of the graph is the caller; see
// [Stream.notCalled].
func (e *GraphExec) notCalled() error {
	if e.callers.Here() {
		return invalid("the graph is waiting for the function that makes this call; make it on a goroutine that the function starts")
	}
	return nil
}

// failed records the error of a call.
func (e *GraphExec) failed(err error) {
	if s := e.last.Load(); s != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
}

// record adds the graph as a node to another one.
func (e *GraphExec) record(c *capture, s *Stream) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.graph.outermost().retain(e.nodes)
	return c.add(s, driver.GraphNode{Kind: driver.GraphBody, Body: worksOf(e.nodes)},
		fmt.Sprintf("graph of %s", count(len(e.nodes), "node")), holdsOf(e.nodes)...)
}

func holdsOf(nodes []*Node) []hold {
	var holds []hold
	for _, n := range nodes {
		holds = append(holds, n.holds...)
	}
	return holds
}

// Update replaces the work of node n in later runs. The function records the new work, one
// operation of the same kind, such as a launch with other arguments, another grid or
// another kernel. n is a node of the graph that was instantiated, which does not change, or
// of the graph last passed to UpdateAll.
//
// Updates of launches, copies between buffers and fills take a few microseconds. The driver
// cannot update cooperative launches, copies of Go slices, calls, graphs and conditions: for
// these Update waits for the runs and instantiates the graph again.
func (e *GraphExec) Update(n *Node, record func(s *Stream) error) error {
	if err := e.acquire(nil); err != nil {
		return driverError("update graph", err)
	}
	defer e.release()
	if record == nil {
		return driverError("update graph", invalid("no function to record"))
	}
	c := &capture{graph: &Graph{dev: e.dev}}
	fresh, err := c.run("update graph", record)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case n == nil:
		return driverError("update graph", invalid("node is nil"))
	case n.graph != e.graph || n.index >= len(e.nodes):
		return driverError("update graph", invalid("%v is not a node of the executable graph", n))
	case len(fresh) != 1 || fresh[0].Kind() != n.Kind():
		return driverError("update graph", invalid("%v can only be replaced by one node of the same kind, not by %v", n, fresh))
	}
	fresh[0].work.After = n.work.After
	return driverError("update graph", e.replace(map[int]*Node{n.index: fresh[0]}))
}

// UpdateAll makes later runs do the work of another graph with the same nodes and order, such
// as a second capture of the same function. The nodes of that graph then stand for those of
// e.
func (e *GraphExec) UpdateAll(g *Graph) error {
	if err := e.acquire(nil); err != nil {
		return driverError("update graph", err)
	}
	defer e.release()
	if err := g.check(); err != nil {
		return driverError("update graph", err)
	}
	if g.dev != e.dev {
		return driverError("update graph", otherDevice("graph", g.dev, e.dev))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	nodes := g.Nodes()
	if len(nodes) != len(e.nodes) {
		return driverError("update graph", invalid("the graph has %s, not %d", count(len(nodes), "node"), len(e.nodes)))
	}
	changes := map[int]*Node{}
	for i, n := range nodes {
		old := e.nodes[i]
		if n.Kind() != old.Kind() || !slices.Equal(n.work.After, old.work.After) {
			return driverError("update graph", invalid("node %d is %v after %d, not %v after %d", i, n, n.work.After, old, old.work.After))
		}
		if !sameWork(&n.work, &old.work) {
			changes[i] = n
		}
	}
	if err := e.replace(changes); err != nil {
		return driverError("update graph", err)
	}
	e.graph = g
	return nil
}

// replace replaces nodes, and acquires and releases the objects that they use.
func (e *GraphExec) replace(changes map[int]*Node) error {
	works := make(map[int]driver.GraphNode, len(changes))
	var held []*Node
	undo := func() {
		for _, n := range held {
			n.release()
		}
	}
	for i, n := range changes {
		if err := n.acquire(); err != nil {
			undo()
			return fmt.Errorf("%v: %w", n, err)
		}
		held = append(held, n)
		works[i] = e.bind([]driver.GraphNode{cloneWork(n.work)})[0]
	}
	if err := e.drv.Update(works); err != nil {
		undo()
		return err
	}
	for i, n := range changes {
		e.past = append(e.past, e.nodes[i])
		e.nodes[i] = n
	}
	if len(e.past) < mostPast {
		return nil
	}
	err := e.drv.Wait()
	for _, n := range e.past {
		n.release()
	}
	e.past = e.past[:0]
	return err
}

// sameWork reports whether two nodes of the same kind do the same work.
func sameWork(a, b *driver.GraphNode) bool {
	switch a.Kind {
	case driver.GraphCall, driver.GraphBody, driver.GraphIf, driver.GraphWhile:
		return false
	}
	if a.Box != nil && b.Box != nil && *a.Box != *b.Box {
		return false
	}
	return a.Kind == b.Kind && a.Dst == b.Dst && a.Src == b.Src && a.Host == b.Host && a.Size == b.Size &&
		a.Count == b.Count && bytes.Equal(a.Data, b.Data) && a.Function == b.Function && sameFrame(a.Frame, b.Frame)
}

func sameFrame(a, b *driver.Frame) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Grid != b.Grid || a.Block != b.Block || a.Shared != b.Shared || a.ID != b.ID {
		return false
	}
	return slices.EqualFunc(a.Bytes[:len(a.Bytes)-3], b.Bytes[:len(b.Bytes)-3], bytes.Equal)
}

// Close waits for the runs and releases the executable graph, with the memory of buffers that
// have been closed. Closing again does nothing.
func (e *GraphExec) Close() error {
	if e == nil || e.dev == nil {
		return nil
	}
	if err := e.notCalled(); err != nil {
		return driverError("close graph", err)
	}
	first, destroy := e.lease.Close()
	if first {
		e.dev.mu.Lock()
		delete(e.dev.graphs, e)
		e.dev.mu.Unlock()
	}
	if destroy {
		return e.destroy()
	}
	return nil
}

func (e *GraphExec) destroy() error {
	err := unlessLost(driverError("close graph", e.drv.Close()))
	e.drop()
	return errors.Join(err, e.dev.release())
}

// drop releases the objects that the nodes use.
func (e *GraphExec) drop() {
	for _, n := range e.nodes {
		n.release()
	}
	for _, n := range e.past {
		n.release()
	}
	e.nodes, e.past = nil, nil
}

// acquire begins a use of the executable graph, which release ends. If dev is not
// nil, the graph must be of that device.
func (e *GraphExec) acquire(dev *Device) error {
	switch {
	case e == nil:
		return invalid("executable graph is nil")
	case e.dev == nil:
		return invalid("executable graph was not made by Instantiate")
	case dev != nil && e.dev != dev:
		return otherDevice("executable graph", e.dev, dev)
	case e.callers.Here():
		return e.notCalled()
	case !e.lease.Acquire():
		return e.dev.closedError("executable graph")
	default:
		return nil
	}
}

func (e *GraphExec) release() {
	if e.lease.Release() {
		e.destroy() // the error is dropped: Close has already returned
	}
}

// closeGraphs closes the remaining graphs when the device is closed.
func (d *Device) closeGraphs() error {
	d.mu.Lock()
	graphs := d.graphs
	d.graphs = nil
	d.mu.Unlock()
	var errs []error
	for e := range graphs {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
