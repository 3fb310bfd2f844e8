package synchronous

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"quern.dev/internal/driver"
)

// NewGraphExec returns a graph of the nodes, which it keeps. Errors of host calls go to
// failed.
func (d *Device) NewGraphExec(nodes []driver.GraphNode, failed func(error)) (driver.GraphExec, error) {
	return &steps{nodes: nodes, failed: failed}, nil
}

// steps is a graph whose nodes run one by one.
type steps struct {
	mu     sync.Mutex // serializes runs
	nodes  []driver.GraphNode
	failed func(error)
}

// Launch runs the nodes in the order of their numbers. Each node follows those that it
// depends on.
func (g *steps) Launch(s driver.Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := s.(*Stream)
	ctx, end := own.Interrupt.Context()
	defer end()
	return g.run(ctx, own, g.nodes)
}

func (g *steps) run(ctx context.Context, s *Stream, nodes []driver.GraphNode) error {
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

func (g *steps) step(ctx context.Context, s *Stream, n *driver.GraphNode) error {
	switch n.Kind {
	case driver.GraphLaunch:
		return s.Launch(n.Function, n.Frame)
	case driver.GraphCopy:
		return s.Copy(n.Dst, n.Src, n.Size)
	case driver.GraphBox:
		return s.CopyBox(n.Box)
	case driver.GraphWrite:
		return s.CopyIn(n.Dst, unsafe.Pointer(unsafe.SliceData(n.Data)), int64(len(n.Data)))
	case driver.GraphFill:
		return s.Fill(n.Dst, n.Data, n.Count)
	case driver.GraphIn:
		return s.CopyIn(n.Dst, n.Host, n.Size)
	case driver.GraphOut:
		return s.CopyOut(n.Host, n.Src, n.Size)
	case driver.GraphCall:
		if err := n.Call(); err != nil {
			g.failed(err)
		}
		return nil
	case driver.GraphBody:
		return g.run(ctx, s, n.Body)
	case driver.GraphIf, driver.GraphWhile:
		return g.runWhile(ctx, s, n)
	default:
		return nil
	}
}

// runWhile runs the body while the condition holds and no kernel has failed: after a
// failure the loop might never end.
func (g *steps) runWhile(ctx context.Context, s *Stream, n *driver.GraphNode) error {
	for {
		var holds uint32
		if err := s.CopyOut(unsafe.Pointer(&holds), n.Cond, int64(unsafe.Sizeof(holds))); err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if holds == 0 || s.Faulted() {
			return nil
		}
		if err := g.run(ctx, s, n.Body); err != nil || n.Kind == driver.GraphIf {
			return err
		}
	}
}

// Update replaces nodes.
func (g *steps) Update(changes map[int]driver.GraphNode) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, n := range changes {
		g.nodes[i] = n
	}
	return nil
}

// Wait waits for all runs.
func (g *steps) Wait() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return nil
}

// Close waits for all runs.
func (g *steps) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nodes = nil
	return nil
}
