package ring

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
)

// collect waits for the outcome of a message of Ask. It returns an error if there is
// no reply.
func (c *core) collect(ctx context.Context, op string, p pending, reply unsafe.Pointer) error {
	begin := c.meter.begin(p.ticket)
	wait, among := c.backoff(), false
	defer func() {
		if among {
			c.rt.messages.waiting.Add(-1)
		}
	}()
	for {
		if p.entry == nil {
			if r, ok := p.m.take(p.ticket, reply); ok {
				return c.conclude(op, &p, r, begin)
			}
			done, err := c.server.handled(ctx, p.m, p.ticket)
			if err != nil {
				p.m.abandon(p.ticket)
				return err
			}
			if done {
				continue
			}
		} else if placed, err := c.locate(op, &p); placed || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if !among {
			among = true
			wait.Join(int(c.rt.messages.waiting.Add(1)))
		}
		if wait.Pause() {
			c.refill()
			c.kick()
			if err := c.giveUpIfDue(ctx, op, &p); err != nil {
				return err
			}
		}
	}
}

// conclude ends a message of Ask whose outcome was taken. It returns an error if there is
// no reply. begin is when its caller began to wait, or zero if that is not measured.
func (c *core) conclude(op string, p *pending, r result, begin time.Time) error {
	if !replies(r.Outcome) {
		err := c.unanswered(op, p.m, p.ticket, r.Outcome)
		p.m.settled(p.ticket, r.Outcome)
		c.recount()
		return err
	}
	p.m.free(p.ticket)
	c.meter.handled(r)
	c.meter.answered(begin)
	return nil
}

// backoff returns the backoff for waiting for the actor. A handler in Go runs once the
// processor is free.
func (d *delivery) backoff() backoff.Wait {
	if d.pulls {
		return backoff.Yielding()
	}
	return backoff.Wait{}
}

// locate checks whether a message has left the queue, and reports whether it is now
// in a ring.
func (c *core) locate(op string, p *pending) (bool, error) {
	at := p.entry.Value.place.Load()
	if at == queued {
		return false, nil
	}
	c.queue.mu.Lock()
	p.m = p.entry.Value.ring
	c.queue.Release(p.entry)
	c.queue.mu.Unlock()
	p.entry = nil
	switch {
	case at >= placed:
		p.ticket = at - placed
		return true, nil
	case at == gone+uint64(ReasonTerminated):
		return false, c.denied(op, false)
	}
	return false, c.about(op, reasonErrors[at-gone])
}

// handlesNoMore reports whether unhandled messages will not be handled unless the
// actor is restarted. A handler may still be running.
func (l *life) handlesNoMore() bool {
	switch l.current() {
	case Failed:
		return true
	case Terminated:
		select {
		case <-l.over:
			return true
		default:
		}
	}
	return false
}

// giveUpDelay is the time after its deadline at which a message in a ring is given up,
// if the actor does not read it.
const giveUpDelay = time.Millisecond

// giveUpIfDue gives a message up, with an error, if its caller has to stop waiting.
func (c *core) giveUpIfDue(ctx context.Context, op string, p *pending) error {
	var err error
	if why := ctx.Err(); why != nil {
		err = c.about(op, why)
	}
	late := p.deadline != 0 && c.rt.clock() >= p.deadline
	if late && err == nil && p.entry == nil && c.mayBeAt(p) {
		late = false // the end of the handler decides
	}
	if err == nil && !late && !c.handlesNoMore() {
		return nil
	}
	// A restart takes the queue's lock too: either it is over, or it sees what is
	// withdrawn here.
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	denied := err == nil && c.handlesNoMore()
	if p.entry != nil && p.entry.Value.place.Load() == queued {
		switch {
		case err == nil && late:
			err = c.about(op, ErrExpired)
			p.entry.Value.use = unheard
			c.expire(p.entry)
		case denied:
			err = c.denied(op, false)
			p.entry.Value.use = unheard
			c.remove(p.entry, ReasonWithdrawn, nil)
		case err != nil:
			p.entry.Value.use = unheard // it may still be handled
		}
		return err
	}
	switch {
	case p.entry != nil || p.m.handled(p.ticket):
		return nil // the next check sees it
	case denied:
		return c.withdraw(op, p)
	case err == nil && (!late || c.rt.clock() < p.deadline+int64(giveUpDelay)):
		return nil
	case err == nil:
		err = c.about(op, ErrExpired)
	}
	p.m.abandon(p.ticket)
	return err
}

