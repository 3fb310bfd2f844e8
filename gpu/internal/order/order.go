// Package order orders the work of several streams on one piece of device memory, and
// lets the memory change hands without waiting on the host.
//
// Memory belongs to one stream, its home. Work that is added to the home comes after all
// earlier work on the memory. Another stream waits for the home stream, on the device,
// before its first use. When the memory is freed, events mark the end of such uses. The
// memory can go to another stream once its home is idle and the events have been
// reached.
package order

import (
	"context"
	"errors"
	"slices"
	"sync"

	"quern.dev/internal/driver"
)

// Stream is a stream as this package uses it.
type Stream interface {
	comparable
	Acquire() bool // begins a use; false if the stream is closed
	Release()
	Driver() driver.Stream
	Device() driver.Device
	Drained() <-chan struct{} // closed once the stream is closed and its work is done
	Idle() bool               // all of its work is done
	Detached() bool           // its work may not end for a long time
}

func isDrained[S Stream](s S) bool {
	select {
	case <-s.Drained():
		return true
	default:
		return false
	}
}

// Events is a free list of a device's events. It is safe for concurrent use.
type Events struct {
	Device driver.Device

	mu   sync.Mutex
	free []driver.Event
}

func (e *Events) take() (driver.Event, error) {
	e.mu.Lock()
	if n := len(e.free); n > 0 {
		ev := e.free[n-1]
		e.free = e.free[:n-1]
		e.mu.Unlock()
		return ev, nil
	}
	e.mu.Unlock()
	return e.Device.NewEvent(false)
}

func (e *Events) keep(events ...driver.Event) {
	e.mu.Lock()
	e.free = append(e.free, events...)
	e.mu.Unlock()
}

// Len returns the number of events in the list.
func (e *Events) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.free)
}

// Close closes the events.
func (e *Events) Close() error {
	var errs []error
	for _, ev := range e.free {
		errs = append(errs, ev.Close())
	}
	return errors.Join(errs...)
}

// Uses is the work on one piece of memory. Between Begin and End it is safe for concurrent
// use; otherwise it has one owner.
type Uses[S Stream] struct {
	events  *Events
	home    S
	pending []driver.Event // of work on streams other than home
	stays   bool           // one of them is on a detached stream

	// settled means that no work was using the memory when it was given to home, or
	// later.
	settled bool

	mu         sync.Mutex
	visitors   []S  // other streams that use the memory
	everywhere bool // any stream may use it
}

// Init initializes u for memory that was just allocated. Events come from e.
func (u *Uses[S]) Init(e *Events) { u.events = e }

// Home returns the stream that the memory belongs to.
func (u *Uses[S]) Home() S { return u.home }

// Visitors returns how many streams other than home are known to use the memory.
func (u *Uses[S]) Visitors() int { return len(u.visitors) }

// Begin gives the memory to s. It must be new, ready or done for s.
func (u *Uses[S]) Begin(s S) { u.home = s }

// Settle states that no work is using the memory now.
func (u *Uses[S]) Settle() { u.settled = true }

// Ready reports whether work on s may use the free memory without any wait. It does
// not query the device.
func (u *Uses[S]) Ready(s S) bool {
	if u.home != s || len(u.pending) > 0 {
		return false
	}
	u.settled = false
	return true
}

// Done reports whether work on s may use the free memory because other streams have
// finished with it. known caches which streams are idle.
func (u *Uses[S]) Done(s S, known *Idleness[S]) bool {
	if u.home != s && !known.of(u.home) || !u.passed() {
		return false
	}
	u.events.keep(u.pending...)
	u.pending, u.stays = u.pending[:0], false
	u.settled = known.of(u.home)
	return true
}

// passed reports whether the pending events have been reached.
func (u *Uses[S]) passed() bool {
	for _, e := range u.pending {
		if done, err := e.Done(); !done || err != nil {
			return false
		}
	}
	return true
}

// Idleness remembers which streams are idle, so that a search queries each stream
// only once.
type Idleness[S Stream] struct {
	streams [8]S
	idle    [8]bool
	count   int
}

func (k *Idleness[S]) of(s S) bool {
	if i := slices.Index(k.streams[:k.count], s); i >= 0 {
		return k.idle[i]
	}
	idle := s.Idle()
	if k.count < len(k.streams) {
		k.streams[k.count], k.idle[k.count] = s, idle
		k.count++
	}
	return idle
}

