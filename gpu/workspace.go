package gpu

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"

	"quern.dev/internal/callsite"
)

// Workspace is temporary device memory that a program provides to a library function, as
// the function's last argument. Functions that get none take temporary memory from the pool
// of the stream's device, which costs no driver call once the pool has memory of that size.
//
// A function that gets a Workspace of [MeasureWorkspace] does no work, and adds nothing to
// the stream. [Workspace.Size] then says how much memory it needs for arguments of that
// size:
//
//	measure := gpu.MeasureWorkspace()
//	err := algo.Sort(s, keys, measure)
//	memory, err := gpu.Alloc[byte](dev, measure.Size())
//	work := gpu.NewWorkspace(memory)
//	err = algo.Sort(s, keys, work)
//
// Calls on one stream may use the same Workspace one after the other, without waiting in
// between. The program orders calls on several streams. A Workspace serves one call at a
// time: a concurrent one returns an error.
type Workspace struct {
	memory    *Buffer[byte]
	measuring bool

	mu    sync.Mutex
	busy  bool
	size  int64           // needed by the last call
	views []*Buffer[byte] // for the buffers of a call; reused
}

// NewWorkspace returns a Workspace that consists of memory. The program keeps memory open
// while it uses the Workspace.
func NewWorkspace(memory *Buffer[byte]) *Workspace { return &Workspace{memory: memory} }

// MeasureWorkspace returns a Workspace that finds out how much memory a function needs.
func MeasureWorkspace() *Workspace { return &Workspace{measuring: true} }

// Size returns how many bytes the last call with this Workspace needed.
func (w *Workspace) Size() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.size)
}

// begin reserves the workspace for one call.
func (w *Workspace) begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy {
		return invalid("the workspace is in use by another call; use one workspace per concurrent call")
	}
	w.busy, w.size = true, 0
	return nil
}

func (w *Workspace) end(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy, w.size = false, size
}

// The sizes of the buffers of a Scratch are rounded up to a multiple of scratchUnit bytes. The
// first one begins at an address that is a multiple of scratchAlign, which the widest accesses
// need.
const (
	scratchUnit  = 256
	scratchAlign = 16
)

// Scratch is the temporary memory of one call of a library function. Library functions open
// it with their optional Workspace, [Take] buffers from it, and close it when all work is
// added to the stream. Queued work may still use the memory then, and so may a graph in which
// the work was recorded.
//
//	func Reverse(s *gpu.Stream, dst, src *gpu.Buffer[float32], work ...*gpu.Workspace) error {
//		scratch, err := gpu.OpenScratch(s, work)
//		if err != nil {
//			return err
//		}
//		defer scratch.Close()
//		partial := gpu.Take[float32](scratch, 1000)
//		if run, err := scratch.Ready(); !run {
//			return err
//		}
//		... // launches that use partial
//	}
//
// A Scratch is for one goroutine.
type Scratch struct {
	stream *Stream    // whose order the memory follows
	graph  *Graph     // in which the work is recorded
	work   *Workspace // nil: the device's pool
	size   int64      // of the buffers so far, in bytes
	taken  int        // buffers
	err    error

	buffers []*Buffer[byte] // of the pool
	views   []*Buffer[byte] // reused
	viewed  int             // views in use
}

var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// OpenScratch makes the temporary memory for work on s. work holds at most one Workspace;
// without one, or if it is nil, the memory comes from the pool of the stream's device.
func OpenScratch(s *Stream, work []*Workspace) (*Scratch, error) {
	const doing = "workspace"
	if len(work) > 1 {
		return nil, driverError(doing, invalid("%d workspaces; a call takes at most one", len(work)))
	}
	recording, err := s.enter()
	if err != nil {
		return nil, driverError(doing, err)
	}
	defer s.release()
	var w *Workspace
	if len(work) == 1 && work[0] != nil {
		w = work[0]
		if err := w.check(s.dev); err != nil {
			return nil, driverError(doing, err)
		}
		if err := w.begin(); err != nil {
			return nil, driverError(doing, err)
		}
	}
	c := scratches.Get().(*Scratch)
	c.stream, c.work = s, w
	if recording != nil {
		c.graph, c.stream = recording.graph.outermost(), s.dev.DefaultStream()
	}
	return c, nil
}

func (w *Workspace) check(d *Device) error {
	if w.measuring {
		return nil
	}
	if w.memory == nil {
		return invalid("the workspace was not made by NewWorkspace or MeasureWorkspace, or its memory is nil")
	}
	return w.memory.check(d)
}

