package ring

import (
	"context"
	"errors"
)

// Activate lets an actor handle messages that was spawned inactive or deactivated.
func (a *Actor[In, Out]) Activate() error { return a.core.activate("activate") }

// Deactivate stops an actor at a message boundary. It keeps the messages that it
// has, takes more as long as there is room, and handles them once it is activated.
func (a *Actor[In, Out]) Deactivate() error {
	c := a.core
	if !c.state.CompareAndSwap(uint32(Active), uint32(Deactivated)) {
		return c.denied("deactivate")
	}
	return c.cohort.restart()
}

// Restart lets an actor go on that has failed, with the message after the one that
// it failed on. Its state is what the handler left, or, if fresh is set, the one
// that it was spawned with.
func (a *Actor[In, Out]) Restart(fresh bool) error { return a.core.restart(fresh) }

func (c *core) restart(fresh bool) error {
	if c.current() != Failed {
		return c.denied("restart")
	}
	if err := c.cohort.hold(); err != nil {
		return err
	}
	var err error
	if fresh {
		c.cohort.mu.Lock()
		err = c.cohort.states.set(c.cohort.stream, c.block, c.initial)
		c.cohort.mu.Unlock()
	}
	if err == nil {
		c.reason.Store(nil)
		c.restarts.Add(1)
		c.setState(Active)
	}
	return errors.Join(err, c.cohort.resume())
}

// Farewell is what became of the messages of an actor that has terminated.
type Farewell struct {
	Drained int // handled after Terminate was called
	Dropped int // not handled
}

// Terminate ends an actor. It takes no more messages, handles those that it has
// until ctx is cancelled, and says how many it handled and how many were left.
// Terminating an actor again does nothing.
func (a *Actor[In, Out]) Terminate(ctx context.Context) (Farewell, error) {
	c := a.core
	for {
		s := c.current()
		if s == Terminated || s == Terminating {
			return Farewell{}, nil
		}
		if c.state.CompareAndSwap(uint32(s), uint32(Terminating)) {
			if s == Active {
				break
			}
			c.setState(Terminated)
			return Farewell{Dropped: c.queued()}, nil
		}
	}
	before := c.queued()
	var p patience
	for c.queued() > 0 && c.runs() {
		c.kick()
		if p.pause() && ctx.Err() != nil {
			break
		}
	}
	c.state.CompareAndSwap(uint32(Terminating), uint32(Terminated))
	err := c.cohort.restart()
	left := c.queued()
	return Farewell{Drained: before - left, Dropped: left}, err
}

func (c *core) activate(op string) error {
	c.rt.spawning.Lock()
	defer c.rt.spawning.Unlock()
	s := c.current()
	if s == Launched || s == Deactivated {
		if err := c.rt.room(c.cohort, c.name); err != nil {
			return err
		}
	}
	if s != Launched && s != Deactivated || !c.state.CompareAndSwap(uint32(s), uint32(Active)) {
		return c.denied(op)
	}
	err := c.cohort.restart()
	c.kick()
	return err
}

// queued counts the messages that are not handled.
func (c *core) queued() int {
	if c.cohort != nil && !c.cohort.resident {
		c.cohort.mu.Lock()
		defer c.cohort.mu.Unlock()
	}
	n := 0
	for _, m := range c.mailboxes {
		n += m.queued()
	}
	return n
}

// queued counts the messages that are not handled.
func (m *mailbox) queued() int {
	// Messages are handled in order: the first that is not is between these.
	tail := m.tail.Load()
	low, high := tail-min(tail, m.mask+1), tail
	for low < high {
		mid := low + (high-low)/2
		if m.slot(mid).Load()>>useBits > mid || m.handled(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return int(tail - low)
}
