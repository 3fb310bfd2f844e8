package gpu

import (
	"errors"
	"slices"
	"weak"

	"quern.dev/gpu/internal/spans"
)

// ReadDevice copies what the host has changed and returns the elements as a buffer
// that work on s may read. It does not wait for the device, except for that copy if
// the array is not [Pinned]. It also waits for running calls, such as a [Download],
// with views that it ends. The buffer need not be closed. It ends when the host or
// another stream takes a view of the elements for writing.
//
// Work that would write the buffer fails with [ErrReadOnly]: fills, copies to it, and
// launches of kernels that may write the parameter. Work on a stream other than s
// fails too; take a view for that stream.
func (u *Unified[T]) ReadDevice(s *Stream) (*Buffer[T], error) {
	b, err := u.onDevice(s, false)
	return b, driverError("read on the device", err)
}

// WriteDevice is ReadDevice for work on s that also writes the elements. All elements
// count as changed. Elements that were never written have undefined values. The
// buffer also ends when the host or another stream takes a view for reading.
func (u *Unified[T]) WriteDevice(s *Stream) (*Buffer[T], error) {
	b, err := u.onDevice(s, true)
	return b, driverError("write on the device", err)
}

// SyncToDevice copies what the host has changed. Later work on s, or on a stream that
// takes a view, sees it. Uninitialised elements are not copied.
func (u *Unified[T]) SyncToDevice(s *Stream) error {
	const doing = "sync to device"
	c, err := u.acquire()
	if err != nil {
		return driverError(doing, err)
	}
	defer c.release()
	return driverError(doing, c.onStream(s, func() error {
		if err := c.inUse(u.part, false); err != nil {
			return err
		}
		if wait := c.moving(u.part); len(wait) > 0 {
			return &busy{wait[0]}
		}
		return c.upload(s, u.part)
	}))
}

func (u *Unified[T]) onDevice(s *Stream, write bool) (*Buffer[T], error) {
	c, err := u.acquire()
	if err != nil {
		return nil, err
	}
	defer c.release()
	var b *Buffer[T]
	err = c.onStream(s, func() error {
		var err error
		b, err = c.openDevice(s, u.part, write)
		return err
	})
	return b, err
}

// onStream calls f with the lock held and the stream acquired. It releases both while
// f has to wait, because f may wait for the stream to be closed.
func (c *unified[T]) onStream(s *Stream, f func() error) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.dev != c.dev {
		return otherDevice("unified array", c.dev, s.dev)
	}
	for {
		if err := s.acquire(); err != nil {
			return err
		}
		c.mu.Lock()
		err := f()
		c.mu.Unlock()
		s.release()
		b, ok := errors.AsType[*busy](err)
		if !ok {
			return err
		}
		<-b.until
	}
}

// openDevice opens a device view.
func (c *unified[T]) openDevice(s *Stream, r spans.Span, write bool) (*Buffer[T], error) {
	if err := c.allows(r, write); err != nil {
		return nil, err
	}
	if wait := c.contradicting(r, s, write); len(wait) > 0 {
		return nil, &busy{wait[0]}
	}
	if err := c.upload(s, r); err != nil {
		return nil, err
	}
	if err := c.work.order(s, r, write); err != nil {
		return nil, err
	}
	v, err := c.views.take(c, s, r, write)
	if err != nil {
		return nil, err
	}
	if write {
		c.known.Add(r)
		c.deviceNewer.Add(r)
	}
	return &v.buffer, nil
}

// allocate allocates the device memory.
func (c *unified[T]) allocate() error {
	if c.buffer != nil {
		return nil
	}
	b, err := Alloc[T](c.dev, c.length)
	if err != nil {
		return err
	}
	c.buffer = b
	return nil
}

// upload copies what is newer on the host. It releases the lock while the copy may
// wait for the device.
func (c *unified[T]) upload(s *Stream, r spans.Span) error {
	if err := c.allocate(); err != nil {
		return err
	}
	stale := c.hostNewer.Within(r)
	if len(stale) == 0 {
		return nil
	}
	for _, p := range stale {
		if err := c.work.order(s, p, true); err != nil {
			return err
		}
	}
	copied := 0
	copyIn := func() error {
		for _, p := range stale {
			if err := c.copyIn(s, p); err != nil {
				return err
			}
			copied++
		}
		return nil
	}
	var err error
	if c.pinned {
		err = copyIn()
	} else {
		err = c.unlocked(r, copyIn)
	}
	for _, p := range stale[:copied] {
		c.hostNewer.Remove(p)
		c.stats.Uploads++
		c.stats.UploadedBytes += c.buffer.Slice(p.Lo, p.Hi).bytes()
	}
	return err
}

// unifiedView is memory of the array that a device view shares.
type unifiedView struct {
	of       *memory
	ended    chan struct{} // closed when the view has ended and is no longer in use
	stream   *Stream       // that the view was taken for
	readOnly bool          // the view is for reading
}

func (v *unifiedView) noun() string { return "buffer" }
func (v *unifiedView) lent() bool   { return true }

func (v *unifiedView) free(*memory) error {
	close(v.ended)
	return nil
}

