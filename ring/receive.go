package ring

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"quern.dev/ring/internal/mail"
)

// heading is what is known of a message that is handled.
type heading struct {
	envelope
	id uint64
}

// gate is a lock for which callers wait as long as their contexts allow.
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

// lockWith is lock, or the error of ctx if that is cancelled first.
func (g gate) lockWith(ctx context.Context) error {
	if g.tryLock() {
		return nil
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive waits for a reply to a message that was sent, and takes with it as many
// as are there, at most n. Replies lie one after the other. If head is not nil it
// gets that of the last message.
func (c *core) receive(ctx context.Context, replies unsafe.Pointer, n int, head *heading) (int, error) {
	if err := c.receiving.lockWith(ctx); err != nil {
		return 0, c.about("receive", err)
	}
	defer c.receiving.unlock()
	wait, over := c.backoff(), false
	handled := 0 // turns in which there was something
	for {
		got, err := 0, error(nil)
		var first *mailbox // with messages that are not handled
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
			return 0, c.about("receive", err)
		}
		over = c.handlesNoMore() // before the next look, which finds all that it has done
		if first == nil && !over && wait.Sleeps() && c.queue.length.Load() == 0 {
			c.park(ctx)
		}
	}
}

// gather takes replies out of a ring. If it has some, or others have, it leaves a
// failure for the next call.
func (c *core) gather(m *mailbox, to unsafe.Pointer, n int, others bool, head *heading) (got int, err error) {
	var counts tally
	defer counts.flush(&c.meter)
	for m.stash.heads.len() > 0 && got < n {
		s := &m.stash.heads.items[m.stash.heads.first]
		if s.Outcome == mail.HandlerFailed && (got > 0 || others) {
			return got, nil
		}
		m.stash.bodies.take(noescape(unsafe.Add(to, uintptr(got)*c.outSize))) // assigns an Out; got < n of them fit
		one := m.stash.heads.pop()
		c.stashed--
		if one.err != nil {
			return 0, one.err
		}
		counts.add(&c.meter, one.result)
		if head != nil {
			*head = one.heading
		}
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
				head.envelope = m.envelope(t)
				head.id = c.idOf(&head.envelope, m.source, t)
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
				break // it is not known yet
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
		c.rt.traces.mark(c.name, "receive", got, "")
	}
	return got, err
}

// unread counts the replies that wait for Receive. The actor has ended.
func (c *core) unread() (n int) {
	c.receiving.lock()
	defer c.receiving.unlock()
	for _, m := range c.mailboxes {
		for _, s := range m.stash.heads.items[m.stash.heads.first:] {
			if s.err == nil {
				n++
			}
		}
		if c.detached {
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

// parkedFor is the longest time that Receive sleeps without a look.
const parkedFor = 100 * time.Millisecond

// park sleeps until a message is sent.
func (c *core) park(ctx context.Context) {
	c.parked.Add(1)
	defer c.parked.Add(-1)
	if c.queue.length.Load() != 0 {
		return
	}
	for _, m := range c.mailboxes {
		if m.outstanding() {
			return
		}
	}
	timer := time.NewTimer(parkedFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.arrival:
	case <-timer.C:
	}
}

func (c *core) wakeReceiver() {
	select {
	case c.arrival <- struct{}{}:
	default:
	}
}
