package ring

import (
	"errors"
	"time"

	"quern.dev/ring/internal/mail"
)

// A ring stores a deadline as a word of 32 bits, which the loop compares with the time.
// That is right from mail.FarAhead before the deadline until the same time after it. The
// host knows the exact deadlines of the messages in its rings. It sets their words again
// before a loop begins whose rings were not checked for renewEvery, so that messages may
// wait for any time. Messages of actors on the device have no other deadline than the word.
// They are checked every renewEvery.

// renewEvery is the time after which a loop that begins checks the deadlines in the rings. A
// loop runs for this time at most on a GPU, and for twice the time elsewhere.
const renewEvery = mail.FarAhead / 2

// deadlineWord returns the word of a deadline in a ring, 0 if it is none or too far ahead.
func deadlineWord(deadline, now int64) uint32 {
	switch {
	case deadline == 0 || deadline-now > mail.FarAhead:
		return 0
	case deadline < now-mail.FarAhead:
		return pastWord(now)
	}
	return max(1, uint32(deadline>>mail.DeadlineShift))
}

// pastWord returns the word of a deadline that has just passed.
func pastWord(now int64) uint32 { return max(1, uint32(now>>mail.DeadlineShift)-2) }

// passed reports whether the deadline of a word has passed.
func passed(word uint32, now int64) bool {
	return word != 0 && int32(uint32(now>>mail.DeadlineShift)-word) > 0
}

// deadlineOf returns the deadline of a word in a ring, 0 if there is none.
func deadlineOf(word uint32, now int64) int64 {
	if word == 0 {
		return 0
	}
	ahead := int32(word - uint32(now>>mail.DeadlineShift))
	return (now>>mail.DeadlineShift + int64(ahead)) << mail.DeadlineShift
}

// renewDeadlines sets the words of the deadlines of unhandled messages again. The loop must
// not run.
func (m *mailbox) renewDeadlines(now int64) {
	list := m.extras.Load()
	if list == nil || m.values != nil {
		return
	}
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		deadline := (*list)[t&m.mask].deadline.Load()
		if deadline == 0 || !m.waits(t) {
			continue
		}
		if word := deadlineWord(deadline, now); m.in.Header(t).Deadline != word {
			m.in.SetDeadline(t, word)
		}
	}
}

// waits reports whether a message was sent and is not handled. If the loop does not run, its
// slot stays as it is.
func (m *mailbox) waits(ticket uint64) bool {
	v := m.slot(ticket).Load()
	return v>>useBits == ticket && v&useMask != vacant && !m.handled(ticket)
}

// expireWithdrawn makes the loop, which must not run, treat withdrawn messages as
// expired. The caller holds the queue's lock.
func (m *mailbox) expireWithdrawn() {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		if m.slot(t).Load() == t<<useBits|withdrawn && !m.handled(t) {
			m.makeExtras(t).deadline.Store(1)
			m.in.SetDeadline(t, pastWord(m.owner.rt.clock()))
		}
	}
}

// endLongRuns ends, at the next message, the runs that have lasted since the last call. The
// next run checks the deadlines.
func (c *locals) endLongRuns() {
	for _, l := range c.blocks() {
		epoch, call := l.epoch.Load(), l.call.Load()
		if call != nil && call.Running() && epoch == l.lasting {
			_ = restart(l) // a handler that is stuck is reported in any case
		}
		l.lasting = epoch
	}
}

// keepDeadlines renews the deadlines that no loop checks for long, until the runtime is
// closed.
func (rt *Runtime) keepDeadlines() {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-rt.done:
			return
		case <-ticker.C:
			rt.record(rt.renew())
		}
	}
}

// renew is what keepDeadlines does every renewEvery.
func (rt *Runtime) renew() error {
	for _, c := range rt.all() {
		if list, ok := c.executor.(*locals); ok {
			list.endLongRuns()
		}
	}
	return rt.renewMail()
}

// renewMail sets the words of deadlines that have passed again, in the mailboxes for
// messages of actors on the device.
func (rt *Runtime) renewMail() (err error) {
	if !rt.referred.Load() {
		return nil
	}
	now := rt.clock()
	rt.inboxes.mu.Lock()
	for _, b := range rt.inboxes.list {
		b.box.SetDeadlines(func(word uint32) uint32 {
			if passed(word, now) {
				return pastWord(now)
			}
			return word
		})
	}
	rt.inboxes.mu.Unlock()
	for _, c := range rt.living() {
		if c.box.Number != 0 {
			err = errors.Join(err, c.renewMail(now))
		}
	}
	return err
}

// renewMail is [Runtime.renewMail] for an actor on the device, which pauses for it.
func (c *core) renewMail(now int64) error {
	b, err := c.mailCopy()
	if err != nil || b.head() == b.tail() {
		return err
	}
	if err := b.open(); err != nil || len(b.expired(now)) == 0 {
		return err
	}
	if err := c.server.hold(); err != nil {
		return nil // the handler is stuck, or handles nothing more
	}
	if b, err = c.mailCopy(); err == nil {
		err = b.open()
	}
	if err == nil {
		for _, t := range b.expired(now) {
			err = errors.Join(err, b.expire(t, now))
		}
	}
	return errors.Join(err, c.server.resume())
}
