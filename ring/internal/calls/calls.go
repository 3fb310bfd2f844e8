// Package calls makes calls one after another, on a goroutine that exists only while there
// is work. Calls can be held back, and a call that does not return in time is detected. The
// package does not know what is called.
package calls

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/ring/internal/errs"
	"quern.dev/ring/internal/watchdog"
)

// Calls are the calls of one step function. The step function makes at most one call, and
// reports whether it did. Around a call it uses Begin, Start, Do and End, in this order.
// Other goroutines may use the other methods at any time.
type Calls struct {
	step func() bool
	late func(after time.Duration)
	work func() // run, as a value that go statements need not allocate

	turn atomic.Int32 // state of the goroutine: resting, working or recalled

	mu        sync.Mutex
	base      context.Context
	ctx       context.Context // of calls
	cancel    context.CancelFunc
	holds     int
	closed    bool
	begun     bool          // between Begin and End
	started   bool          // between Start and End
	abandoned bool          // the outcome of the current call does not count
	overdue   bool          // the current call has exceeded the timeout
	idle      chan struct{} // closed by End; nil if nobody waits
	count     uint64        // of calls
	timer     watchdog.Timer
	armed     bool // an alarm will check the timer
	alarm     *alarm
}

// States of the goroutine.
const (
	resting  = iota
	working  // it is running
	recalled // it is running, and must call step once more before it ends
)

// alarm is what a timer of package time refers to. Go keeps a reference to the function of
// a timer for a while, even after the timer is stopped; this must not keep the Calls.
type alarm struct{ calls atomic.Pointer[Calls] }

// New returns the calls of step. The context of calls is derived from ctx. If a call takes
// longer than timeout, its context is cancelled, and late is called once. The call does not
// end before late returns.
func New(ctx context.Context, timeout time.Duration, step func() bool, late func(after time.Duration)) *Calls {
	c := &Calls{step: step, late: late, base: ctx, timer: *watchdog.New(timeout), alarm: new(alarm)}
	c.work = c.run
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// Kick makes the goroutine call step until that returns false.
func (c *Calls) Kick() {
	for {
		switch turn := c.turn.Load(); {
		case turn == recalled:
			return
		case turn == working && c.turn.CompareAndSwap(working, recalled):
			return
		case turn == resting && c.turn.CompareAndSwap(resting, working):
			go c.work()
			return
		}
	}
}

func (c *Calls) run() {
	regular := false
	defer func() {
		if !regular { // a call has ended the goroutine
			c.turn.Store(resting)
			c.Kick()
		}
	}()
	for {
		for c.step() {
		}
		if c.turn.CompareAndSwap(working, resting) {
			regular = true
			return
		}
		c.turn.Store(working)
	}
}

// Begin begins a call, unless calls are held. From then on, Hold waits for End.
func (c *Calls) Begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.holds > 0 {
		return false
	}
	c.begun, c.abandoned = true, false
	return true
}

// Start starts the watchdog of the call, and returns the call's context.
func (c *Calls) Start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = true
	c.count++
	if !c.armed {
		c.timer.Stop()
		c.timer.Check(time.Now(), c.count)
		c.arm()
	}
	return c.ctx
}

// Do calls f, unless the current call was abandoned, and reports whether it did. The call
// is not abandoned while f runs.
func (c *Calls) Do(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abandoned {
		return false
	}
	f()
	return true
}

// End ends what Begin began.
func (c *Calls) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.started, c.overdue = false, false, false
	if c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// LateError means that a call has not returned in time.
type LateError struct{ After time.Duration }

// Error states the time.
func (e *LateError) Error() string { return fmt.Sprintf("the call did not return within %v", e.After) }

// Hold prevents further calls until Release, and waits for the end of the current one. If
// that is overdue or does not end within the given time, Hold returns a [*LateError] and
// holds nothing. If last is set, there is no use for the call: its context is cancelled, and
// if it is late, it is abandoned. After Close the error is errs.ErrClosed.
func (c *Calls) Hold(within time.Duration, last bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errs.ErrClosed
	}
	c.holds++
	if last {
		c.cancel()
	}
	limit := watchdog.New(within)
	for inTime := true; inTime && c.begun && !c.overdue; {
		if c.idle == nil {
			c.idle = make(chan struct{})
		}
		idle := c.idle
		c.mu.Unlock()
		inTime = limit.Await(idle)
		c.mu.Lock()
	}
	if !c.begun {
		return nil
	}
	c.holds--
	c.abandoned = c.abandoned || last
	if c.overdue {
		within = c.timer.Timeout
	}
	return &LateError{within}
}

// Release ends a hold. If renew is set and the context of calls was cancelled, later calls
// get a new one.
func (c *Calls) Release(renew bool) {
	c.mu.Lock()
	c.holds--
	if renew && c.ctx.Err() != nil {
		c.ctx, c.cancel = context.WithCancel(c.base)
	}
	c.mu.Unlock()
	c.Kick()
}

// Close prevents further calls for good. It abandons the current one and does not wait for
// it.
func (c *Calls) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.abandoned = true, c.begun
	c.forget()
}

// Forget makes the timer of the watchdog forget the calls, if there will be no more of them.
func (c *Calls) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

// forget is Forget for callers that hold mu.
func (c *Calls) forget() {
	if !c.started {
		c.alarm.calls.Store(nil)
	}
}

// arm makes an alarm check the timer. The caller holds mu.
func (c *Calls) arm() {
	a := c.alarm
	a.calls.Store(c)
	c.armed = true
	time.AfterFunc(c.timer.Interval(), func() {
		if c := a.calls.Load(); c != nil {
			c.check()
		}
	})
}

// check checks whether the current call has been running for too long.
func (c *Calls) check() {
	runtime.Gosched()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = false
	switch {
	case !c.started || c.closed:
	case !c.timer.Check(time.Now(), c.count):
		c.arm()
	case !c.overdue:
		c.overdue = true
		c.cancel()
		c.late(c.timer.Timeout)
	}
}
