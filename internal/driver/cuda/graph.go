package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/internal/driver"
)

// Functions of graphs. Those without a suffix use the structs of CUDA 10, which all
// drivers support.
var (
	cuGraphCreate                  = optional("cuGraphCreate")
	cuGraphDestroy                 = optional("cuGraphDestroy")
	cuGraphInstantiate             = optional("cuGraphInstantiateWithFlags") // CUDA 11.4
	cuGraphLaunch                  = optional("cuGraphLaunch")
	cuGraphExecDestroy             = optional("cuGraphExecDestroy")
	cuGraphExecKernelNodeSetParams = optional("cuGraphExecKernelNodeSetParams")
	cuGraphExecMemcpyNodeSetParams = optional("cuGraphExecMemcpyNodeSetParams")
	cuGraphExecMemsetNodeSetParams = optional("cuGraphExecMemsetNodeSetParams")
)

// graphExec is an executable graph. Its kernels have their own control block, fault
// record and output, like the kernels of a stream, because a graph may run on any
// stream.
type graphExec struct {
	dev     *device
	reports *stream // its stream prepares the graph
	nodes   []driver.GraphNode
	failed  func(error) // receives errors of host calls

	mu      sync.Mutex // CUDA graphs are not safe for concurrent use
	program program
	last    *stream // that the graph last ran on
	streams map[*stream]struct{}
}

// program is the driver's form of the graph.
type program struct {
	handle    uintptr // CUgraphExec
	graph     uintptr // CUgraph that owns the nodes
	places    []place // of the nodes
	constants []uint64
	calls     []uintptr
	prints    bool
}

func (d *device) NewGraphExec(nodes []driver.GraphNode, failed func(error)) (driver.GraphExec, error) {
	if !d.api.has(cuGraphCreate, cuGraphInstantiate, cuGraphLaunch) {
		return nil, unsupported("cuGraphInstantiateWithFlags", "graphs need CUDA 11.4")
	}
	s, err := d.NewStream(0)
	if err != nil {
		return nil, err
	}
	g := &graphExec{dev: d, reports: s.(*stream), nodes: nodes, failed: failed, streams: make(map[*stream]struct{})}
	if g.program, err = g.build(nodes); err != nil {
		return nil, errors.Join(err, g.reports.Close())
	}
	return g, nil
}

// unsupported returns the error for a feature that the driver is too old for.
func unsupported(op, text string) error {
	return &driver.Error{Op: op, Name: "not found", Text: "the driver is too old: " + text, Err: errors.ErrUnsupported}
}

// build creates the driver's graph from the nodes.
func (g *graphExec) build(nodes []driver.GraphNode) (p program, err error) {
	d := g.dev
	defer func() {
		if err != nil {
			err = errors.Join(err, g.release(&p))
		}
	}()
	if err := d.call(cuGraphCreate, uintptr(unsafe.Pointer(&p.graph)), 0); err != nil {
		return p, err
	}
	b := &graphBuilder{exec: g, program: &p, graph: p.graph}
	if p.places, err = b.list(nodes, nil); err != nil {
		return p, err
	}
	if p.prints {
		if err := g.reports.launchPrinting(func() error { return nil }); err != nil {
			return p, err
		}
	}
	if err := d.handles(cuStreamSynchronize, g.reports.handle); err != nil {
		return p, err
	}
	err = d.call(cuGraphInstantiate, uintptr(unsafe.Pointer(&p.handle)), p.graph, 0)
	return p, err
}

// release destroys what build created. The graph must not be running.
func (g *graphExec) release(p *program) error {
	d := g.dev
	var errs []error
	if p.handle != 0 {
		errs = append(errs, d.handles(cuGraphExecDestroy, p.handle))
	}
	if p.graph != 0 {
		errs = append(errs, d.handles(cuGraphDestroy, p.graph))
	}
	for _, addr := range p.constants {
		errs = append(errs, d.handles(cuMemFree, uintptr(addr)))
	}
	for _, call := range p.calls {
		hostCalls.Delete(call)
	}
	*p = program{}
	return errors.Join(errs...)
}

// Launch runs the graph. Its kernels' faults and output are reported on the stream.
func (g *graphExec) Launch(st driver.Stream) error {
	s := st.(*stream)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != s {
		g.last = s
		g.streams[s] = struct{}{}
		s.replays.add(g)
	}
	if g.program.prints {
		g.reports.output.mu.Lock() // until it is queued, as in launchPrinting
		defer g.reports.output.mu.Unlock()
	}
	return g.dev.handles(cuGraphLaunch, g.program.handle, s.handle)
}

// Update changes the parameters of the driver's nodes if possible, otherwise it
// rebuilds the graph.
func (g *graphExec) Update(changes map[int]driver.GraphNode) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	nodes := slices.Clone(g.nodes)
	for i, n := range changes {
		nodes[i] = n
	}
	done, err := g.adjust(changes)
	if err == nil {
		g.nodes = nodes
		return nil
	}
	fresh, err := g.build(nodes)
	if err != nil {
		for _, i := range done {
			err = errors.Join(err, g.adjustNode(i, g.nodes[i]))
		}
		return err
	}
	old := g.program
	g.nodes, g.program = nodes, fresh
	return errors.Join(g.finish(), g.release(&old))
}

