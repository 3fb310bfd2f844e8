package gpu

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"quern.dev/gpu/internal/goroutines"
	"quern.dev/internal/driver"
)

// Graph is recorded work that can be run many times: launches, copies, fills and calls, with
// their order. [Device.Capture] records what a function does on streams; [Device.NewGraph]
// and [Graph.Add] build a graph node by node. [Graph.Instantiate] prepares it.
//
// A Graph is a description: it holds no memory and needs no Close. It is safe for concurrent
// use.
type Graph struct {
	dev *Device

	adding goroutines.Set // in Add

	outer *Graph // of which this is the body of a condition, while it is recorded

	mu    sync.Mutex
	nodes []*Node
	runs  []*Node // of the executable graphs that it runs; they keep temporary memory
}

// NodeKind is the kind of a node of a graph.
type NodeKind string

// Kinds of nodes.
const (
	EmptyNode  NodeKind = "empty"  // nothing; it joins its predecessors
	KernelNode NodeKind = "kernel" // a launch
	CopyNode   NodeKind = "copy"   // between buffers, or from and to the host
	FillNode   NodeKind = "fill"   // Fill or Zero
	CallNode   NodeKind = "call"   // a Go function
	ChildNode  NodeKind = "graph"  // another graph
	IfNode     NodeKind = "if"     // see If
	WhileNode  NodeKind = "while"  // see While
)

var nodeKinds = [...]NodeKind{
	driver.GraphEmpty: EmptyNode, driver.GraphLaunch: KernelNode, driver.GraphCopy: CopyNode,
	driver.GraphBox: CopyNode, driver.GraphWrite: CopyNode, driver.GraphFill: FillNode, driver.GraphIn: CopyNode, driver.GraphOut: CopyNode,
	driver.GraphCall: CallNode, driver.GraphBody: ChildNode, driver.GraphIf: IfNode, driver.GraphWhile: WhileNode,
}

// Node is one operation of a graph.
type Node struct {
	graph *Graph
	index int
	work  driver.GraphNode
	what  string
	holds []hold
}

// hold is an object that must stay alive while work uses it, such as memory.
type hold interface {
	acquire() error
	release()
}

// Kind returns the kind of the node.
func (n *Node) Kind() NodeKind {
	if n == nil {
		return ""
	}
	return nodeKinds[n.work.Kind]
}

// String describes the node: "kernel saxpy", "copy of 4096 bytes".
func (n *Node) String() string {
	if n == nil {
		return "no node"
	}
	return n.what
}

// After returns the nodes that this node follows.
func (n *Node) After() []*Node {
	if n == nil || n.graph == nil {
		return nil
	}
	all := n.graph.Nodes()
	list := make([]*Node, len(n.work.After))
	for i, at := range n.work.After {
		list[i] = all[at]
	}
	return list
}

// NewGraph makes a graph without nodes.
func (d *Device) NewGraph() (*Graph, error) {
	if err := d.check(); err != nil {
		return nil, driverError("new graph", err)
	}
	return &Graph{dev: d}, nil
}

// Capture calls record with a stream, and returns a graph of the work that record adds to it:
// launches, [Copy], [CopyBox], [Fill], [Zero], [CopyIn], [CopyInAsync], [CopyOutAsync],
// [Stream.Call], runs of other graphs, [If] and [While]. The device does none of it now.
// [CopyIn] records the elements that the slice has now; asynchronous copies read and write
// host memory in each run. [Upload] allocates its buffer now and records the copy, so each
// run copies the same elements. Waits, and all other operations that need a stream, return
// an error while the stream is recording.
//
// Other streams join the graph when they wait for an event that was recorded on a stream of
// the graph, or call [Stream.After] with one. Their work is then recorded too, and may run
// concurrently with the rest. They leave the graph when record returns.
//
// If record returns an error, Capture returns it.
func (d *Device) Capture(record func(s *Stream) error) (*Graph, error) {
	const doing = "capture"
	if err := d.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if record == nil {
		return nil, driverError(doing, invalid("no function to record"))
	}
	g := &Graph{dev: d}
	_, err := g.record(doing, nil, record)
	return g, err
}

// Device returns the device of the graph.
func (g *Graph) Device() *Device {
	if g == nil {
		return nil
	}
	return g.dev
}

// Nodes returns the nodes in an order in which each follows its predecessors.
func (g *Graph) Nodes() []*Node {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.nodes)
}

