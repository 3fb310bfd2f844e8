package gpu

import (
	"context"
	"errors"
	"slices"
)

// ReadHost calls f with the elements, which f must not change or keep. Before
// that it waits for the work that writes them, and copies from the device what
// the device has changed. A kernel on a stream it waits for that failed is
// returned as [*KernelError], and f is not called. Cancelling ctx ends the wait.
func (u *Unified[T]) ReadHost(ctx context.Context, f func(x []T)) error {
	return driverError("read on the host", u.onHost(ctx, false, f))
}

// WriteHost is ReadHost for an f that changes the elements, which it must not
// keep. All of them count as changed, also if f panics. Elements that were never
// written are zero.
func (u *Unified[T]) WriteHost(ctx context.Context, f func(x []T)) error {
	return driverError("write on the host", u.onHost(ctx, true, f))
}

// SyncToHost copies from the device what the device has changed, as
// [Unified.ReadHost] does. Elements without a value are left alone.
func (u *Unified[T]) SyncToHost(ctx context.Context) error {
	c, err := u.acquire()
	if err != nil {
		return driverError("sync to host", err)
	}
	defer c.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.known.within(u.part) {
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

// openHost begins a view of the host.
func (c *unified[T]) openHost(ctx context.Context, r span, write bool) ([]T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fetch(ctx, r, write); err != nil {
		return nil, err
	}
	if c.host == nil {
		c.host = make([]T, c.length)
	}
	if write {
		c.writers = append(c.writers, r)
		c.known.add(r)
		c.hostNewer.add(r)
	} else {
		c.readers = append(c.readers, r)
	}
	return c.host[r.lo:r.hi:r.hi], nil
}

func (c *unified[T]) closeHost(r span, write bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := &c.readers
	if write {
		open = &c.writers
	}
	i := slices.Index(*open, r)
	*open = slices.Delete(*open, i, i+1)
}

// fetch ends the views of the device that a view of the host contradicts and
// brings the elements up to date on the host. It lets go of the lock while it
// waits for the device; when it returns nil, nothing contradicts the view.
func (c *unified[T]) fetch(ctx context.Context, r span, write bool) error {
	for {
		if err := c.allows(r, write); err != nil {
			return err
		}
		ended := c.views.end(r, nil, write)
		pending := c.work.pending(c.deviceNewer.within(r))
		if len(ended) == 0 && len(pending) == 0 {
			return c.download(ctx, r)
		}
		c.mu.Unlock()
		err := waitFor(ctx, ended, pending)
		c.mu.Lock()
		c.work.waited(pending, r, err == nil)
		if err != nil {
			return err
		}
	}
}

// waitFor waits for launches that were under way with views that have ended, and
// for what streams were asked for.
func waitFor(ctx context.Context, ended []<-chan struct{}, pending []*streamUse) error {
	for _, end := range ended {
		select {
		case <-end:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, w := range pending {
		if err := w.stream.Synchronize(ctx); err != nil && !errors.Is(err, ErrClosed) {
			return err
		}
	}
	return nil
}

// download copies what is newer on the device, where no work is left that writes
// it.
func (c *unified[T]) download(ctx context.Context, r span) error {
	stale := c.deviceNewer.within(r)
	if len(stale) == 0 {
		return nil
	}
	if c.host == nil {
		c.host = make([]T, c.length)
	}
	s := c.work.last
	if s.acquire() == nil { // so that it stays open
		defer s.release()
	} else {
		s = c.dev.def
	}
	for _, p := range stale {
		b := c.buffer.Slice(p.lo, p.hi)
		if err := Download(ctx, s, c.host[p.lo:p.hi], b); err != nil {
			return err
		}
		c.deviceNewer.remove(p)
		c.stats.Downloads++
		c.stats.DownloadedBytes += b.bytes()
	}
	return nil
}
