package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/watchdog"
)

// leave is the command to a loop to leave.
const leave = 1

// occupant is what a cohort knows of a block of its resident launch.
type occupant struct {
	runs  bool // it does in this launch
	stuck bool // its handler does not return; no launch waits for it
	left  *abandoned

	// The watchdog's.
	timer watchdog.Timer
	asked bool // it is to leave, to show that it can
}

// abandoned is a launch that others were begun beside, since some of its loops do not
// leave.
type abandoned struct {
	stream *gpu.Stream
	end    *gpu.Event
}

// ask has the loops leave that run. c.mu is held.
func (c *resident) ask() {
	for i := range c.actors {
		atomic.OrUint64(c.command(i), leave)
	}
}

// left reports whether the loop of a block has left this launch. c.mu is held.
func (c *resident) hasLeft(i int) bool {
	return atomic.LoadUint64(c.left(i))>>32 == uint64(c.epoch)
}

// mostSpin is how long whoever waits for loops looks without giving the processor
// away, which may take longer to come back than loops take to leave, unless a handler
// is at work for long.
const mostSpin = 300 * time.Microsecond

// seeOut waits until the loops of cohorts have left that were asked to, or for
// mostSpin. What becomes of the others their hold finds out.
func seeOut(list []*resident) {
	until := time.Now().Add(mostSpin)
	for _, c := range list {
		c.mu.Lock()
		c.seeOut(until)
		c.mu.Unlock()
	}
}

// seeOut waits until the loops of the launch have left, or until then. c.mu is held.
func (c *resident) seeOut(until time.Time) {
	if !c.running {
		return
	}
	looks := 0
	for i, t := range c.occupants {
		for t.runs && !t.stuck && !c.hasLeft(i) {
			if looks++; looks%64 == 0 && time.Now().After(until) {
				return
			}
		}
	}
}

// halt ends the launch at a message boundary. Loops that have not left when the
// runtime's patience ends are stuck: they keep their launch, which later ones run
// beside. c.mu is held.
func (c *resident) halt() error {
	if !c.running {
		return nil
	}
	c.ask()
	c.seeOut(time.Now().Add(mostSpin))
	if c.stuck > 0 {
		return c.haltOthers()
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.rt.config.Patience)
	defer cancel()
	err := c.end(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return c.haltOthers()
	}
	c.running = false
	c.traceLaunch()
	return err
}

// haltOthers is halt of a launch that does not end. c.mu is held.
func (c *resident) haltOthers() error {
	v := c.rt.watchdog()
	for i := range c.occupants {
		var wait backoff.Wait
		for t := &c.occupants[i]; t.runs && !t.stuck && !c.hasLeft(i); wait.Pause() {
			if c.stuck == 0 || v.Check(time.Now(), 0) { // those of end have had their time
				c.mark(i)
			}
		}
	}
	for i := range c.occupants {
		if t := &c.occupants[i]; t.runs && !t.stuck {
			c.account(i, nil)
		}
	}
	return c.leaveBehind()
}

// mark records that the handler of a block does not return. c.mu is held.
func (c *resident) mark(i int) {
	c.occupants[i].stuck = true
	c.stuck++
	if a := c.actors[i]; a.runs() {
		a.stall(&StuckError{Actors: []string{a.name}, After: c.rt.config.Patience})
	}
}

// leaveBehind gives the cohort a new stream. c.mu is held.
func (c *resident) leaveBehind() error {
	end, err := c.rt.dev.NewEvent()
	if err != nil {
		return err
	}
	if err := c.stream.Record(end); err != nil {
		return errors.Join(err, end.Close())
	}
	s, err := c.rt.streams.Take()
	if err != nil {
		return errors.Join(err, end.Close())
	}
	o := &abandoned{c.stream, end}
	for i := range c.occupants {
		if t := &c.occupants[i]; t.stuck && t.left == nil {
			t.left = o
		}
	}
	c.abandoned = append(c.abandoned, o)
	c.stream, c.running = s, false
	c.traceLaunch()
	return nil
}

// returned looks whether handlers that were stuck have returned. c.mu is held.
func (c *resident) returned() {
	if c.stuck == 0 {
		return
	}
	for i := range c.occupants {
		t := &c.occupants[i]
		if !t.stuck {
			continue
		}
		done := t.left == nil && c.hasLeft(i)
		if t.left != nil {
			done, _ = t.left.end.Done()
		}
		if done {
			if t.left != nil {
				c.reckon(i)
			}
			t.stuck, t.left = false, nil
			c.stuck--
		}
	}
	c.abandoned = slices.DeleteFunc(c.abandoned, func(o *abandoned) bool {
		over := !slices.ContainsFunc(c.occupants, func(t occupant) bool { return t.left == o })
		if over {
			c.rt.record(o.end.Close())
			c.rt.streams.Put(o.stream)
		}
		return over
	})
}

