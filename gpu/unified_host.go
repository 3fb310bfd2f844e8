package gpu

import (
	"context"
	"errors"
	"slices"
	"unsafe"

	"quern.dev/gpu/internal/spans"
	"quern.dev/internal/driver/cpu"
)

// ReadHost waits for the work that writes the elements, copies what the device has
// changed, and calls f with the elements. f must not change or keep them. If a kernel
// on a stream that ReadHost waits for has failed, it returns the [*KernelError] and
// does not call f. Cancelling ctx ends the wait.
func (u *Unified[T]) ReadHost(ctx context.Context, f func(x []T)) error {
	return driverError("read on the host", u.onHost(ctx, false, f))
}

// WriteHost is ReadHost for a function that changes the elements. f must not keep
// them. All elements count as changed, even if f panics. Elements that were never
// written are zero.
func (u *Unified[T]) WriteHost(ctx context.Context, f func(x []T)) error {
	return driverError("write on the host", u.onHost(ctx, true, f))
}

// SyncToHost copies what the device has changed, as [Unified.ReadHost] does.
// Uninitialised elements are not copied.
func (u *Unified[T]) SyncToHost(ctx context.Context) error {
	c, err := u.acquire()
	if err != nil {
		return driverError("sync to host", err)
	}
	defer c.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.known.Within(u.part) {
		if err := c.fetch(orBackground(ctx), p, false); err != nil {
			return driverError("sync to host", err)
		}
	}
	return nil
}

func (u *Unified[T]) onHost(ctx context.Context, write bool, f func([]T)) error {
	c, err := u.acquire()
	if err != nil {
		return err
	}
	defer c.release()
	if f == nil {
		return invalid("function is nil")
	}
	x, err := c.openHost(orBackground(ctx), u.part, write)
	if err != nil {
		return err
	}
	defer c.closeHost(u.part, write)
	f(x)
	return nil
}

// openHost begins a host view.
func (c *unified[T]) openHost(ctx context.Context, r spans.Span, write bool) ([]T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fetch(ctx, r, write); err != nil {
		return nil, err
	}
	if err := c.acquireHost(); err != nil {
		return nil, err
	}
	if write {
		c.writers = append(c.writers, r)
		c.known.Add(r)
		c.hostNewer.Add(r)
	} else {
		c.readers = append(c.readers, r)
	}
	return c.host[r.Lo:r.Hi:r.Hi], nil
}

// acquireHost begins a use of the host memory, and allocates it if necessary.
// releaseHost ends the use. Page-locked memory is freed at the latest with the
// device, but not during a use.
func (c *unified[T]) acquireHost() error {
	if c.host == nil && c.page == nil {
		if err := c.allocateHost(); err != nil {
			return err
		}
	}
	if c.page != nil && !c.page.part.mem.lease.Acquire() {
		return closedError("device " + c.dev.id)
	}
	return nil
}

func (c *unified[T]) releaseHost() {
	if c.page != nil {
		c.page.part.mem.release()
	}
}

// allocateHost allocates the host memory.
func (c *unified[T]) allocateHost() error {
	if c.pinned {
		h, err := AllocHost[T](c.dev, c.length)
		if err != nil {
			return err
		}
		c.page, c.host = h, h.Data()
		clear(c.host)
		return nil
	}
	size, err := sizeOf[T](c.length)
	if err != nil {
		return err
	}
	at, err := cpu.Memory().AllocHost(size)
	if err != nil {
		return err
	}
	c.host = unsafe.Slice((*T)(at), c.length)
	return nil
}

func (c *unified[T]) closeHost(r spans.Span, write bool) {
	defer c.releaseHost()
	c.mu.Lock()
	defer c.mu.Unlock()
	open := &c.readers
	if write {
		open = &c.writers
	}
	i := slices.Index(*open, r)
	*open = slices.Delete(*open, i, i+1)
}

