package gpu

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"quern.dev/gpu/internal/spans"
	"quern.dev/internal/lease"
)

// Unified is an array that the host and a device share. Each side has its own memory. The
// package copies what one side has changed when the other side needs it, once.
//
// A program uses a side through views for reading or for writing. [Unified.WriteHost] and
// [Unified.ReadHost] lend a slice to a function; [Unified.WriteDevice] and
// [Unified.ReadDevice] return a Buffer for work on one stream. A view for writing has the
// current values, and counts as a change of its whole range; to write a few elements, take a
// view of a [Unified.Slice]. The package orders the work of streams, so that a view sees the
// writes of all earlier views.
//
// Conflicting views cannot be used at the same time. While the host uses a range, taking a
// view of it returns an error that matches [ErrInUse] if either view is for writing. A device
// view ends implicitly when another stream or the host takes a view of the same elements and
// either view is for writing; a later launch with it returns an error that matches
// [ErrClosed]. Work that would write a view for reading fails with [ErrReadOnly]. Work on a
// stream other than that of the view fails too. So a write is either seen by all later views
// or refused.
//
// Reading elements that were never written returns an error that matches [ErrUninitialised].
// The memory of a side is allocated when that side is first used.
//
// A Unified is safe for concurrent use.
type Unified[T any] struct {
	core   *unified[T]
	part   spans.Span
	view   bool // made by Slice
	closed atomic.Bool
	err    error // of the Slice that made it
}

// Errors of views of a Unified, which are matched with errors.Is.
var (
	// ErrInUse means that the host is using the same elements.
	ErrInUse = errors.New("in use on the host")

	// ErrUninitialised means that the elements were never written.
	ErrUninitialised = errors.New("never written")
)

// UnifiedState is the side that has the current values of a Unified.
type UnifiedState int

// States of a Unified or a slice of one.
const (
	StateUninitialised UnifiedState = iota // no element has a value
	StateHostOnly                          // the device has no memory yet
	StateDeviceOnly                        // the host has no memory yet
	StateSynchronised                      // both sides have the same values
	StateHostDirty                         // the host has newer values
	StateDeviceDirty                       // the device has newer values
	StateBothDirty                         // each side has newer values of some elements
)

var stateNames = [...]string{"uninitialised", "host only", "device only", "synchronised", "host dirty", "device dirty", "both dirty"}

// String returns a state's name, such as "host dirty".
func (s UnifiedState) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "unknown"
	}
	return stateNames[s]
}

// UnifiedStats counts the copies of a Unified since it was made.
type UnifiedStats struct {
	Uploads, Downloads             int   // copies, one per run of adjacent elements
	UploadedBytes, DownloadedBytes int64 // bytes copied
}

// unified is the state that a Unified and its slices share.
type unified[T any] struct {
	dev    *Device
	length int
	lease  lease.Lease

	pinned bool

	mu     sync.Mutex
	host   []T            // nil before the host is first used
	page   *HostBuffer[T] // of host, if pinned
	buffer *Buffer[T]     // nil before the device is first used

	known       spans.Set // elements that have a value
	hostNewer   spans.Set // elements whose current value the device does not have
	deviceNewer spans.Set // elements whose current value the host does not have

	readers, writers []spans.Span // open views of the host
	views            deviceViews[T]
	work             streamWork
	moves            []*move
	uploads          []*hostUpload
	stats            UnifiedStats
}

// UnifiedOption is an option of [NewUnified].
type UnifiedOption int

// Pinned page-locks the host memory, as for a [HostBuffer]. Copies are then faster,
// and taking a device view does not wait for them.
const Pinned UnifiedOption = 1

// NewUnified makes an array of n elements, which are uninitialised. The caller closes
// it.
func NewUnified[T any](d *Device, n int, options ...UnifiedOption) (*Unified[T], error) {
	if err := d.check(); err != nil {
		return nil, driverError("new unified", err)
	}
	if _, err := sizeOf[T](n); err != nil {
		return nil, driverError("new unified", err)
	}
	for _, o := range options {
		if o != Pinned {
			return nil, driverError("new unified", invalid("unknown option %d", o))
		}
	}
	return &Unified[T]{core: &unified[T]{dev: d, length: n, pinned: len(options) > 0}, part: spans.Span{Lo: 0, Hi: n}}, nil
}

// Len returns the number of elements.
func (u *Unified[T]) Len() int {
	if u == nil {
		return 0
	}
	return u.part.Hi - u.part.Lo
}

// Device returns the device of the array.
func (u *Unified[T]) Device() *Device {
	if u == nil || u.core == nil {
		return nil
	}
	return u.core.dev
}

// Slice returns the elements lo to hi-1, which share the memory of u. The result is
// valid until u is closed, and need not be closed itself. If the range is not in u,
// each use of the result returns an error.
func (u *Unified[T]) Slice(lo, hi int) *Unified[T] {
	if u == nil {
		return nil
	}
	v := &Unified[T]{core: u.core, view: true, err: u.err}
	if v.err == nil && u.core != nil && (lo < 0 || hi < lo || hi > u.Len()) {
		v.err = invalid("slice [%d:%d] of a unified array of %s", lo, hi, count(u.Len(), "element"))
	}
	if v.err == nil {
		v.part = spans.Span{Lo: u.part.Lo + lo, Hi: u.part.Lo + hi}
	}
	v.closed.Store(u.closed.Load())
	return v
}

// Close frees the memory of both sides once the work that uses it is done. Closing a
// slice invalidates only that slice. Closing again does nothing.
func (u *Unified[T]) Close() error {
	if u == nil || u.core == nil || u.closed.Swap(true) || u.view {
		return nil
	}
	c := u.core
	_, destroy := c.lease.Close()
	if destroy {
		return partOf("close unified array", c.destroy())
	}
	return nil
}

