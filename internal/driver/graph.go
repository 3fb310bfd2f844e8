package driver

import (
	"context"
	"fmt"
	"sync"
	"unsafe"
)

// GraphKind is what a node of a graph does.
type GraphKind uint8

// Kinds of nodes.
const (
	GraphEmpty  GraphKind = iota // nothing: a point that others come after
	GraphLaunch                  // Function with Frame
	GraphCopy                    // Size bytes from Src to Dst
	GraphBox                     // Box, within the device
	GraphWrite                   // Data to Dst
	GraphFill                    // the pattern Data, Count times, to Dst
	GraphIn                      // Size bytes from Host, which is page-locked, to Dst
	GraphOut                     // Size bytes from Src to Host, which is page-locked
	GraphCall                    // Call on the host
	GraphBody                    // Body, once
	GraphIf                      // Body if Cond is not zero
	GraphWhile                   // Body while Cond is not zero
)

var graphKindNames = [...]string{
	"empty", "kernel", "copy", "copy box", "write", "fill", "copy in", "copy out", "call", "graph", "if", "while",
}

func (k GraphKind) String() string { return graphKindNames[k] }

// GraphNode is one operation of a graph.
type GraphNode struct {
	Kind GraphKind
	// After are the numbers of the nodes in the same list, all of them smaller
	// than the node's own, that are done before this one begins.
	After []int

	Function Function
	Frame    *Frame // the node's own

	Dst, Src Memory
	Host     unsafe.Pointer
	Size     int64
	Box      *BoxCopy
	Data     []byte
	Count    int64
	Call     func() error
	Body     []GraphNode
	Cond     Memory // of 4 bytes, aligned
}

// Graphs is what a device does with graphs.
type Graphs interface {
	// NewGraphExec makes a graph of the nodes ready to run. It keeps them. The
	// errors of calls go to failed.
	NewGraphExec(nodes []GraphNode, failed func(error)) (GraphExec, error)
}

// GraphExec is a graph that is ready to run.
type GraphExec interface {
	// Launch runs the graph in the order of the stream. Runs of one graph follow
	// each other, whatever their streams are. What stops a kernel is a fault of
	// the stream.
	Launch(s Stream) error
	// Update replaces nodes by others of the same kind; those of runs that were
	// asked for before are not changed. After an error the graph is as it was.
	Update(changes map[int]GraphNode) error
	// Wait waits for the runs.
	Wait() error
	// Close waits for the runs too.
	Close() error
}

// Steps is a graph on a device whose streams do their work at once: its nodes
// one by one.
type Steps struct {
	mu     sync.Mutex // runs follow each other
	nodes  []GraphNode
	failed func(error)
}

// NewSteps returns the graph of the nodes, which it keeps. The errors of calls go
// to failed.
func NewSteps(nodes []GraphNode, failed func(error)) *Steps {
	return &Steps{nodes: nodes, failed: failed}
}

// Failing is a stream that knows whether it holds a fault.
type Failing interface{ Failed() bool }

// Launch runs the nodes in the order of their numbers, each of which comes after
// those that it depends on.
func (g *Steps) Launch(s Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	ctx := context.Background()
	if i, ok := s.(Interrupter); ok {
		var end func()
		ctx, end = i.interrupt().Context()
		defer end()
	}
	return g.run(ctx, s, g.nodes)
}

func (g *Steps) run(ctx context.Context, s Stream, nodes []GraphNode) error {
	for i := range nodes {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := g.step(ctx, s, &nodes[i]); err != nil {
			return fmt.Errorf("node %d (%s): %w", i, nodes[i].Kind, err)
		}
	}
	return nil
}

func (g *Steps) step(ctx context.Context, s Stream, n *GraphNode) error {
	switch n.Kind {
	case GraphLaunch:
		return s.Launch(n.Function, n.Frame)
	case GraphCopy:
		return s.Copy(n.Dst, n.Src, n.Size)
	case GraphBox:
		return s.CopyBox(n.Box)
	case GraphWrite:
		return s.CopyIn(n.Dst, unsafe.Pointer(unsafe.SliceData(n.Data)), int64(len(n.Data)))
	case GraphFill:
		return s.Fill(n.Dst, n.Data, n.Count)
	case GraphIn:
		return s.CopyIn(n.Dst, n.Host, n.Size)
	case GraphOut:
		return s.CopyOut(n.Host, n.Src, n.Size)
	case GraphCall:
		if err := s.Synchronize(context.Background()); err != nil {
			return err
		}
		if err := n.Call(); err != nil {
			g.failed(err)
		}
		return nil
	case GraphBody:
		return g.run(ctx, s, n.Body)
	case GraphIf, GraphWhile:
		return g.runWhile(ctx, s, n)
	default:
		return nil
	}
}

// runWhile runs the body while the condition holds and no kernel has failed: one
// that has may never end a loop.
func (g *Steps) runWhile(ctx context.Context, s Stream, n *GraphNode) error {
	for {
		var holds uint32
		if err := s.CopyOut(unsafe.Pointer(&holds), n.Cond, int64(unsafe.Sizeof(holds))); err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if f, ok := s.(Failing); holds == 0 || ok && f.Failed() {
			return nil
		}
		if err := g.run(ctx, s, n.Body); err != nil || n.Kind == GraphIf {
			return err
		}
	}
}

// Update replaces nodes.
func (g *Steps) Update(changes map[int]GraphNode) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, n := range changes {
		g.nodes[i] = n
	}
	return nil
}

// Wait waits for the runs.
func (g *Steps) Wait() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return nil
}

// Close waits for the runs.
func (g *Steps) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nodes = nil
	return nil
}

// Clone returns a frame with the same arguments.
func (f *Frame) Clone() *Frame {
	params := make([]Param, len(f.Args))
	for i, a := range f.Args {
		params[i] = Param{Slice: a.Value == nil, Size: a.Size}
	}
	c := NewFrame(params)
	c.Grid, c.Block, c.Shared, c.Threads, c.Adjacent, c.ID = f.Grid, f.Block, f.Shared, f.Threads, f.Adjacent, f.ID
	for i, a := range f.Args {
		to := &c.Args[i]
		to.Data, to.Addr, to.Length = a.Data, a.Addr, a.Length
		if a.Value != nil {
			copy(unsafe.Slice((*byte)(to.Value), a.Size), unsafe.Slice((*byte)(a.Value), a.Size))
		}
	}
	return c
}