// fetch ends the device views that conflict with a host view, and updates the
// elements on the host. It releases the lock while it waits for the device. When it
// returns nil, nothing conflicts with the view.
func (c *unified[T]) fetch(ctx context.Context, r spans.Span, write bool) error {
	for {
		if err := c.allows(r, write); err != nil {
			return err
		}
		ended := c.contradicting(r, nil, write)
		pending := c.work.pending(c.deviceNewer.Within(r))
		var uploads []*hostUpload
		if write {
			uploads = c.uploading(r)
		}
		if len(ended) == 0 && len(pending) == 0 && len(uploads) == 0 {
			return c.download(ctx, r)
		}
		c.mu.Unlock()
		err := waitFor(ctx, ended, pending, uploads)
		c.mu.Lock()
		c.work.waited(pending, r, err == nil)
		if err != nil {
			return err
		}
		for _, u := range uploads {
			u.parts.Remove(r)
		}
	}
}

// waitFor waits for calls in progress with views that have ended, for work of
// streams, and for copies from the host memory.
func waitFor(ctx context.Context, ended []<-chan struct{}, pending []*streamUse, uploads []*hostUpload) error {
	for _, end := range ended {
		if err := wait(ctx, end); err != nil {
			return err
		}
	}
	for _, w := range pending {
		err := w.stream.Synchronize(ctx)
		if errors.Is(err, ErrClosed) {
			err = wait(ctx, w.stream.drained)
		}
		if err != nil {
			return err
		}
	}
	for _, u := range uploads {
		if err := u.event.Synchronize(ctx); err != nil && !errors.Is(err, ErrClosed) {
			return err
		}
	}
	return nil
}

// hostUpload is a set of elements that a stream may still be copying from page-locked
// memory. The host must not change them before the event.
type hostUpload struct {
	stream *Stream
	event  *Event
	parts  spans.Set
}

// uploading returns the running copies from elements of r.
func (c *unified[T]) uploading(r spans.Span) []*hostUpload {
	var found []*hostUpload
	for _, u := range c.uploads {
		if u.parts.Overlaps(r) {
			found = append(found, u)
		}
	}
	return found
}

// copyIn copies elements to the device. If their memory is page-locked, it returns
// before they are copied.
func (c *unified[T]) copyIn(s *Stream, p spans.Span) error {
	b := c.buffer.Slice(p.Lo, p.Hi)
	if c.page == nil {
		return CopyIn(s, b, c.host[p.Lo:p.Hi])
	}
	i := slices.IndexFunc(c.uploads, func(u *hostUpload) bool { return u.stream == s })
	if i < 0 {
		c.uploads = slices.DeleteFunc(c.uploads, func(u *hostUpload) bool {
			done, err := u.event.Done()
			return done && err == nil && u.event.Close() == nil
		})
		e, err := c.dev.NewEvent()
		if err != nil {
			return err
		}
		i = len(c.uploads)
		c.uploads = append(c.uploads, &hostUpload{stream: s, event: e})
	}
	u := c.uploads[i]
	u.parts.Add(p)
	if err := CopyInAsync(s, b, c.page.Slice(p.Lo, p.Hi)); err != nil {
		return err
	}
	return s.Record(u.event)
}

// download copies what is newer on the device. No work there may be writing it.
// download releases the lock during the copy.
func (c *unified[T]) download(ctx context.Context, r spans.Span) error {
	stale := c.deviceNewer.Within(r)
	if len(stale) == 0 {
		return nil
	}
	if err := c.acquireHost(); err != nil {
		return err
	}
	s, copied := c.work.last, 0
	err := c.unlocked(r, func() error {
		defer c.releaseHost()
		if s.acquire() == nil { // keeps it open
			defer s.release()
		} else {
			s = c.dev.def
		}
		for _, p := range stale {
			if err := Download(ctx, s, c.host[p.Lo:p.Hi], c.buffer.Slice(p.Lo, p.Hi)); err != nil {
				return err
			}
			copied++
		}
		return nil
	})
	for _, p := range stale[:copied] {
		c.deviceNewer.Remove(p)
		c.stats.Downloads++
		c.stats.DownloadedBytes += c.buffer.Slice(p.Lo, p.Hi).bytes()
	}
	return err
}