// adjust changes parameters in place. It returns the nodes that it has changed, and an
// error if a node cannot be changed.
func (g *graphExec) adjust(changes map[int]driver.GraphNode) (done []int, err error) {
	for i, n := range changes {
		if !g.adjustable(i, n) {
			return nil, errNotAdjustable
		}
	}
	for i, n := range changes {
		if err := g.adjustNode(i, n); err != nil {
			return done, err
		}
		done = append(done, i)
	}
	return done, nil
}

var errNotAdjustable = errors.New("the parameters of the node cannot be changed")

// adjustable reports whether the driver can change node i to n in place.
func (g *graphExec) adjustable(i int, n driver.GraphNode) bool {
	if old := g.nodes[i]; old.Kind != n.Kind || g.program.places[i].node == 0 {
		return false
	}
	switch n.Kind {
	case driver.GraphLaunch:
		f, old := n.Function.(*function), g.nodes[i].Function.(*function)
		return !f.cooperative && !old.cooperative && f.prints == old.prints
	case driver.GraphCopy, driver.GraphIn, driver.GraphOut:
		return true
	case driver.GraphBox:
		return n.Box.Dst.Pitch <= maxPitch && n.Box.Src.Pitch <= maxPitch
	case driver.GraphFill:
		return smallestUnit(n.Data) > 0
	default:
		return false
	}
}

func (g *graphExec) adjustNode(i int, n driver.GraphNode) error {
	d, p := g.dev, &g.program
	node := p.places[i].node
	switch n.Kind {
	case driver.GraphLaunch:
		params, err := g.kernelParams(&n)
		if err != nil {
			return err
		}
		err = d.call(cuGraphExecKernelNodeSetParams, p.handle, node, uintptr(unsafe.Pointer(params)))
		runtime.KeepAlive(n.Frame)
		return err
	case driver.GraphFill:
		return d.call(cuGraphExecMemsetNodeSetParams, p.handle, node, uintptr(unsafe.Pointer(fillParams(&n))), d.context)
	default:
		err := d.call(cuGraphExecMemcpyNodeSetParams, p.handle, node, uintptr(unsafe.Pointer(copyParams(&n))), d.context)
		runtime.KeepAlive(n.Host)
		return err
	}
}

// finish waits for all runs.
func (g *graphExec) finish() error {
	var errs []error
	for s := range g.streams {
		errs = append(errs, g.dev.handles(cuStreamSynchronize, s.handle))
	}
	return errors.Join(errs...)
}

func (g *graphExec) Wait() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.finish()
}

func (g *graphExec) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.finish()
	for s := range g.streams {
		s.replays.remove(g)
	}
	clear(g.streams)
	return errors.Join(err, g.release(&g.program), g.reports.Close())
}

// forget removes a stream that is being closed. Its work is done.
func (g *graphExec) forget(s *stream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.streams, s)
	if g.last == s {
		g.last = nil
	}
}

// replays lists the graphs that have run on a stream.
type replays struct {
	mu     sync.Mutex
	graphs []*graphExec
}

func (r *replays) add(g *graphExec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.graphs, g) {
		r.graphs = append(r.graphs, g)
	}
}

func (r *replays) remove(g *graphExec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.graphs, g); i >= 0 {
		r.graphs = slices.Concat(r.graphs[:i], r.graphs[i+1:]) // callers of list may be using the old slice
	}
}

// list returns the graphs in the order of their first run. The slice is only appended
// to afterwards, never changed in place.
func (r *replays) list() []*graphExec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.graphs[:len(r.graphs):len(r.graphs)]
}

// closeReplays removes the stream from the graphs that ran on it.
func (s *stream) closeReplays() {
	for _, g := range s.replays.list() {
		g.forget(s)
	}
}

// replayFault returns the fault of a graph that ran on the stream.
func (s *stream) replayFault() error {
	for _, g := range s.replays.list() {
		if err := g.reports.takeFault(s.handle); err != nil {
			return err
		}
	}
	return nil
}

// replayOutput returns the output of graphs that ran on the stream.
func (s *stream) replayOutput() (messages []driver.Message, dropped int, err error) {
	for _, g := range s.replays.list() {
		if !g.reports.printed() {
			continue
		}
		m, n, err := g.takeOutput(s)
		if err != nil {
			return messages, dropped, err
		}
		messages, dropped = append(messages, m...), dropped+n
	}
	return messages, dropped, nil
}

// takeOutput returns and clears the output of the graph's kernels. The graph must not
// be running.
func (g *graphExec) takeOutput(s *stream) ([]driver.Message, int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.finish(); err != nil {
		return nil, 0, err
	}
	m, n, err := g.reports.ownOutput()
	return m, n, errors.Join(err, g.dev.handles(cuStreamSynchronize, g.reports.handle))
}

// nodeError adds to an error the node of the graph that it is about.
func nodeError(i int, kind driver.GraphKind, err error) error {
	return fmt.Errorf("node %d (%v): %w", i, kind, err)
}
