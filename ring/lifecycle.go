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

// life is the lifecycle state of an actor.
type life struct {
	identity
	traces *trace.Tracer

	state  atomic.Uint32
	reason atomic.Pointer[error] // why the actor has failed

	in, out     reflect.Type
	supervision supervision

	ending      atomic.Bool   // a goroutine is ending the actor, or has ended it
	over        chan struct{} // closed when the actor has ended; the fields below are valid after that
	termination Termination
	err         error

	departure sync.Mutex
	departed  atomic.Bool
	counted   Info // already included in the runtime's sums of ended actors
}

func newLife[In, Out any](rt *Runtime, o *Options) life {
	return life{
		identity: identity{name: o.Name}, traces: &rt.traces,
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), over: make(chan struct{}),
		supervision: supervision{own: o.Supervisor, most: o.MaxRestarts, within: o.RestartWindow},
	}
}

// Activate lets an actor handle messages that was spawned inactive or was
// deactivated.
func (a *Actor[In, Out]) Activate() error {
	c, err := a.made("activate")
	if err != nil {
		return err
	}
	return c.activate("activate")
}

func (c *core) activate(op string) error {
	closed := c.rt.beginSpawning("activate " + c.name)
	if closed == nil {
		defer c.rt.spawning.unlock()
	}
	s := c.current()
	if s != Launched && s != Deactivated {
		return c.denied(op, false)
	}
	if closed != nil {
		return closed
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

// Deactivate stops an actor at a message boundary. The actor keeps its messages,
// accepts more while there is room, and handles them once it is activated.
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

// Restart lets a failed actor continue with the message after the one that it failed
// on. Its state is what the handler left, or, if fresh is set, the state that the
// actor was spawned with. A host actor keeps its own state in either case.
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
	if err := c.hold("restart"); err != nil {
		return err
	}
	var err error
	if c.current() != Failed { // another goroutine has restarted it, or is ending it
		err = c.denied("restart", false)
	} else if fresh {
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

// hold holds the actor for an operation, until server.resume.
func (c *core) hold(op string) error {
	err := c.server.hold()
	if errors.Is(err, ErrClosed) && c.current() == Terminated {
		return c.denied(op, false)
	}
	return err
}

// goOn makes a failed actor active again. The actor must be held. goOn returns false if
// the actor is being ended.
func (c *core) goOn() bool {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	for _, m := range c.mailboxes {
		m.expireWithdrawn()
	}
	why := c.reason.Swap(nil) // later work has nothing to do with that failure
	if c.move(Failed, Active) {
		return true
	}
	c.reason.CompareAndSwap(nil, why)
	return false
}

// Termination accounts for the messages that an actor had when it was terminated; each is
// counted once. Messages of other actors on the device are not included: those that were
// not handled become dead letters later.
type Termination struct {
	Drained      int // handled during termination
	DeadLettered int // not handled; they are in the runtime's dead letters
	Dropped      int // not handled, and discarded because the dead letters were full
}

// Terminate ends an actor. The actor accepts no more messages. If it is active, it
// handles those that it has, until ctx is cancelled. Terminate reports what became of
// them. If the handler does not return within Config.HandlerTimeout, the error is a
// [*StuckError].
//
// The runtime forgets a terminated actor, and its name can be reused. Its replies can
// still be received. Terminating an actor again waits for the end of the first call
// and returns the same result.
func (a *Actor[In, Out]) Terminate(ctx context.Context) (Termination, error) {
	c, err := a.made("terminate")
	if err != nil {
		return Termination{}, err
	}
	return c.terminate(orBackground(ctx))
}

func (c *core) terminate(ctx context.Context) (Termination, error) {
	if !c.ending.CompareAndSwap(false, true) {
		select {
		case <-c.over:
			return c.termination, c.err
		case <-ctx.Done():
			return Termination{}, c.about("terminate", ctx.Err())
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
	return c.termination, c.err
}

// drain waits until the actor has handled its messages, can handle no more, or ctx is
// cancelled. It returns the number of messages from other actors on the device that
// were handled meanwhile.
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

// finish ends an actor that accepts no more messages. before is the number of
// messages that it had, mail the number of messages from other actors that it has
// handled since. Only the caller that has set ending calls it.
func (c *core) finish(before, mail int) {
	c.setState(Terminated)
	c.err = errors.Join(c.err, c.leave(), c.shutBox(), c.rt.groups.vacate(c))
	if h, ok := c.server.(*hostActor); ok {
		if err := h.dropInbox(); err != nil {
			c.err = errors.Join(c.err, err)
		}
		h.calls.Forget()
	}
	left := c.discard()
	kept := min(left, c.rt.letterRoom())
	c.termination = Termination{Drained: max(before, left) - left + mail, DeadLettered: kept, Dropped: left - kept}
	c.rt.unregister(c)
	c.depart()
	close(c.over)
}

// leave tells the server that the actor has ended, and completes what its loop has
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

// end terminates an actor that has failed. If the handler is stuck, it does nothing.
func (c *core) end() error {
	if c.current() != Failed {
		return c.denied("end", false)
	}
	if err := restart(c.server); err != nil {
		return err
	}
	_, err := c.terminate(context.Background())
	return err
}

// fail records that the handler failed on a message. The actor may be held.
func (c *core) fail(err error) { c.failOn(err, 1) }

// stall records that the handler does not return. Its message is counted when the
// handler returns or the actor ends.
func (c *core) stall(err error) { c.failOn(err, 0) }

// failOn is fail for a number of messages.
func (c *core) failOn(err error, messages uint64) {
	c.reason.Store(&err)
	c.rt.traces.Mark(c.name, "failure", 0, err.Error())
	for {
		s := c.current()
		to := Failed
		switch s {
		case Terminated:
			c.meter.failed.Add(messages)
			return
		case Terminating: // nothing is left to restart the actor for
			to = Terminated
		}
		if c.move(s, to) {
			break
		}
	}
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	c.meter.failed.Add(messages) // a goroutine that sees this count and closes the runtime waits for the supervisors
	n := c.meter.failures.Add(1)
	c.rt.begin(func() { c.supervise(Failure{Actor: c.name, Err: err, Count: n}) })
}

// stopped records that the handler has stopped the actor.
func (c *core) stopped() {
	c.setState(Terminated)
	c.rt.background(func() { // once Close has begun, it does this itself
		if c.ending.CompareAndSwap(false, true) {
			c.finish(0, 0)
		}
	})
}

// runs reports whether the actor's loop should run.
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

// failure returns the last failure of the handler, or nil.
func (l *life) failure() error {
	if e := l.reason.Load(); e != nil {
		return *e
	}
	return nil
}

// denied returns the error of an operation that the state does not allow.
func (l *life) denied(op string, uncertain bool) error { return l.deniedIn(l.current(), op, uncertain) }

// deniedIn is denied for a state that the actor was in before.
func (l *life) deniedIn(s State, op string, uncertain bool) error {
	return &StateError{Actor: l.name, State: s, Op: op, Err: l.cause(), Uncertain: uncertain}
}

// Failure describes a handler's failure for a supervisor.
type Failure struct {
	Actor string
	Err   error  // a *gpu.KernelError or a *PanicError if position and cause are known
	Count uint64 // failures of this actor so far, including this one
	// Escalated is set if the actor's own supervisor has escalated the failure, or
	// has restarted the actor too often.
	Escalated bool
}

// Decision is what to do with an actor whose handler has failed. If the handler has not
// returned, the decision takes effect once it does; [Actor.Terminate] does not wait that
// long. A supervisor that panics, ends its
// goroutine, or returns an unknown decision escalates; [Runtime.Close] returns the error.
type Decision uint8

// Decisions.
const (
	Leave    Decision = iota // the actor stays failed and keeps its messages
	Resume                   // it continues with its state and the next message
	Renew                    // it continues with the state that it was spawned with
	End                      // it terminates
	Escalate                 // the runtime's supervisor decides
)

// EscalationError is a failure that was escalated and that no supervisor has handled.
// The actor stays failed. [Runtime.Close] returns it.
type EscalationError struct{ Failure Failure }

// Error names the actor.
func (e *EscalationError) Error() string {
	return fmt.Sprintf("ring: actor %s stays failed after %d failures; no supervisor handled the last one: %v", e.Failure.Actor, e.Failure.Count, e.Failure.Err)
}

// Unwrap returns why the handler failed.
func (e *EscalationError) Unwrap() error { return e.Failure.Err }

// supervision contains the supervisor of an actor and the history of its restarts.
type supervision struct {
	own    func(Failure) Decision
	most   int           // maximum number of restarts
	within time.Duration // within this time

	mu       sync.Mutex
	restarts []time.Time // the latest restarts, at most that many
}

// allows reports whether another restart is allowed, and records it.
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

// supervise asks the supervisors about a failure, and carries out the decision. There
// is one call at a time per actor, because an actor fails again only after a restart.
// The exception is a stuck handler that returns and fails.
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
		err = c.onceReturned(func() error { return c.restart(false) })
	case Renew:
		err = c.onceReturned(func() error { return c.restart(true) })
	case End:
		err = c.onceReturned(c.end)
	default:
		if f.Escalated || c.rt.config.Supervisor != nil {
			c.rt.record(&EscalationError{f})
		}
	}
	if _, other := errors.AsType[*StateError](err); err != nil && !other && !errors.Is(err, ErrClosed) {
		c.rt.record(err)
	}
}

// Pauses between checks whether a stuck handler has returned.
const (
	shortLook = time.Millisecond
	longLook  = 50 * time.Millisecond
)

// onceReturned carries out a decision. If the handler is stuck, it waits until the handler
// returns, another goroutine has restarted or ended the actor, or the runtime is closed,
// which then reports stuck actors.
func (c *core) onceReturned(decision func() error) error {
	for pause := shortLook; ; pause = min(2*pause, longLook) {
		err := decision()
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

// ask calls a supervisor. A supervisor that panics, ends its goroutine, or returns an unknown
// decision has not handled the failure.
func (rt *Runtime) ask(supervisor func(Failure) Decision, f Failure) (d Decision) {
	var err error
	done := make(chan struct{})
	go func() {
		returned := false
		defer close(done)
		defer func() {
			v := recover()
			if returned {
				return
			}
			if v == nil {
				v = errSupervisorGoexit
			}
			err = newPanicError(v)
		}()
		d = supervisor(f)
		returned = true
	}()
	<-done
	if d > Escalate {
		err = fmt.Errorf("it returned the unknown decision %d", d)
	}
	if err != nil {
		rt.record(fmt.Errorf("ring: a supervisor of actor %s: %w", f.Actor, err))
		return Escalate
	}
	return d
}

var errSupervisorGoexit = errors.New("the supervisor called runtime.Goexit")