// deviceView is a device view. Its memory is that of the array, but with its own
// lease, so that ending the view waits for launches in progress and refuses later
// ones.
type deviceView[T any] struct {
	memory memory
	state  unifiedView
	buffer Buffer[T]
	part   spans.Span
	stream *Stream
	write  bool
}

// deviceViews are the views that have not ended. The pointers are weak, because a
// program may take views of ever different ranges and drop them.
type deviceViews[T any] []weak.Pointer[deviceView[T]]

// take returns an open view: the previous one for the same range and stream if there
// is one, otherwise a new one.
func (l *deviceViews[T]) take(c *unified[T], s *Stream, r spans.Span, write bool) (*deviceView[T], error) {
	for _, p := range *l {
		v := p.Value()
		if v != nil && v.stream == s && v.part == r && v.write == write && v.buffer.check(c.dev) == nil {
			return v, nil
		}
	}
	if err := c.buffer.check(c.dev); err != nil {
		return nil, err
	}
	v := &deviceView[T]{part: r, stream: s, write: write}
	whole := c.buffer.mem
	v.memory.dev, v.memory.drv, v.memory.size = c.dev, whole.drv, whole.size
	v.state = unifiedView{of: whole, ended: make(chan struct{}), stream: s, readOnly: !write}
	v.memory.storage = &v.state
	part := c.buffer.Slice(r.Lo, r.Hi)
	v.buffer.mem, v.buffer.view, v.buffer.offset, v.buffer.length = &v.memory, true, part.offset, part.length
	*l = append(*l, weak.Make(v))
	return v, nil
}

// end ends the views of elements of r that conflict with a new view, except for those
// of the stream but. It returns channels that are closed when the last launch with
// one of them is queued, and forgets views without launches in progress.
func (l *deviceViews[T]) end(r spans.Span, but *Stream, write bool) (ended []<-chan struct{}) {
	*l = slices.DeleteFunc(*l, func(p weak.Pointer[deviceView[T]]) bool {
		v := p.Value()
		if v == nil {
			return true
		}
		if v.stream == but || !v.part.Overlaps(r) || !write && !v.write {
			return false
		}
		v.memory.close()
		select {
		case <-v.state.ended:
			return true
		default:
			ended = append(ended, v.state.ended)
			return false
		}
	})
	return ended
}

// streamWork is the work of streams with the elements that the host does not know to
// be done.
type streamWork struct {
	uses []*streamUse
	last *Stream // that last had a view
}

// streamUse is a set of elements that a stream reads or writes.
type streamUse struct {
	stream  *Stream
	write   bool
	parts   spans.Set
	waiters int // calls that wait for it; if there are any, later work is a separate use
}

// order adds work of s, and orders it after the work of other streams with the same
// elements that it conflicts with.
func (w *streamWork) order(s *Stream, r spans.Span, write bool) error {
	w.last = s
	var after []*Stream
	for _, u := range w.uses {
		if u.stream != s && (write || u.write) && u.parts.Overlaps(r) && !slices.Contains(after, u.stream) {
			if err := follow(s, u.stream); err != nil {
				return err
			}
			after = append(after, u.stream)
		}
	}
	own := slices.IndexFunc(w.uses, func(u *streamUse) bool { return u.stream == s && u.write == write && u.waiters == 0 })
	if own < 0 {
		own = len(w.uses)
		w.uses = append(w.uses, &streamUse{stream: s, write: write})
	}
	w.uses[own].parts.Add(r)
	if write { // work that follows this work follows the other work too
		w.remove(r, w.uses[:own])
		w.remove(r, w.uses[own+1:])
	}
	w.forget()
	return nil
}

// follow makes later work of s wait for the current work of the other stream.
func follow(s, other *Stream) error {
	e, err := s.dev.NewEvent()
	if err != nil {
		return err
	}
	err = other.Record(e)
	switch {
	case err == nil:
		err = s.Wait(e)
	case errors.Is(err, ErrClosed):
		select {
		case <-other.drained: // by its Close
			err = nil
		default:
			err = &busy{other.drained}
		}
	}
	return errors.Join(err, e.Close())
}

// pending returns the uses that write any of the elements. The caller then calls
// waited.
func (w *streamWork) pending(parts spans.Set) []*streamUse {
	var found []*streamUse
	for _, u := range w.uses {
		if u.write && slices.ContainsFunc(parts, u.parts.Overlaps) {
			u.waiters++
			found = append(found, u)
		}
	}
	return found
}

// waited ends the wait for the uses that pending returned. If done, the uses have
// ended for the elements of r.
func (w *streamWork) waited(uses []*streamUse, r spans.Span, done bool) {
	for _, u := range uses {
		u.waiters--
	}
	if done {
		w.remove(r, uses)
		w.forget()
	}
}

func (w *streamWork) remove(r spans.Span, uses []*streamUse) {
	for _, u := range uses {
		u.parts.Remove(r)
	}
}

// forget drops uses without elements and uses of closed streams.
func (w *streamWork) forget() {
	w.uses = slices.DeleteFunc(w.uses, func(u *streamUse) bool {
		select {
		case <-u.stream.drained:
			return true
		default:
			return len(u.parts) == 0
		}
	})
}
