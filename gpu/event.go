package gpu

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
)

// Event is a point in the work of a stream, for waiting and for measuring time. It is safe
// for concurrent use.
type Event struct {
	dev    *Device
	drv    driver.Event
	lease  lease.Lease
	stream atomic.Pointer[Stream] // that last recorded it
	mark   atomic.Pointer[mark]   // where it was last recorded, if in a graph

	launches atomic.Uint64 // of the stream, when it was recorded
}

// NewEvent makes an event. The caller closes it.
func (d *Device) NewEvent() (*Event, error) {
	if err := d.acquire(); err != nil {
		return nil, driverError("new event", err)
	}
	drv, err := d.drv.NewEvent(true)
	if err != nil {
		return nil, errors.Join(driverError("new event", err), d.release())
	}
	e := &Event{dev: d, drv: drv}
	d.mu.Lock()
	if d.events != nil {
		d.events[e] = struct{}{}
	}
	d.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, errors.Join(driverError("new event", err), e.Close())
	}
	return e, nil
}

// Synchronize waits until the stream has reached e, and returns the fault of a kernel of
// that stream as [*KernelError]. It returns at once if e was never recorded. Cancelling ctx
// ends the wait, not the work.
func (e *Event) Synchronize(ctx context.Context) error {
	if err := e.acquire(nil); err != nil {
		return driverError("synchronize event", err)
	}
	defer e.release()
	if err := e.outside(); err != nil {
		return driverError("synchronize event", err)
	}
	s, n, ctx := e.stream.Load(), e.launches.Load(), orBackground(ctx)
	var o *operation
	if s != nil {
		o = s.traceWait()
	}
	if err := o.end(e.drv.Synchronize(ctx)); err != nil {
		if s != nil && ctx.Err() != nil {
			err = s.history.explain(err, n)
		}
		return driverError("synchronize event", err)
	}
	if s == nil {
		return nil
	}
	s.history.passed(n)
	if s.acquire() != nil {
		return nil
	}
	defer s.release()
	return s.fault()
}

// Done reports, without waiting, whether the stream has reached e.
func (e *Event) Done() (bool, error) {
	if err := e.acquire(nil); err != nil {
		return false, driverError("query event", err)
	}
	defer e.release()
	if err := e.outside(); err != nil {
		return false, driverError("query event", err)
	}
	done, err := e.drv.Done()
	return done, driverError("query event", err)
}

// Elapsed returns the time on the device from start to end. Both events must have been
// recorded and reached.
func Elapsed(start, end *Event) (time.Duration, error) {
	if err := start.acquire(nil); err != nil {
		return 0, driverError("elapsed time: start", err)
	}
	defer start.release()
	if err := end.acquire(start.dev); err != nil {
		return 0, driverError("elapsed time: end", err)
	}
	defer end.release()
	if err := start.outside(); err != nil {
		return 0, driverError("elapsed time: start", err)
	}
	if err := end.outside(); err != nil {
		return 0, driverError("elapsed time: end", err)
	}
	if start.stream.Load() == nil || end.stream.Load() == nil {
		return 0, driverError("elapsed time", invalid("event was never recorded"))
	}
	t, err := end.drv.Since(start.drv)
	return t, driverError("elapsed time", err)
}

// Close releases the event. Closing again does nothing.
func (e *Event) Close() error {
	if e == nil || e.dev == nil {
		return nil
	}
	first, destroy := e.lease.Close()
	if first {
		e.dev.mu.Lock()
		delete(e.dev.events, e)
		e.dev.mu.Unlock()
	}
	if destroy {
		return e.destroy()
	}
	return nil
}

func (e *Event) destroy() error {
	return errors.Join(driverError("close event", unlessLost(e.drv.Close())), e.dev.release())
}

// acquire begins a use of the event, which release ends. The event must be of device dev,
// unless dev is nil.
func (e *Event) acquire(dev *Device) error {
	switch {
	case e == nil:
		return invalid("event is nil")
	case e.dev == nil:
		return invalid("event was not made by NewEvent")
	case dev != nil && e.dev != dev:
		return otherDevice("event", e.dev, dev)
	case !e.lease.Acquire():
		return e.dev.closedError("event")
	default:
		return nil
	}
}

func (e *Event) release() {
	if e.lease.Release() {
		e.destroy() // the error is dropped: Close has already returned
	}
}
