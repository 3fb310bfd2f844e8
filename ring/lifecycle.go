package ring

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/trace"
)

// life is the state of an actor, from its beginning to its end.
type life struct {
	identity
	traces *trace.Tracer

	state  atomic.Uint32
	reason atomic.Pointer[error] // why it has failed

	in, out     reflect.Type
	supervision supervision

	ending   atomic.Bool   // somebody ends the actor, or has done so
	over     chan struct{} // closed when it is ended; after that:
	farewell Farewell
	err      error

	departure sync.Mutex
	departed  bool
	counted   Info // of it in the sums of actors that are gone
}

func newLife[In, Out any](rt *Runtime, o *Options) life {
	return life{
		identity: identity{name: o.Name}, traces: &rt.traces,
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), over: make(chan struct{}),
		supervision: supervision{own: o.Supervisor, most: o.MaxRestarts, within: o.RestartWindow},
	}
}

// Activate lets an actor handle messages that was spawned inactive or deactivated.
func (a *Actor[In, Out]) Activate() error {
	c, err := a.made("activate")
	if err != nil {
		return err
	}
	return c.activate("activate")
}

func (c *core) activate(op string) error {
	c.rt.spawning.Lock()
	defer c.rt.spawning.Unlock()
	s := c.current()
	if s != Launched && s != Deactivated {
		return c.denied(op, false)
	}
	if err := c.server.room(); err != nil {
		return err
	}
	if !c.move(s, Active) {
		return c.denied(op, false)
	}
	c.refill()
	err := restart(c.server)
	c.kick()
	return err
}

// Deactivate stops an actor at a message boundary. It keeps the messages that it
// has, takes more as long as there is room, and handles them once it is activated.
func (a *Actor[In, Out]) Deactivate() error {
	c, err := a.made("deactivate")
	if err != nil {
		return err
	}
	if !c.move(Active, Deactivated) {
		return c.denied("deactivate", false)
	}
	return restart(c.server)
}

// Restart lets an actor go on that has failed, with the message after the one that
// it failed on. Its state is what the handler left, or, if fresh is set, the one
// that it was spawned with; that of an actor in Go is its handler's own.
func (a *Actor[In, Out]) Restart(fresh bool) error {
	c, err := a.made("restart")
	if err != nil {
		return err
	}
	return c.restart(fresh)
}

func (c *core) restart(fresh bool) error {
	if c.current() != Failed {
		return c.denied("restart", false)
	}
	if err := c.server.hold(); err != nil {
		return err
	}
	var err error
	if fresh {
		err = c.server.renew(c.initial)
	}
	if err == nil {
		if c.goOn() {
			c.refill()
			c.meter.restarts.Add(1)
		} else {
			err = c.denied("restart", false)
		}
	}
	err = errors.Join(err, c.server.resume())
	c.kick()
	return err
}

// goOn makes an actor active that has failed, and is held. It reports false if somebody
// ends it.
func (c *core) goOn() bool {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	for _, m := range c.mailboxes {
		m.passOver()
	}
	why := c.reason.Swap(nil) // what it does from now on has nothing to do with that
	if c.move(Failed, Active) {
		return true
	}
	c.reason.CompareAndSwap(nil, why)
	return false
}

// Farewell is what became of the messages that an actor had when it was
// terminated: each is counted once. What other actors on the device had sent, and it has
// not handled, becomes dead letters later, and is not in here.
type Farewell struct {
	Drained      int // handled after that
	DeadLettered int // not handled; they are among the runtime's dead letters
	Dropped      int // not handled, and more than the dead letters have room for
}

// Terminate ends an actor. It takes no more messages, handles those that it has if
// it is active, until ctx is cancelled, and says what became of them. If the
// handler does not return that is a [*StuckError] after the runtime's patience.
//
// An actor that has terminated is unknown to the runtime, and its name can be given
// to another. Replies that it has made can still be received. Terminating an actor
// again waits for the end of the first call and returns the same.
func (a *Actor[In, Out]) Terminate(ctx context.Context) (Farewell, error) {
	c, err := a.made("terminate")
	if err != nil {
		return Farewell{}, err
	}
	if ctx == nil {
		return Farewell{}, c.about("terminate", errNilContext)
	}
	return c.terminate(ctx)
}

