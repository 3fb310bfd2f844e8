package ring

import (
	"math"

	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
)

// waiting counts the messages that count for the capacity. The queue's lock is
// held.
func (c *core) waiting() int {
	n := int(c.queue.length.Load())
	if c.full != DropOldest {
		n += c.inRings()
	}
	return n
}

// inRings counts the messages in the rings that are not handled.
func (c *core) inRings() (n int) {
	for _, m := range c.mailboxes {
		n += m.queued()
	}
	return n
}

// advance puts messages from the queue into the rings, in order, as long as there is
// room. The queue's lock is held.
func (c *core) advance() {
	q := &c.queue
	if q.length.Load() == 0 || c.pulls || !c.runs() {
		return
	}
	now := int64(0)
	if q.earliest != 0 {
		now = c.rt.clock()
	}
	for n := q.next(); n != nil; n = q.next() {
		if n.expired(now) {
			c.expire(n)
			continue
		}
		m := c.mailbox(n.priority)
		t, got := m.claim(1, true)
		switch {
		case got == 1:
			m.came(t, n.came)
			m.put(t, &n.envelope, q.types.at(int(n.index)))
			m.mark(t, uint64(n.use))
			n.ring = m
			q.leave(n, placed+t)
		case !c.makeRoom(m):
			return
		}
	}
}

// pull moves the message that comes first from the queue to a ring, if there is one
// and the ring has room for it.
func (c *core) pull(m *mailbox) (e envelope, ticket uint64, ok bool) {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	now := c.rt.clock()
	for n := q.next(); n != nil; n = q.next() {
		if n.expired(now) {
			c.expire(n)
			continue
		}
		t, got := m.claim(1, true)
		if got == 0 {
			if c.makeRoom(m) {
				continue
			}
			break
		}
		e = n.envelope
		m.came(t, n.came)
		m.put(t, &e, q.types.at(int(n.index)))
		m.mark(t, uint64(n.use))
		n.ring = m
		q.leave(n, placed+t)
		return e, t, true
	}
	return e, 0, false
}

// makeRoom stashes replies that are in the way of messages, and reports whether
// there were any. If somebody receives they go without that. The queue's lock is held.
func (c *core) makeRoom(m *mailbox) (made bool) {
	if !c.receiving.tryLock() {
		return false
	}
	defer c.receiving.unlock()
	return c.stash(m, c.capacity)
}

// keepReplies stashes all replies, of an actor that has ended. The queue's lock is held,
// and receiving.
func (c *core) keepReplies() {
	for _, m := range c.mailboxes {
		c.stash(m, math.MaxInt)
	}
}

// stash moves replies that Receive has not looked at out of a ring, until there are so
// many, and reports whether there were any. The queue's lock is held, and receiving.
func (c *core) stash(m *mailbox, most int) (made bool) {
	t, tail := max(m.received, m.oldest()), m.next()
	for ; t < tail && c.stashed < most; t++ {
		v := m.slot(t).Load()
		waits, soon := forReceive(v, t)
		if soon {
			break
		}
		if !waits {
			continue
		}
		if m.stash.bodies == nil {
			m.stash.bodies, c.scratch = c.newStash()
		}
		r, ok := m.take(t, c.scratch)
		if !ok || r.Outcome == mail.HandlerFailed && !m.explained(t) {
			break
		}
		made = true
		e := m.envelope(t)
		one := stashed{heading: heading{e, c.idOf(&e, m.source, t)}, result: r}
		switch {
		case replies(r.Outcome):
		case r.Outcome == mail.HandlerFailed:
			one.err = c.handlerError(m, t)
		default:
			m.pass(t, r.Outcome)
			continue
		}
		m.stash.heads.push(one)
		m.stash.bodies.put(c.scratch)
		c.stashed++
		if v&useMask == lost {
			m.free(t)
		} else {
			m.settled(t, r.Outcome)
		}
	}
	m.received = t
	return made
}

// refill moves messages from the queue to the rings if there are any, and sees to
// it that those for which there is no room follow.
func (c *core) refill() {
	if c.pulls {
		c.pullNext()
		return
	}
	if c.queue.length.Load() == 0 || !c.queue.mu.TryLock() {
		return // or another does it
	}
	defer c.queue.mu.Unlock()
	c.advance()
	c.keepMoving()
}

// pullNext has a server that pulls look for messages in the queue, after a slot has
// become free: it may have found none, and then it waits to be told.
func (c *core) pullNext() {
	if c.pulls && c.queue.length.Load() != 0 {
		c.server.kick()
	}
}

// keepMoving has a goroutine move what is in the queue. The queue's lock is held.
func (c *core) keepMoving() {
	if c.pulls {
		c.server.kick()
		return
	}
	if c.queue.length.Load() != 0 && c.runs() && c.moving.CompareAndSwap(false, true) {
		go c.moveAll()
	}
}

func (c *core) moveAll() {
	wait := backoff.Yielding()
	for {
		c.queue.mu.Lock()
		before := c.queue.length.Load()
		c.advance()
		left := c.queue.length.Load()
		if left == 0 || !c.runs() {
			c.moving.Store(false)
			c.queue.mu.Unlock()
			c.kick()
			return
		}
		c.queue.mu.Unlock()
		if left != before {
			wait = backoff.Yielding()
		}
		c.kick()
		wait.Pause()
	}
}
