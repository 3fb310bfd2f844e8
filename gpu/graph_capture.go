package gpu

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/gpu/internal/goroutines"
	"quern.dev/internal/driver"
)

// capture is a graph that is being recorded on streams.
type capture struct {
	graph *Graph
	base  int   // index of the first recorded node
	after []int // predecessors of the first recorded nodes

	mu      sync.Mutex
	nodes   []*Node
	streams map[*Stream][]int // the predecessors of the next node of each stream
	paused  map[*Stream]bool  // recording the body of a condition; see body
	ended   bool

	bodies goroutines.Set // that are recording the bodies
}

// mark is an event that was recorded on a stream of a capture.
type mark struct {
	capture *capture
	after   []int
}

// run records the work of a function. The last node returned comes after all of it.
func (c *capture) run(doing string, do func(s *Stream) error) ([]*Node, error) {
	d := c.graph.dev
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	s := &Stream{dev: d}
	s.capture.Store(c)
	c.streams = map[*Stream][]int{s: c.after}
	defer s.Close()
	defer c.end()
	if err := do(s); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := c.ends(); len(last) != 1 || last[0] != c.base+len(c.nodes)-1 {
		c.append(driver.GraphNode{After: last}, "empty", nil)
	}
	return c.nodes, nil
}

// ends returns the recorded nodes without successors. If nothing was recorded, it
// returns the predecessors of the first node.
func (c *capture) ends() []int {
	if len(c.nodes) == 0 {
		return c.after
	}
	followed := map[int]bool{}
	for _, n := range c.nodes {
		for _, i := range n.work.After {
			followed[i] = true
		}
	}
	var last []int
	for i := range c.nodes {
		if !followed[c.base+i] {
			last = append(last, c.base+i)
		}
	}
	return last
}

// last returns the predecessors of the next node of a stream. The caller holds the
// lock.
func (c *capture) last(s *Stream) ([]int, error) {
	after, ok := c.streams[s]
	switch {
	case c.ended || !ok:
		return nil, errEnded
	case c.paused[s] || c.bodies.Here():
		return nil, invalid("the body of a condition is being recorded; use its stream, or streams that join it")
	default:
		return after, nil
	}
}

// body records the body of a condition. Until it returns, the stream and the
// goroutine can record nothing else in this graph, because that work would run
// unconditionally.
func (c *capture) body(doing string, s *Stream, record func(s *Stream) error) ([]*Node, error) {
	pause := func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, err := c.last(s); err != nil {
			return err
		}
		if c.paused == nil {
			c.paused = map[*Stream]bool{}
		}
		c.paused[s] = true
		return nil
	}
	if err := pause(); err != nil {
		return nil, driverError(doing, err)
	}
	leave := c.bodies.Enter()
	defer func() {
		leave()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.paused, s)
	}()
	inner := &capture{graph: &Graph{dev: s.dev, outer: c.graph}}
	return inner.run(doing, record)
}

// end removes the streams that joined.
func (c *capture) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for s := range c.streams {
		if s.drv != nil {
			s.capture.CompareAndSwap(c, nil)
		}
	}
}

func (c *capture) append(w driver.GraphNode, what string, holds []hold) {
	c.nodes = append(c.nodes, &Node{graph: c.graph, index: c.base + len(c.nodes), work: w, what: what, holds: holds})
}

// add records work on a stream.
func (c *capture) add(s *Stream, w driver.GraphNode, what string, holds ...hold) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	after, err := c.last(s)
	if err != nil {
		return err
	}
	w.After = after
	c.append(w, what, holds)
	c.streams[s] = []int{c.base + len(c.nodes) - 1}
	return nil
}

var errEnded = invalid("the recording of the graph has ended")

