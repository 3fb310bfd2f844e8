package gpu

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"quern.dev/internal/driver"
	"quern.dev/internal/trace"
)

// Without CUPTI, a timer measures the work of a GPU with two events in the stream around each
// operation. The time between two events has 24 bits, so they are compared with a base event
// that is at most about a second older.
const (
	baseAge   = time.Second
	mostTimed = 1 << 13 // operations whose events are pending; further ones are not measured
)

// timer measures the work of a device with events.
type timer struct {
	dev      *Device
	recorder *trace.Recorder

	mu      sync.Mutex // guards the fields below
	stream  driver.Stream
	base    *timerBase
	free    []driver.Event
	pending []*timedWork
	closed  bool
}

// timerBase is a moment that both the host and the device know.
type timerBase struct {
	event driver.Event
	at    int64 // on the host's clock
	users int
}

var errPersistent = errors.New("persistent kernels run")

// prepareTimer makes the timer of a new device if it will be needed, before there are
// persistent kernels.
func (d *Device) prepareTimer() {
	if r := trace.Active(); r != nil && d.async && !r.UseCUDA() {
		t := d.timerFor(r)
		t.mu.Lock()
		_ = t.rebase() // the first operation tries again
		t.mu.Unlock()
	}
}

// timedWork is an operation between two events.
type timedWork struct {
	timer      *timer
	op         trace.Op
	base       *timerBase
	start, end driver.Event
}

// timerFor returns the device's timer for a recorder.
func (d *Device) timerFor(r *trace.Recorder) *timer {
	if t := d.timer.Load(); t != nil && t.recorder == r {
		return t
	}
	d.timing.Lock()
	defer d.timing.Unlock()
	before := d.timer.Load()
	if before != nil {
		if before.recorder == r {
			return before
		}
		before.close()
	}
	t := &timer{dev: d, recorder: r}
	d.timer.Store(t)
	r.AddPoller(t)
	return t
}

// begin records the start of an operation. It returns nil if it cannot be measured.
func (t *timer) begin(o *operation) *timedWork {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.pending) >= mostTimed || t.rebase() != nil {
		return nil
	}
	w := &timedWork{timer: t, op: o.Op, base: t.base}
	var err error
	if w.start, err = t.event(); err != nil {
		return nil
	}
	if err = o.stream.drv.Record(w.start); err != nil {
		t.free = append(t.free, w.start)
		return nil
	}
	w.base.users++
	return w
}

// ended records the end of an operation, and reports whether its time will be known. w may be
// nil.
func (w *timedWork) ended(o *operation, failed bool) bool {
	if w == nil {
		return false
	}
	t := w.timer
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	if !failed {
		if w.end, err = t.event(); err == nil {
			err = o.stream.drv.Record(w.end)
		}
	}
	if failed || err != nil || t.closed {
		t.drop(w)
		return false
	}
	return true
}

// await makes Poll pass on the time of an operation that has ended.
func (w *timedWork) await() {
	t := w.timer
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		t.drop(w)
		return
	}
	t.pending = append(t.pending, w)
}

// Poll passes on the times of operations that have ended.
func (t *timer) Poll(bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.poll()
	}
}

func (t *timer) poll() {
	t.pending = slices.DeleteFunc(t.pending, func(w *timedWork) bool {
		done, err := w.end.Done()
		if err == nil && !done {
			return false
		}
		if err == nil {
			start, err1 := w.start.Since(w.base.event)
			took, err2 := w.end.Since(w.start)
			if err1 == nil && err2 == nil {
				at := w.base.at + int64(start)
				w.op.OnDevice(at, at+int64(took))
			}
		}
		t.drop(w)
		return true
	})
}

// drop ends the use of the events of an operation.
func (t *timer) drop(w *timedWork) {
	t.free = append(t.free, w.start)
	if w.end != nil {
		t.free = append(t.free, w.end)
	}
	if w.base.users--; w.base.users == 0 && w.base != t.base {
		t.free = append(t.free, w.base.event)
	}
}

// event returns an event.
func (t *timer) event() (driver.Event, error) {
	if n := len(t.free); n > 0 {
		e := t.free[n-1]
		t.free = t.free[:n-1]
		return e, nil
	}
	return t.dev.drv.NewEvent(true)
}

// rebase makes a new base if there is none, or if it is old. The stream of the timer is
// empty, so the event passes at once.
func (t *timer) rebase() error {
	now := trace.Now()
	if t.base != nil && now-t.base.at < int64(baseAge) {
		return nil
	}
	if t.stream == nil {
		// Making a stream may wait for persistent kernels, whose owner may be the caller.
		if t.dev.able.persistent.HasPersistent() {
			return errPersistent
		}
		s, err := t.dev.drv.NewStream(0)
		if err != nil {
			return err
		}
		t.stream = s
	}
	e, err := t.event()
	if err != nil {
		return err
	}
	before := trace.Now()
	if err = t.stream.Record(e); err == nil {
		err = e.Synchronize(context.Background())
	}
	if err != nil {
		t.free = append(t.free, e)
		return err
	}
	if t.base != nil && t.base.users == 0 {
		t.free = append(t.free, t.base.event)
	}
	t.base = &timerBase{event: e, at: before + (trace.Now()-before)/2}
	return nil
}

// close releases the events, and passes on the times of what has ended.
func (t *timer) close() {
	t.recorder.RemovePoller(t)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.poll()
	for len(t.pending) > 0 { // of streams that continue; their times are not known
		t.drop(t.pending[0])
		t.pending = t.pending[1:]
	}
	t.closed = true
	if t.base != nil {
		t.free = append(t.free, t.base.event)
	}
	for _, e := range t.free {
		e.Close() // the events are lost with the device in any case
	}
	if t.stream != nil {
		t.stream.Close()
	}
	t.free, t.base, t.stream = nil, nil, nil
}