// Take returns a buffer of n elements, whose contents are undefined. It is valid until c is
// closed, and need not be closed itself. Use it only if [Scratch.Ready] returns true, which
// reports the errors of Take.
//
//go:noinline
func Take[T any](c *Scratch, n int) *Buffer[T] {
	size, err := sizeOf[T](n)
	if err == nil && c.err == nil {
		return (*Buffer[T])(unsafe.Pointer(c.take(size, n, callsite.Caller()))) // as in Acquire
	}
	c.fail(err)
	return nil
}

func (c *Scratch) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *Scratch) take(size int64, n int, call uintptr) *Buffer[byte] {
	size = max(size, 1) // buffers without elements have memory like others
	at := c.size
	c.size += (size + scratchUnit - 1) &^ (scratchUnit - 1)
	c.taken++
	switch {
	case c.work == nil:
		h, err := c.stream.dev.ownPool().take("workspace", c.stream, size, call, nil)
		if err != nil {
			c.fail(err)
			return nil
		}
		h.buffer.length = n
		c.buffers = append(c.buffers, &h.buffer)
		return &h.buffer
	case c.work.measuring || c.misalignment()+c.size > int64(c.work.memory.Len()):
		v := c.view()
		v.length, v.err = n, errNoMemory
		return v
	default:
		v := c.work.viewOf(c.taken - 1)
		v.mem, v.offset, v.length, v.view = c.work.memory.mem, c.work.memory.offset+c.misalignment()+at, n, true
		return v
	}
}

// ViewAs returns the elements of b as elements of type To, like [Reinterpret]. The result is valid
// until c is closed.
func ViewAs[To, From any](c *Scratch, b *Buffer[From]) *Buffer[To] {
	if b == nil {
		return nil
	}
	v := (*Buffer[To])(unsafe.Pointer(c.view())) // as in Acquire
	reinterpret(v, b)
	return v
}

// view returns a buffer header that is not in use.
func (c *Scratch) view() *Buffer[byte] {
	if c.viewed == len(c.views) {
		c.views = append(c.views, new(Buffer[byte]))
	}
	c.viewed++
	return c.views[c.viewed-1]
}

// errNoMemory is the error of a buffer that was taken from a workspace without room for it.
var errNoMemory = invalid("the workspace only measures, or is too small")

// misalignment returns how many bytes at the start of the workspace are not used because
// its memory is a part of a buffer that begins anywhere.
func (c *Scratch) misalignment() int64 {
	return int64(-c.work.memory.at().Addr & (scratchAlign - 1))
}

// viewOf returns the i-th buffer header of the workspace.
func (w *Workspace) viewOf(i int) *Buffer[byte] {
	for len(w.views) <= i {
		w.views = append(w.views, new(Buffer[byte]))
	}
	return w.views[i]
}

// Ready reports whether the function shall do its work. Otherwise the function returns err:
// the memory could not be taken, the workspace is too small, or err is nil because the
// workspace only measures.
func (c *Scratch) Ready() (run bool, err error) {
	switch {
	case c.err != nil:
		return false, driverError("workspace", c.err)
	case c.work == nil:
		return true, nil
	case c.work.measuring:
		return false, nil
	default:
		if need := c.misalignment() + c.size; c.size > 0 && need > int64(c.work.memory.Len()) {
			return false, driverError("workspace", invalid("the workspace has %s, and the call needs %d", count(c.work.memory.Len(), "byte"), need))
		}
		return true, nil
	}
}

// Close gives the memory back.
func (c *Scratch) Close() error {
	if c == nil || c.stream == nil {
		return nil
	}
	var errs []error
	for _, b := range c.buffers {
		if c.graph != nil {
			c.graph.keep(b)
		} else {
			if err := b.Close(); err != nil {
				errs = append(errs, err) // without an error, nothing is allocated
			}
		}
	}
	if c.work != nil {
		c.work.end(c.size)
	}
	clear(c.buffers)
	for _, v := range c.views[:c.viewed] {
		v.mem, v.err, v.length = nil, nil, 0
	}
	*c = Scratch{buffers: c.buffers[:0], views: c.views}
	scratches.Put(c)
	return errors.Join(errs...)
}

// outermost returns the graph that the body of a condition belongs to, or g.
func (g *Graph) outermost() *Graph {
	for g.outer != nil {
		g = g.outer
	}
	return g
}

// keep keeps temporary memory of recorded work until neither the graph nor an executable
// graph made from it is in use any more: a Graph has no Close.
func (g *Graph) keep(b *Buffer[byte]) {
	b.mem.kept.Store(true)
	runtime.AddCleanup(g, func(b *Buffer[byte]) { b.Close() }, b)
}

// retain keeps the temporary memory of nodes.
func (g *Graph) retain(nodes []*Node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = append(g.runs, nodes...)
}

// Measuring reports whether the workspace only measures, so that nothing is to be done.
func (c *Scratch) Measuring() bool { return c.work != nil && c.work.measuring }
