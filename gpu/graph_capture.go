package gpu

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/gpu/internal/goroutines"
	"quern.dev/internal/driver"
)

// capture is a graph that streams record.
type capture struct {
	graph *Graph
	base  int   // number of the first node that is recorded
	after []int // nodes that the first ones come after

	mu      sync.Mutex
	nodes   []*Node
	streams map[*Stream][]int // the nodes that the next of each stream comes after
	paused  map[*Stream]bool  // record the body of a condition; see body
	ended   bool

	bodies goroutines.Set // that record the bodies
}

// mark is an event that was recorded on a stream of a capture.
type mark struct {
	capture *capture
	after   []int
}

// run records what a function does. The last node returned is reached when all
// that was recorded is done.
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

// ends gives the recorded nodes that none comes after, or those that the first
// would have come after if there are none.
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

// last gives the nodes that the next of a stream comes after. The lock is held.
func (c *capture) last(s *Stream) ([]int, error) {
	after, ok := c.streams[s]
	switch {
	case c.ended || !ok:
		return nil, errEnded
	case c.paused[s] || c.bodies.Here():
		return nil, invalid("the body of a condition is being recorded; use the stream that it gets, and those that join it")
	default:
		return after, nil
	}
}

// body records the body of a condition on a stream. Until it returns, the stream
// records nothing else, and neither does the goroutine in this graph: work of the
// body would be done unconditionally.
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
	inner := &capture{graph: &Graph{dev: s.dev}}
	return inner.run(doing, record)
}

// end makes the streams that joined leave.
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

// add records work of a stream.
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

// write records a copy of what n bytes of Go memory hold now.
func (c *capture) write(s *Stream, dst driver.Memory, src unsafe.Pointer, n int64, holds ...hold) error {
	w := driver.GraphNode{Kind: driver.GraphWrite, Dst: dst, Data: slices.Clone(unsafe.Slice((*byte)(src), n))}
	return c.add(s, w, fmt.Sprintf("write of %d bytes", n), holds...)
}

// hostCopy records a copy between the device and page-locked memory, whose
// elements are read or written by each run.
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

// call records a call of a Go function. On a GPU the driver has one thread for
// the calls of all graphs.
func (c *capture) call(s *Stream, f func() error) error {
	return c.add(s, driver.GraphNode{Kind: driver.GraphCall, Call: f}, "call")
}

// record makes an event reached when what the stream recorded so far is done.
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

// wait makes what the stream records later come after an event, and the stream a
// stream of the capture. c is nil if the stream records nothing so far.
func (m *mark) wait(s *Stream, c *capture) error {
	t := m.capture
	if t.graph.dev != s.dev {
		return otherDevice("event", t.graph.dev, s.dev)
	}
	if c != nil && c != t {
		return invalid("the event was recorded in another graph than the stream records")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return invalid("the event was recorded in a graph, which no stream can wait for; record it on a stream again")
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

// outside reports that the event was recorded in a graph, where the host cannot
// see it.
func (e *Event) outside() error {
	if e.mark.Load() != nil {
		return invalid("the event was recorded in a graph, where the host cannot see it; record it on a stream that runs the graph")
	}
	return nil
}
