package ring

import (
	"errors"
	"slices"

	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/post"
)

// Blocks of actors that have terminated are given to others. The new actor goes on
// with the tickets of the one before, so that nothing in the rings or the cursors
// has to be cleared, and no reader ever finds there what it looks for by mistake.

// freeBlock returns the block for the next actor: one whose actor has terminated and
// whose askers have their replies, or the first that nobody has had. It is the size
// of the cohort if there is none. c.mu is held.
func (c *cohort) freeBlock() int {
	for i, a := range c.actors {
		if a.ended() && !c.executor.occupied(i) && a.vacate() {
			return i
		}
	}
	return len(c.actors)
}

// hasFreeBlock reports whether there is a block for one more actor.
func (c *cohort) hasFreeBlock() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freeBlock() < c.size
}

// ended reports whether the actor has terminated and nothing is left to be done.
func (c *core) ended() bool {
	select {
	case <-c.over:
		_, stuck := errors.AsType[*StuckError](c.err)
		return !stuck
	default:
		return false
	}
}

// assign returns the block for the next actor, which the caller keeps from others, and
// gives the actor its mailbox in the post memory: what the one before had.
func (c *cohort) assign(a *core) (i int, err error) {
	c.mu.Lock()
	i = c.freeBlock()
	var before *core
	if i < len(c.actors) {
		before = c.actors[i]
	}
	c.mu.Unlock()
	if before == nil {
		a.box, err = c.rt.post.NewBox(int(c.shape.InStep), a.number)
	} else {
		a.box, err = before.handOver(a)
	}
	return i, err
}

// handOver gives the heir the mailbox in the post memory of an actor that has ended.
// What others on the device had put there are dead letters.
func (c *core) handOver(heir *core) (b post.Box, err error) {
	if c.rt.referred.Load() {
		// Senders keep in mind whose mailbox it was, until their launch ends.
		if err := c.rt.Quiesce("hand a mailbox on"); err != nil {
			return b, err
		}
		defer func() { err = errors.Join(err, c.rt.Resume()) }()
	}
	next, err := c.returnMail()
	if err != nil {
		return b, err
	}
	p, at := c.rt.post, c.box.At()
	b = c.box
	b.First = next
	return b, errors.Join(p.Write(at+mail.BoxRefused, 0, 0), p.Write(at+mail.BoxHead, uint64(uint32(next)), 1, uint64(heir.number))) // asleep
}

// vacate gives the rings of an actor that has ended up, if no caller has a use for them
// any more, and reports whether that is so.
func (c *core) vacate() bool {
	if !c.receiving.tryLock() {
		return false
	}
	defer c.receiving.unlock()
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	if c.detached {
		return true
	}
	c.keepReplies()
	for _, m := range c.mailboxes {
		m.sweep()
		if !m.atRest() {
			return false
		}
	}
	c.detached = c.visitors.CompareAndSwap(0, noMoreVisits)
	return c.detached
}

// atRest reports whether all slots are vacant. The mailbox is closed.
func (m *mailbox) atRest() bool {
	for i := range m.state {
		if m.state[i].Load()&useMask != vacant {
			return false
		}
	}
	return true
}

// firstTicket is that of the next actor in a block. c.mu is held.
func (c *cohort) firstTicket(i, level int) uint64 {
	if i == len(c.actors) {
		return 0
	}
	return c.actors[i].mailboxes[level].next()
}

// settleIn puts an actor into a block. c.mu is held.
func (c *cohort) settleIn(i int, a *core) {
	if i < len(c.actors) {
		c.actors[i].routing.free(c.rt.post)
		c.actors = slices.Clone(c.actors) // others are at work on the list
		c.actors[i] = a
		return
	}
	c.actors = append(c.actors, a)
}