// reckon counts the message of a handler that was stuck and has failed after all, in a
// launch that others were begun beside. c.mu is held.
func (c *resident) reckon(i int) {
	if uint32(atomic.LoadUint64(c.left(i))) == mail.Failed {
		a := c.actors[i]
		if _, err := c.failedOn(i, cmp.Or(a.failure(), errHandler)); err != nil {
			c.rt.record(err)
		}
		a.meter.failed.Add(1)
	}
}

// overdue is the error of actors whose handlers do not return, nil if there are
// none. c.mu is held.
func (c *resident) overdue() error {
	c.returned()
	if c.stuck == 0 {
		return nil
	}
	e := &StuckError{After: c.rt.config.Patience}
	for i, t := range c.occupants {
		if t.stuck {
			e.Actors = append(e.Actors, c.actors[i].name)
		}
	}
	return e
}

// willing returns why the launch cannot end, nil if it can.
func (c *resident) willing() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overdue()
}

// request is the first half of a hold: it has the loops leave. The second one is
// clear. It does nothing and reports false if the cohort is closed.
func (c *resident) request() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.holds.Add(1)
	if c.running {
		c.ask()
	}
	return true
}

// clear is the second half: it waits for the end of the launch. That some handler does
// not return is an error. With or without one the cohort is to be resumed.
func (c *resident) clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.halt(); err != nil {
		return err
	}
	return c.overdue()
}

// hold keeps the block's launch from running. It fails if the block's own handler
// does not return.
func (p *place) hold() error {
	p.mu.Lock()
	p.returned()
	stuck := p.occupied(p.block)
	p.mu.Unlock()
	if stuck {
		return &StuckError{Actors: []string{p.actor.name}, After: p.rt.config.Patience}
	}
	return p.resident.hold()
}

// watch looks, without waiting, whether actors of a resident launch have failed or
// stopped, or have left by themselves and have messages, and restarts it then. It
// reports whether it did.
func (c *resident) watch() (bool, error) {
	// Those who wait for replies come here again and again while the cohort is held,
	// and would keep the mutex from whoever holds it.
	if c.holds.Load() > 0 || !c.mu.TryLock() {
		return false, nil
	}
	faulted, err := false, error(nil)
	need := false
	switch {
	case c.holds.Load() > 0 || c.closed:
	case c.running:
		faulted, err = c.stream.Faulted()
		need = faulted || c.anyAbsent()
	default: // an error has kept the launch from beginning again
		need = slices.ContainsFunc(c.actors, (*core).runs)
	}
	c.mu.Unlock()
	if !need || err != nil {
		return false, err
	}
	return true, restart(c)
}

// anyAbsent reports whether any actor is. Where more actors are active than can be
// resident, all have to have had their turn. c.mu is held.
func (c *resident) anyAbsent() bool {
	absent := false
	for i, t := range c.occupants {
		switch {
		case c.absent(i):
			absent = true
		case c.crowded && t.runs && !t.stuck && !c.hasLeft(i):
			return false
		}
	}
	return absent
}

// absent reports whether an actor that is to run has left, and would have
// something to do. c.mu is held.
func (c *resident) absent(i int) bool {
	a := c.actors[i]
	if !c.hasLeft(i) || !a.runs() {
		return false
	}
	why := uint32(atomic.LoadUint64(c.left(i)))
	if why == mail.Bounded || why == mail.Aged && c.crowded {
		return slices.ContainsFunc(a.mailboxes, (*mailbox).pending) || c.rt.post.Rung(a.box.Bell)
	}
	return true
}

// guard looks for handlers that do not return: their actors have messages, and
// have handled none for the runtime's patience. Halfway they are asked to leave,
// since an actor may have other reasons to handle none. The look is without a wait.
func (c *resident) guard(now time.Time) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if !c.running || c.holds.Load() > 0 {
		return
	}
	for i := range c.occupants {
		t, a := &c.occupants[i], c.actors[i]
		if !t.runs || t.stuck || c.hasLeft(i) {
			continue
		}
		accepted, queued := a.traffic()
		switch {
		case queued == 0:
			t.timer.Stop()
		case t.timer.Check(now, accepted-queued):
			c.mark(i)
		case t.timer.Halfway() && !t.asked:
			t.asked = true
			atomic.OrUint64(c.command(i), leave)
		}
	}
}

// StuckError means that handlers have not returned in time. On a GPU nothing but
// the end of the process ends them: until they return, what waits for everything
// on the device, such as freeing memory and closing it, fails with this error.
// Other actors are served, but for those that share a multiprocessor's room with
// it. An actor whose handler has returned can be restarted.
type StuckError struct {
	Actors []string
	After  time.Duration
}

// Error names the actors.
func (e *StuckError) Error() string {
	return fmt.Sprintf("ring: handlers of %q did not return within %v", e.Actors, e.After)
}