// mayBeAt reports whether the handler may be at a message in a ring whose deadline has
// passed. If it is not, it never will be.
func (c *core) mayBeAt(p *pending) bool {
	if first, _ := p.m.unhandled(); first != p.ticket {
		return false // it is at an earlier one
	}
	if c.pulls || c.runs() {
		return true // pulled messages go to the handler at once; loops detect that others have expired
	}
	return restart(c.server) != nil // otherwise the handler has finished its message
}

// withdraw gives up a message in a ring of a failed actor. A restart makes the loop
// skip the message, unless a stuck handler may already have it. The caller holds the
// queue's lock.
func (c *core) withdraw(op string, p *pending) error {
	_, stuck := errors.AsType[*StuckError](c.failure())
	if !stuck && p.m.handled(p.ticket) {
		return nil // the failure is that of this message: the next check sees it
	}
	err := c.denied(op, stuck)
	if stuck {
		p.m.abandon(p.ticket)
	} else {
		p.m.mark(p.ticket, withdrawn)
	}
	return err
}

// unanswered returns the error of a message that has no reply.
func (c *core) unanswered(op string, m *mailbox, ticket uint64, outcome uint32) error {
	switch outcome {
	case mail.HandlerFailed:
		if c.runs() || !m.explained(ticket) { // the failure may not have been recorded yet
			if err := restart(c.server); err != nil && !m.explained(ticket) {
				return err
			}
		}
		return c.handlerError(m, ticket)
	case mail.Expired:
		return c.about(op, ErrExpired)
	case discarded:
		return c.denied(op, false)
	default:
		return c.about(op, ErrNoReply)
	}
}

// heading is the metadata of a handled message.
type heading struct {
	correlation, id uint64
	sender          uint32
	priority        uint8
}

// gate is a lock that callers can wait for with a context.
type gate chan struct{}

func (g gate) lock()   { g <- struct{}{} }
func (g gate) unlock() { <-g }

func (g gate) tryLock() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

// turn is the gate of Receive. Its holder takes what is there, or waits.
type turn struct {
	gate
	waits atomic.Bool // the holder has found no reply, and waits for one
}