// destroy frees the memory. Launches in progress with views keep it until they are
// done. The array must not be in use otherwise.
func (c *unified[T]) destroy() error {
	c.views.end(spans.Span{Lo: 0, Hi: c.length}, nil, true)
	c.host = nil
	errs := []error{c.buffer.Close(), c.page.Close()}
	for _, u := range c.uploads {
		errs = append(errs, u.event.Close())
	}
	return errors.Join(errs...)
}

// acquire begins a use of the array, which release ends.
func (u *Unified[T]) acquire() (*unified[T], error) {
	switch {
	case u == nil:
		return nil, invalid("unified array is nil")
	case u.err != nil:
		return nil, u.err
	case u.core == nil:
		return nil, invalid("unified array was not made by NewUnified")
	case u.closed.Load() || !u.core.lease.Acquire():
		return nil, u.core.dev.closedError("unified array")
	default:
		return u.core, nil
	}
}

func (c *unified[T]) release() {
	if c.lease.Release() {
		c.destroy() // the error is dropped: Close has already returned
	}
}

// State returns which side has the current values. A closed Unified is uninitialised.
func (u *Unified[T]) State() UnifiedState {
	c, err := u.acquire()
	if err != nil {
		return StateUninitialised
	}
	defer c.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	host, device := c.hostNewer.Overlaps(u.part), c.deviceNewer.Overlaps(u.part)
	switch {
	case !c.known.Overlaps(u.part):
		return StateUninitialised
	case host && device:
		return StateBothDirty
	case host && c.buffer == nil:
		return StateHostOnly
	case host:
		return StateHostDirty
	case device && c.host == nil:
		return StateDeviceOnly
	case device:
		return StateDeviceDirty
	default:
		return StateSynchronised
	}
}

// Stats returns the statistics of the whole array, even if u is a slice.
func (u *Unified[T]) Stats() UnifiedStats {
	if u == nil || u.core == nil {
		return UnifiedStats{}
	}
	u.core.mu.Lock()
	defer u.core.mu.Unlock()
	return u.core.stats
}

// Discard makes the elements uninitialised, so that they are not copied until they
// are written again.
func (u *Unified[T]) Discard() error {
	c, err := u.acquire()
	if err != nil {
		return driverError("discard", err)
	}
	defer c.release()
	return driverError("discard", c.locked(context.Background(), func() error {
		if err := c.inUse(u.part, true); err != nil {
			return err
		}
		if wait := c.contradicting(u.part, nil, true); len(wait) > 0 {
			return &busy{wait[0]}
		}
		for _, s := range []*spans.Set{&c.known, &c.hostNewer, &c.deviceNewer} {
			s.Remove(u.part)
		}
		return nil
	}))
}

// busy is the error of an operation that would have to wait while holding the lock.
// The operation is retried when the channel is closed.
type busy struct{ until <-chan struct{} }

func (*busy) Error() string { return "busy" }

// locked calls f with the lock held. If f returns a busy error, it waits without the
// lock and calls f again.
func (c *unified[T]) locked(ctx context.Context, f func() error) error {
	for {
		c.mu.Lock()
		err := f()
		c.mu.Unlock()
		b, ok := errors.AsType[*busy](err)
		if !ok {
			return err
		}
		if err := wait(ctx, b.until); err != nil {
			return err
		}
	}
}

// wait waits until the channel is closed.
func wait(ctx context.Context, until <-chan struct{}) error {
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// move is a range of elements that one call is copying from one side to the other
// without the lock. No other call uses them until it is done.
type move struct {
	part spans.Span
	done chan struct{}
}

// unlocked releases the lock that the caller holds while it calls f, which copies
// elements of r.
func (c *unified[T]) unlocked(r spans.Span, f func() error) error {
	m := &move{r, make(chan struct{})}
	c.moves = append(c.moves, m)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.moves = slices.DeleteFunc(c.moves, func(o *move) bool { return o == m })
		close(m.done)
	}()
	return f()
}

// moving returns channels that are closed when no other call is copying elements of
// r.
func (c *unified[T]) moving(r spans.Span) (done []<-chan struct{}) {
	for _, m := range c.moves {
		if m.part.Overlaps(r) {
			done = append(done, m.done)
		}
	}
	return done
}

// contradicting ends the device views that conflict with a new view of r, except for
// those of the stream but. It returns channels that are closed when no call uses
// these views or copies elements of r.
func (c *unified[T]) contradicting(r spans.Span, but *Stream, write bool) []<-chan struct{} {
	return append(c.views.end(r, but, write), c.moving(r)...)
}

// allows returns an error if elements cannot be read or written because the host is
// using them or they have no value.
func (c *unified[T]) allows(r spans.Span, write bool) error {
	if err := c.inUse(r, write); err != nil || write {
		return err
	}
	if gap, found := c.known.Missing(r); found {
		return &failure{"elements " + gap.String() + " were never written", ErrUninitialised}
	}
	return nil
}

// inUse returns an error if elements cannot be read or written because the host is
// using them.
func (c *unified[T]) inUse(r spans.Span, write bool) error {
	for _, open := range c.writers {
		if open.Overlaps(r) {
			return &failure{"elements " + open.String() + " are being written on the host", ErrInUse}
		}
	}
	for _, open := range c.readers {
		if write && open.Overlaps(r) {
			return &failure{"elements " + open.String() + " are being read on the host", ErrInUse}
		}
	}
	return nil
}
