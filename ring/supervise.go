package ring

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

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
	kept := s.restarts[:0]
	for _, t := range s.restarts {
		if now.Sub(t) < s.within {
			kept = append(kept, t)
		}
	}
	s.restarts = kept
	if len(kept) >= s.most {
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