// Visit orders work that is about to be added to s after the earlier work on the memory.
func (u *Uses[S]) Visit(s S) error {
	if s == u.home {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if slices.Contains(u.visitors, s) {
		return nil
	}
	var err error
	if s.Device() == u.events.Device {
		err = u.follow(s)
	} else {
		err = u.settle()
	}
	if err != nil {
		return err
	}
	// The memory may stay in use for longer than many streams exist.
	u.visitors = append(slices.DeleteFunc(u.visitors, isDrained), s)
	return nil
}

// follow makes s wait for the current work of home, which may include work on the
// memory from before home got it.
func (u *Uses[S]) follow(s S) error {
	if u.settled {
		return nil
	}
	if !u.home.Acquire() {
		<-u.home.Drained()
		return nil
	}
	defer u.home.Release()
	e, err := u.events.take()
	if err != nil {
		return err
	}
	defer u.events.keep(e)
	if err := u.home.Driver().Record(e); err != nil {
		return err
	}
	return s.Driver().Wait(e)
}

// VisitAll is Visit for a use by unknown streams. It waits for the earlier work on
// the memory, and End waits for all streams.
func (u *Uses[S]) VisitAll() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.settle(); err != nil {
		return err
	}
	u.everywhere = true
	return nil
}

// settle waits for the current work of home.
func (u *Uses[S]) settle() error {
	if u.settled {
		return nil
	}
	if u.home.Acquire() {
		defer u.home.Release()
		if err := u.home.Driver().Synchronize(context.Background()); err != nil {
			return err
		}
	} else {
		<-u.home.Drained()
	}
	u.settled = true
	return nil
}

// End ends the use of the memory. It records events for the work of streams other than
// home. If an event cannot be recorded now, End returns a function that waits for that
// work; the caller calls it, and then End again. working returns the streams of the
// device whose work ends by itself.
func (u *Uses[S]) End(working func() []S) (wait func()) {
	if u.everywhere {
		for _, s := range working() {
			if s != u.home && !slices.Contains(u.visitors, s) {
				u.visitors = append(u.visitors, s)
			}
		}
		u.everywhere = false
	}
	for len(u.visitors) > 0 {
		last := len(u.visitors) - 1
		s := u.visitors[last]
		u.visitors = slices.Delete(u.visitors, last, last+1)
		switch {
		case !s.Acquire():
			if !isDrained(s) {
				return func() { <-s.Drained() }
			}
		case s.Device() != u.events.Device || u.record(s) != nil:
			return func() {
				s.Driver().Synchronize(context.Background())
				s.Release()
			}
		default:
			s.Release()
		}
	}
	return nil
}

func (u *Uses[S]) record(s S) error {
	e, err := u.events.take()
	if err != nil {
		return err
	}
	if err := s.Driver().Record(e); err != nil {
		u.events.keep(e)
		return err
	}
	u.pending = append(u.pending, e)
	u.stays = u.stays || s.Detached()
	return nil
}

// Free calls free with the stream in whose order the memory can be freed, or with nil if
// no work uses it. If the caller would have to wait first, Free returns a function that
// waits; the caller calls it on another goroutine, and then Free again.
func (u *Uses[S]) Free(free func(driver.Stream) error) (wait func(), err error) {
	if u.stays && !u.passed() { // nothing else may wait for it
		return func() {
			for _, e := range u.pending {
				e.Synchronize(context.Background())
			}
			u.stays = false
		}, nil
	}
	var errs []error
	switch {
	case u.home.Acquire():
		defer u.home.Release()
		on := u.home.Driver()
		for _, e := range u.pending {
			errs = append(errs, on.Wait(e))
		}
		errs = append(errs, free(on))
	case !isDrained(u.home): // it is being closed, perhaps by the caller
		return func() { <-u.home.Drained() }, nil
	default:
		for _, e := range u.pending {
			errs = append(errs, e.Synchronize(context.Background()))
		}
		errs = append(errs, free(nil))
	}
	u.events.keep(u.pending...)
	return nil, errors.Join(errs...)
}

// Wait waits for the work of streams, once per stream.
func Wait[S Stream](streams []S) error {
	var seen []S
	var errs []error
	for _, s := range streams {
		if slices.Contains(seen, s) || !s.Acquire() {
			continue
		}
		seen = append(seen, s)
		errs = append(errs, s.Driver().Synchronize(context.Background()))
		s.Release()
	}
	return errors.Join(errs...)
}