// Add records the work of a function, as [Device.Capture] does, after the given nodes, or at
// the start of the graph if there are none. It returns the node that follows all of this
// work: the last one recorded, or an empty node if several are last.
//
// Add may be called concurrently, but not by the function itself.
//
//	fill, err := g.Add(func(s *gpu.Stream) error { return gpu.Zero(s, sum) })
//	add, err := g.Add(func(s *gpu.Stream) error { return LaunchAdd(s, grid, sum, x) }, fill)
func (g *Graph) Add(record func(s *Stream) error, after ...*Node) (*Node, error) {
	if err := g.check(); err != nil {
		return nil, driverError("add to graph", err)
	}
	if record == nil {
		return nil, driverError("add to graph", invalid("no function to record"))
	}
	var first []int
	for i, n := range after {
		if err := g.has(n); err != nil {
			return nil, driverError("add to graph", fmt.Errorf("after, number %d: %w", i, err))
		}
		first = append(first, n.index)
	}
	if g.adding.Here() {
		return nil, driverError("add to graph", invalid("the function that Add records calls Add itself; call Add again after it returns"))
	}
	defer g.adding.Enter()()
	return g.record("add to graph", first, record)
}

// has returns an error if n is not a node of the graph.
func (g *Graph) has(n *Node) error {
	switch {
	case n == nil:
		return invalid("node is nil")
	case n.graph == nil:
		return invalid("node was not made by Capture or Add")
	case n.graph != g:
		return invalid("%v is a node of another graph", n)
	default:
		return nil
	}
}

func (g *Graph) check() error {
	switch {
	case g == nil:
		return invalid("graph is nil")
	case g.dev == nil:
		return invalid("graph was not made by Capture or NewGraph")
	default:
		return g.dev.check()
	}
}

// record adds the work of a function after the nodes with the given indices, and
// returns the node that comes after all of this work.
func (g *Graph) record(doing string, after []int, do func(s *Stream) error) (*Node, error) {
	g.mu.Lock()
	c := &capture{graph: g, base: len(g.nodes), after: after}
	g.mu.Unlock()
	nodes, err := c.run(doing, do)
	if err != nil {
		return nil, err
	}
	g.append(nodes, c.base)
	return nodes[len(nodes)-1], nil
}

// append adds nodes that were recorded when the graph had base nodes. Other nodes may
// have been added since.
func (g *Graph) append(nodes []*Node, base int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	moved := len(g.nodes) - base
	for _, n := range nodes {
		n.index += moved
		n.work.After = slices.Clone(n.work.After)
		for i, at := range n.work.After {
			if at >= base {
				n.work.After[i] += moved
			}
		}
	}
	g.nodes = append(g.nodes, nodes...)
}

// Instantiate prepares the graph for running. Later additions to the graph have no effect on
// the result. The buffers of the graph keep their memory until the executable graph is
// closed, even if they are closed earlier.
func (g *Graph) Instantiate() (*GraphExec, error) {
	const doing = "instantiate graph"
	if err := g.check(); err != nil {
		return nil, driverError(doing, err)
	}
	d := g.dev
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	nodes := g.Nodes()
	e := &GraphExec{dev: d, graph: g, nodes: nodes, stand: standFor(nodes)}
	for i, n := range nodes {
		if err := n.acquire(); err != nil {
			e.nodes = nodes[:i]
			e.drop()
			return nil, errors.Join(driverError(doing, fmt.Errorf("%v: %w", n, err)), d.release())
		}
	}
	drv, err := newGraphExec(d.drv, e.bind(worksOf(nodes)), e.failed)
	if err != nil {
		e.drop()
		return nil, errors.Join(driverError(doing, err), d.release())
	}
	e.drv = drv
	d.mu.Lock()
	if d.graphs == nil {
		d.graphs = make(map[*GraphExec]struct{})
	}
	d.graphs[e] = struct{}{}
	d.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, errors.Join(driverError(doing, err), e.Close())
	}
	return e, nil
}

// acquire acquires the objects that the node uses.
func (n *Node) acquire() error {
	for i, h := range n.holds {
		err := h.acquire()
		if m, ok := h.(*memory); ok && err == nil {
			err = m.releaseIf(m.visitAll())
		}
		if err != nil {
			for _, h := range n.holds[:i] {
				h.release()
			}
			return err
		}
	}
	return nil
}

func (n *Node) release() {
	for _, h := range n.holds {
		h.release()
	}
}

// worksOf returns the work of nodes in a form that a driver may keep.
func worksOf(nodes []*Node) []driver.GraphNode {
	list := make([]driver.GraphNode, len(nodes))
	for i, n := range nodes {
		list[i] = n.work
	}
	return cloneWorks(list)
}

func cloneWorks(works []driver.GraphNode) []driver.GraphNode {
	list := slices.Clone(works)
	for i := range list {
		list[i] = cloneWork(list[i])
	}
	return list
}

func cloneWork(w driver.GraphNode) driver.GraphNode {
	if w.Frame != nil {
		w.Frame = w.Frame.Clone()
	}
	if w.Body != nil {
		w.Body = cloneWorks(w.Body)
	}
	return w
}