func (c *core) terminate(ctx context.Context) (Farewell, error) {
	if !c.ending.CompareAndSwap(false, true) {
		select {
		case <-c.over:
			return c.farewell, c.err
		case <-ctx.Done():
			return Farewell{}, c.about("terminate", ctx.Err())
		}
	}
	if !c.move(Active, Terminating) {
		c.setState(Terminated)
	}
	before := c.shut()
	c.err = c.shutBox()
	mail, err := c.drain(ctx)
	c.err = errors.Join(c.err, err)
	c.finish(before, mail)
	return c.farewell, c.err
}

// drain waits until the actor has handled its messages, ctx is cancelled, or it
// handles none any more. It returns how many it has handled of those that other actors
// had sent on the device.
func (c *core) drain(ctx context.Context) (handled int, err error) {
	if !c.runs() {
		return 0, nil
	}
	mail, err := c.mailed()
	begin := mail
	var wait backoff.Wait
	v := c.rt.watchdog()
	for left := c.queued() + mail; left > 0 && c.runs() && err == nil; {
		c.kick()
		if !wait.Pause() {
			continue
		}
		runtime.Gosched()
		if mail, err = c.mailed(); err == nil {
			left = c.queued() + mail
		}
		if ctx.Err() != nil || c.rt.ending() || v.Check(time.Now(), uint64(left)) {
			break
		}
	}
	return max(begin-mail, 0), err
}

// finish ends an actor that takes no more messages and had so many, and has handled
// so many of other actors since. Whoever has set ending calls it.
func (c *core) finish(before, mail int) {
	c.setState(Terminated)
	c.err = errors.Join(c.err, c.leave(), c.shutBox(), c.rt.groups.vacate(c))
	if h, ok := c.server.(*hostActor); ok {
		if err := h.dropInbox(); err != nil {
			c.err = errors.Join(c.err, err)
		}
		h.unwatch()
	}
	left := c.discard()
	kept := min(left, c.rt.letterRoom())
	c.farewell = Farewell{Drained: max(before, left) - left + mail, DeadLettered: kept, Dropped: left - kept}
	c.rt.unregister(c)
	c.depart()
	close(c.over)
}

// leave has the server take note that the actor has ended, and does what its loop has
// left undone.
func (c *core) leave() error {
	err := c.server.hold()
	switch {
	case errors.Is(err, ErrClosed): // the loop has left for good
		return c.passOnLast()
	case err != nil:
		return err
	}
	return errors.Join(c.passOnLast(), c.server.resume())
}

// end terminates an actor that has failed.
func (c *core) end() error {
	if c.current() != Failed {
		return c.denied("end", false)
	}
	_, err := c.terminate(context.Background())
	return err
}

// fail notes that the handler has failed on a message. It may be called while the
// actor is held.
func (c *core) fail(err error) { c.falter(err, 1) }

// stall notes that the handler does not return. The message is not handled until it
// does, or the actor ends: what becomes of it is counted then.
func (c *core) stall(err error) { c.falter(err, 0) }

// falter is fail on so many messages.
func (c *core) falter(err error, messages uint64) {
	c.reason.Store(&err)
	c.rt.traces.Mark(c.name, "failure", 0, err.Error())
	for {
		s := c.current()
		to := Failed
		switch s {
		case Terminated:
			c.meter.failed.Add(messages)
			return
		case Terminating: // there is nobody to restart it for
			to = Terminated
		}
		if c.move(s, to) {
			break
		}
	}
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	c.meter.failed.Add(messages) // whoever sees it and closes the runtime waits for the supervisors
	n := c.meter.failures.Add(1)
	c.rt.begin(func() { c.supervise(Failure{Actor: c.name, Err: err, Count: n}) })
}

// stopped notes that the handler has stopped the actor.
func (c *core) stopped() {
	c.setState(Terminated)
	c.rt.background(func() { // Close, once it has begun, does it itself
		if c.ending.CompareAndSwap(false, true) {
			c.finish(0, 0)
		}
	})
}

// runs reports whether the actor's loop is to run.
func (l *life) runs() bool {
	s := l.current()
	return s == Active || s == Terminating
}

// cause returns why the actor has failed, or nil if it has not.
func (l *life) cause() error {
	if s := l.current(); s != Failed && s != Terminated {
		return nil
	}
	return l.failure()
}

// failure is the last one of the handler, or nil.
func (l *life) failure() error {
	if e := l.reason.Load(); e != nil {
		return *e
	}
	return nil
}

// denied is the error of an operation that the state does not allow.
func (l *life) denied(op string, uncertain bool) error { return l.deniedIn(l.current(), op, uncertain) }

