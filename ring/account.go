package ring

import (
	"cmp"
	"fmt"
	"unsafe"

	"quern.dev/ring/internal/mail"
)

// remove gives up a message in the queue. The queue's lock is held.
func (c *core) remove(n *entry, reason Reason, err error) {
	q := &c.queue
	msg := q.types.at(int(n.index))
	c.letter(n.envelope, c.idOf(&n.envelope, idQueue, q.removed), reason, err, 0, q.types.value(msg))
	if c.refs != nil {
		c.refs.Release(msg)
	}
	if reason == ReasonExpired {
		c.meter.expired.Add(1)
	} else {
		c.meter.dropped.Add(1)
	}
	q.leave(n, gone+uint64(reason))
}

func (c *core) expire(n *entry) { c.remove(n, ReasonExpired, nil) }

// bounce drops a message instead of those in the queue. The queue's lock is held.
func (c *core) bounce(e *envelope, msg unsafe.Pointer) {
	q := &c.queue
	c.letter(*e, c.idOf(e, idQueue, q.removed), ReasonDropped, nil, 0, q.types.value(noescape(msg))) // a copy
	c.meter.dropped.Add(1)
	q.removed++
}

// lost counts a message in a ring that the handler did not handle to its end.
func (c *core) lost(m *mailbox, ticket uint64, outcome uint32) {
	reason, err, at := ReasonFailed, error(nil), int64(0)
	switch outcome {
	case mail.Expired:
		reason = ReasonExpired
		c.meter.expired.Add(1)
	case discarded:
		reason, err = ReasonTerminated, c.endedFor()
		c.meter.dropped.Add(1)
	case gaveUp:
		reason = ReasonWithdrawn
		c.meter.dropped.Add(1)
	default:
		err = c.handlerError(m, ticket)
		why, _ := m.failure(ticket)
		at = why.at
	}
	msg := c.queue.types.blank()
	m.message(ticket, msg)
	e := m.envelope(ticket)
	e.deadline = deadlineOf(m.in.Header(ticket).Deadline, c.rt.clock())
	c.letter(e, c.idOf(&e, m.source, ticket), reason, err, at, c.queue.types.value(msg))
}

// handlerError is the error of a message that the handler has failed on.
func (c *core) handlerError(m *mailbox, ticket uint64) error {
	why, known := m.failure(ticket)
	if !known {
		why.err = cmp.Or(c.failure(), errHandler)
	}
	return &HandlerError{Actor: c.name, Ticket: ticket - m.first, Err: why.err}
}

// endedFor is the error of messages that the actor has ended before.
func (c *core) endedFor() error {
	if why := c.failure(); why != nil {
		return fmt.Errorf("%w: %w", ErrTerminated, why)
	}
	return ErrTerminated
}

// queued counts the messages that are not handled.
func (c *core) queued() int {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	return c.left()
}

// left is queued with the queue's lock held.
func (c *core) left() int {
	n := int(c.queue.length.Load())
	if !c.detached {
		n += c.inRings()
	}
	return n
}

// traffic returns the messages that were accepted, and those of them that are not
// done with.
func (c *core) traffic() (accepted, waiting uint64) {
	if h, ok := c.server.(*hostActor); ok && h.inbox.Load() != nil {
		c.rt.inboxes.mu.Lock() // nothing goes from there to the queue meanwhile
		defer c.rt.inboxes.mu.Unlock()
		n := uint64(h.inbox.Load().waiting(c.rt))
		defer func() { accepted, waiting = accepted+n, waiting+n }()
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	waiting = uint64(c.queue.length.Load())
	accepted = c.queue.removed + waiting
	for _, m := range c.mailboxes {
		if c.detached {
			accepted += m.accepted()
			continue
		}
		first, tail := m.unhandled() // of one moment, so that what is done never becomes less
		accepted += tail - m.first
		waiting += tail - first
	}
	return accepted, waiting
}

// sweep counts messages that have expired or failed and that nobody has looked at
// yet.
func (c *core) sweep() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.overdue(c.rt.clock(), c.expire)
	if c.detached {
		return
	}
	for _, m := range c.mailboxes {
		m.sweep()
	}
}

// shut ends the way in of an actor whose state is not open any more, and returns how
// many messages are not handled: nobody adds to them after that.
func (c *core) shut() int {
	for _, m := range c.mailboxes {
		m.close()
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	for _, m := range c.mailboxes {
		m.marked()
	}
	return c.left()
}

// discard makes dead letters of all messages that are not handled, and has their
// callers of Ask return. The actor has ended: nobody is at work on its rings. It
// returns how many there were.
func (c *core) discard() int {
	q := &c.queue
	c.shut()
	q.mu.Lock()
	defer q.mu.Unlock()
	n, why := 0, c.endedFor()
	for e := q.next(); e != nil; e = q.next() {
		c.remove(e, ReasonTerminated, why)
		n++
	}
	for _, m := range c.mailboxes {
		n += m.discard()
		m.sweep()
	}
	c.wakeReceiver()
	return n
}

// detach is called before the memory of the rings is given back. Receive still has the
// replies.
func (c *core) detach() {
	c.wakeReceiver()
	c.receiving.lock()
	defer c.receiving.unlock()
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	if c.detached {
		return
	}
	c.keepReplies()
	c.detached = true
	c.visitors.Add(noMoreVisits)
}