// launch records a launch.
func (c *capture) launch(l *Launch) error {
	v, err := l.place()
	if err != nil {
		return err
	}
	holds := []hold{l.kernel}
	for i := range l.params {
		if m := l.params[i].memory; m != nil {
			holds = append(holds, m)
		}
	}
	w := driver.GraphNode{Kind: driver.GraphLaunch, Function: v.function, Frame: l.frame.Clone()}
	return c.add(l.stream, w, "kernel "+l.kernel.info.Name, holds...)
}

func (c *capture) copy(s *Stream, dst, src driver.Memory, n int64, holds ...hold) error {
	w := driver.GraphNode{Kind: driver.GraphCopy, Dst: dst, Src: src, Size: n}
	return c.add(s, w, fmt.Sprintf("copy of %d bytes", n), holds...)
}

func (c *capture) copyBox(s *Stream, b *driver.BoxCopy, holds ...hold) error {
	w := driver.GraphNode{Kind: driver.GraphBox, Box: b}
	return c.add(s, w, fmt.Sprintf("copy of a box of %d bytes", b.Width*b.Height*b.Depth), holds...)
}

// write records a copy of the current contents of n bytes of Go memory.
func (c *capture) write(s *Stream, dst driver.Memory, src unsafe.Pointer, n int64, holds ...hold) error {
	w := driver.GraphNode{Kind: driver.GraphWrite, Dst: dst, Data: slices.Clone(unsafe.Slice((*byte)(src), n))}
	return c.add(s, w, fmt.Sprintf("write of %d bytes", n), holds...)
}

// hostCopy records a copy between the device and page-locked memory. Each run reads
// or writes that memory.
func (c *capture) hostCopy(s *Stream, kind driver.GraphKind, at driver.Memory, host unsafe.Pointer, n int64, holds ...hold) error {
	w := driver.GraphNode{Kind: kind, Host: host, Size: n}
	what := "copy of %d bytes from the host"
	if kind == driver.GraphIn {
		w.Dst = at
	} else {
		w.Src, what = at, "copy of %d bytes to the host"
	}
	return c.add(s, w, fmt.Sprintf(what, n), holds...)
}

func (c *capture) fill(s *Stream, dst driver.Memory, pattern []byte, count int64, holds ...hold) error {
	w := driver.GraphNode{Kind: driver.GraphFill, Dst: dst, Data: slices.Clone(pattern), Count: count}
	return c.add(s, w, fmt.Sprintf("fill of %d bytes", count*int64(len(pattern))), holds...)
}

// call records a call of a Go function. On a GPU one thread of the driver makes the
// calls of all graphs.
func (c *capture) call(s *Stream, f func() error) error {
	return c.add(s, driver.GraphNode{Kind: driver.GraphCall, Call: f}, "call")
}

// record makes e mark the end of what the stream has recorded so far.
func (c *capture) record(s *Stream, e *Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	after, err := c.last(s)
	if err != nil {
		return err
	}
	e.mark.Store(&mark{c, slices.Clone(after)})
	return nil
}

// wait orders what the stream records later after an event, and adds the stream to
// the capture. c is nil if the stream is not recording.
func (m *mark) wait(s *Stream, c *capture) error {
	t := m.capture
	if t.graph.dev != s.dev {
		return otherDevice("event", t.graph.dev, s.dev)
	}
	if c != nil && c != t {
		return invalid("the event was recorded in a different graph from the one that the stream is recording")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return invalid("the event was recorded in a graph, so no stream can wait for it; record it on a stream again")
	}
	if c != nil {
		if _, err := t.last(s); err != nil {
			return err
		}
	} else if !s.capture.CompareAndSwap(nil, t) {
		return invalid("the stream has joined another graph")
	}
	after := append(slices.Clone(t.streams[s]), m.after...)
	slices.Sort(after)
	t.streams[s] = slices.Compact(after)
	return nil
}

// outside returns an error if the event was recorded in a graph, where the host
// cannot see it.
func (e *Event) outside() error {
	if e.mark.Load() != nil {
		return invalid("the event was recorded in a graph, where the host cannot see it; record it on a stream that runs the graph")
	}
	return nil
}