// lockWith is lock, except that it returns the error of ctx if that is cancelled while the
// holder waits. Otherwise the holder unlocks in a moment, and may leave replies.
func (t *turn) lockWith(ctx context.Context) error {
	if t.tryLock() {
		return nil
	}
	select {
	case t.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	for !t.tryLock() {
		if t.waits.Load() {
			return ctx.Err()
		}
		runtime.Gosched()
	}
	return nil
}

func (t *turn) unlock() {
	if t.waits.Load() {
		t.waits.Store(false)
	}
	t.gate.unlock()
}

// receive waits for a reply to a message that was sent, and also takes all other
// available replies, at most n in total. It stores replies one after another. If head
// is not nil, it gets the metadata of the last message.
func (c *core) receive(ctx context.Context, replies unsafe.Pointer, n int, head *heading) (int, error) {
	if err := c.receiving.lockWith(ctx); err != nil {
		return 0, c.about("receive", err)
	}
	defer c.recount()
	defer c.receiving.unlock()
	wait, waits, over := c.backoff(), false, false
	handled := 0 // rounds in which there was a reply
	for {
		got, err := 0, error(nil)
		var first *mailbox // with unhandled messages
		for i := len(c.mailboxes) - 1; i >= 0 && got < n && err == nil; i-- {
			m := c.mailboxes[i]
			if !m.outstanding() {
				continue
			}
			k := 0
			k, err = c.gather(m, unsafe.Add(replies, uintptr(got)*c.outSize), n-got, got > 0, head)
			got += k
			if first == nil && m.received != m.next() {
				first = m
			}
		}
		switch {
		case got > 0 || err != nil:
			c.refill()
			return got, err
		case over:
			return 0, c.denied("receive", false)
		}
		if !waits {
			waits = true
			c.receiving.waits.Store(true)
		}
		if first != nil && !c.detached {
			done, err := c.server.handled(ctx, first, first.received)
			if err != nil {
				return 0, err
			}
			if done {
				if handled++; handled&1023 != 0 {
					continue
				}
			}
		}
		if !wait.Pause() {
			continue
		}
		c.refill()
		c.kick()
		if err := ctx.Err(); err != nil {
			if c.hides() {
				continue
			}
			return 0, c.about("receive", err)
		}
		over = c.handlesNoMore() // before the next check, which then sees all its replies
		if first == nil && !over && wait.Sleeps() && c.queue.Len() == 0 {
			c.park(ctx)
		}
	}
}

// hides reports whether replies may be waiting behind a message whose goroutine is about to
// mark it as sent, or to free it. The caller holds receiving.
func (d *delivery) hides() bool {
	if d.detached {
		return false
	}
	return slices.ContainsFunc(d.mailboxes, func(m *mailbox) bool {
		t := m.received
		_, soon := forReceive(m.slot(t).Load(), t)
		return soon && t != m.next() && m.handled(t)
	})
}

// gather takes replies out of a ring. If it has taken some, or other replies are
// waiting, it leaves a failure for the next call.
func (c *core) gather(m *mailbox, to unsafe.Pointer, n int, others bool, head *heading) (got int, err error) {
	var counts tally
	defer counts.flush(&c.meter)
	for len(m.stash.heads.All()) > 0 && got < n {
		one := m.stash.heads.Front()
		if one.Outcome == mail.HandlerFailed && (got > 0 || others) {
			return got, nil
		}
		m.stash.bodies.Take(noescape(unsafe.Add(to, uintptr(got)*c.outSize))) // assigns an Out; got < n of them fit
		c.stashed--
		if failed := one.failed; failed != nil {
			m.stash.heads.Drop()
			return 0, failed
		}
		counts.add(&c.meter, one.result)
		if head != nil {
			*head = one.heading
		}
		m.stash.heads.Drop()
		got++
	}
	if c.detached {
		return got, nil
	}
	t, tail := max(m.received, m.oldest()), m.next()
	for ; t < tail && got < n; t++ {
		v := m.slot(t).Load()
		waits, soon := forReceive(v, t)
		if soon {
			break
		}
		if !waits {
			continue
		}
		r, ok := m.take(t, unsafe.Add(to, uintptr(got)*c.outSize))
		if !ok {
			break
		}
		if replies(r.Outcome) {
			counts.add(&c.meter, r)
			if head != nil {
				m.heading(t, head)
			}
			m.free(t)
			got++
			continue
		}
		if r.Outcome == mail.HandlerFailed {
			if got > 0 || others {
				break
			}
			err = c.unanswered("receive", m, t, r.Outcome)
			if _, ok := errors.AsType[*HandlerError](err); !ok {
				break // not known yet
			}
		}
		m.pass(t, r.Outcome)
		if err != nil {
			t++
			break
		}
	}
	m.received = t
	if got > 0 {
		c.rt.traces.Mark(c.name, "receive", got, "")
	}
	return got, err
}

// unread returns the number of replies that wait for Receive. The actor must have
// ended.
func (d *delivery) unread() (n int) {
	d.receiving.lock()
	defer d.receiving.unlock()
	for _, m := range d.mailboxes {
		for _, s := range m.stash.heads.All() {
			if s.failed == nil {
				n++
			}
		}
		if d.detached {
			continue
		}
		for t, tail := max(m.received, m.oldest()), m.next(); t < tail; t++ {
			outcome, done := m.out.Outcome(t)
			if waits, _ := forReceive(m.slot(t).Load(), t); waits && done && replies(outcome) {
				n++
			}
		}
	}
	return n
}

// maxPark is the longest time that Receive sleeps without a check.
const maxPark = 100 * time.Millisecond

// park sleeps until a message is sent.
func (d *delivery) park(ctx context.Context) {
	d.parked.Add(1)
	defer d.parked.Add(-1)
	if d.queue.Len() != 0 {
		return
	}
	for _, m := range d.mailboxes {
		if m.outstanding() {
			return
		}
	}
	timer := time.NewTimer(maxPark)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-d.arrival:
	case <-timer.C:
	}
}

func (d *delivery) wakeReceiver() {
	select {
	case d.arrival <- struct{}{}:
	default:
	}
}