// deniedIn is denied for a state that the actor was in.
func (l *life) deniedIn(s State, op string, uncertain bool) error {
	return &StateError{Actor: l.name, State: s, Op: op, Err: l.cause(), Uncertain: uncertain}
}

// Failure is a handler's failure, as its supervisor learns of it.
type Failure struct {
	Actor string
	Err   error  // a *gpu.KernelError or a *PanicError if it is known where and how
	Count uint64 // failures of this actor so far, with this one
	// Escalated is set if the actor's own supervisor has passed the failure on, or
	// has had the actor restarted too often.
	Escalated bool
}

// Decision is what happens to an actor whose handler has failed. One whose handler does
// not return goes on once it does.
type Decision uint8

// Decisions.
const (
	Leave    Decision = iota // it stays failed and keeps its messages
	Resume                   // it goes on with its state and the next message
	Renew                    // it goes on with the state that it was spawned with
	End                      // it terminates
	Escalate                 // the runtime's supervisor decides
)

// EscalationError is a failure that was passed on and that no supervisor has dealt
// with. The actor stays failed. [Runtime.Close] returns it.
type EscalationError struct{ Failure Failure }

// Error names the actor.
func (e *EscalationError) Error() string {
	return fmt.Sprintf("ring: actor %s stays failed after %d failures, no supervisor has dealt with the last: %v", e.Failure.Actor, e.Failure.Count, e.Failure.Err)
}

// Unwrap returns why the handler failed.
func (e *EscalationError) Unwrap() error { return e.Failure.Err }

// supervision is who decides about an actor's failures, and how often it has been
// restarted.
type supervision struct {
	own    func(Failure) Decision
	most   int           // restarts
	within time.Duration // of this time

	mu       sync.Mutex
	restarts []time.Time // the latest, most of them at most
}

// allows reports whether there may be one more restart, and notes it.
func (s *supervision) allows(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restarts = slices.DeleteFunc(s.restarts, func(t time.Time) bool { return now.Sub(t) >= s.within })
	if len(s.restarts) >= s.most {
		s.restarts = s.restarts[:0]
		return false
	}
	s.restarts = append(s.restarts, now)
	return true
}

// supervise asks the supervisors about a failure, and does as they say. One call at
// a time is under way, but for a handler that was stuck and fails when it returns: else
// the actor fails again only after it has been restarted.
func (c *core) supervise(f Failure) {
	d := Escalate
	if own := c.supervision.own; own != nil {
		d = c.rt.ask(own, f)
		if (d == Resume || d == Renew) && !c.supervision.allows(time.Now()) {
			d = Escalate
		}
	}
	if d == Escalate {
		f.Escalated = c.supervision.own != nil
		if whole := c.rt.config.Supervisor; whole != nil {
			d = c.rt.ask(whole, f)
		}
	}
	var err error
	switch d {
	case Leave:
	case Resume:
		err = c.restartOnceReturned(false)
	case Renew:
		err = c.restartOnceReturned(true)
	case End:
		err = c.end()
	default:
		if f.Escalated || c.rt.config.Supervisor != nil {
			c.rt.record(&EscalationError{f})
		}
	}
	if _, other := errors.AsType[*StateError](err); err != nil && !other && !errors.Is(err, ErrClosed) {
		c.rt.record(err)
	}
}

// Pauses between looks whether a handler that was stuck has returned.
const (
	shortLook = time.Millisecond
	longLook  = 50 * time.Millisecond
)

// restartOnceReturned restarts an actor. If its handler is stuck it waits until that
// returns, somebody else has restarted or ended the actor, or the runtime is closed,
// which says what is stuck then.
func (c *core) restartOnceReturned(fresh bool) error {
	for pause := shortLook; ; pause = min(2*pause, longLook) {
		err := c.restart(fresh)
		if _, stuck := errors.AsType[*StuckError](err); !stuck {
			return err
		}
		select {
		case <-c.rt.done:
			return nil
		case <-time.After(pause):
		}
	}
}

// ask calls a supervisor. One that panics has not dealt with the failure.
func (rt *Runtime) ask(supervisor func(Failure) Decision, f Failure) (d Decision) {
	d = Escalate
	defer func() {
		if v := recover(); v != nil {
			rt.record(fmt.Errorf("ring: a supervisor of actor %s: %w", f.Actor, newPanicError(v)))
		}
	}()
	return supervisor(f)
}
