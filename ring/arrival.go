package ring

import (
	"sync/atomic"
	"unsafe"
)

// arrivals says of messages in a ring how long they waited before their handler ran,
// where that does not look for messages all the time: of every 64th message, since
// clocks and words that processors share cost as much as handing a message over. What
// a device measures itself begins when its run does, so the host notes when that was.
//
// The index is that of 64 slots, of which one message at a time is measured.
type arrivals []arrival

// waitEvery is the share of messages of which it is measured.
const waitEvery = 64

// arrival is when a message came and when the run began that it was in, by the
// runtime's clock. The ticket is 2 more than the message's: 0 is none, 1 one that is
// about to be written.
type arrival struct {
	ticket      atomic.Uint64
	came, begun atomic.Int64
}

func newArrivals(slots int) arrivals { return make(arrivals, (slots+waitEvery-1)/waitEvery) }

func (m *mailbox) arrival(ticket uint64) *arrival { return &m.arrivals[ticket&m.mask/waitEvery] }

// arrive notes that messages come now that did not wait in the queue, n from a ticket
// on.
func (m *mailbox) arrive(ticket uint64, n int) {
	if m.arrivals == nil {
		return
	}
	for t := (ticket + waitEvery - 1) &^ (waitEvery - 1); t < ticket+uint64(n); t += waitEvery {
		m.came(t, m.owner.rt.clock())
	}
}

// came notes when a message came; 0 is not known.
func (m *mailbox) came(ticket uint64, at int64) {
	if at == 0 || m.arrivals == nil {
		return
	}
	a := m.arrival(ticket)
	if old := a.ticket.Load(); old == 1 || !a.ticket.CompareAndSwap(old, 1) {
		return // others have a message of these slots to measure
	}
	a.came.Store(at)
	a.begun.Store(0)
	a.ticket.Store(ticket + 2)
	if !m.owner.arrived.Load() {
		m.owner.arrived.Store(true)
	}
}

// begin notes that the messages from a ticket on, so many, are about to be handled.
func (m *mailbox) begin(ticket, n uint64, now int64) {
	for t := ticket; t < ticket+n; t = (t/waitEvery + 1) * waitEvery {
		a := m.arrival(t)
		if of := a.ticket.Load(); of >= ticket+2 && of < ticket+2+n {
			a.begun.Store(now)
		}
	}
}

// unmeasured reports whether it is not known how long a message waited.
func (m *mailbox) unmeasured(ticket uint64) bool {
	return m.arrivals != nil && m.arrival(ticket).ticket.Load() != ticket+2
}

// waited completes the time that the device has measured of a message, and reports
// whether it is known.
func (m *mailbox) waited(ticket uint64, measured uint32) (uint32, bool) {
	if m.arrivals == nil {
		return measured, true
	}
	a := m.arrival(ticket)
	begun := a.begun.Load()
	if begun == 0 {
		return 0, false
	}
	return uint32(min(max(begun-a.came.Load(), 0)+int64(measured), 1<<32-1)), true
}

// begin notes that a run is about to handle messages.
func (l *local) begin(now int64) {
	if !l.actor.arrived.Load() {
		return
	}
	l.actor.arrived.Store(l.shape.Messages == l.most()) // others may be left for the next run
	for level, m := range l.actor.mailboxes {
		next := m.next()
		if n := uint32(next) - l.cursors[level]; n > 0 {
			m.begin(next-uint64(n), uint64(min(n, l.shape.Messages)), now)
		}
	}
}

// push puts a message into the queue, whose lock is held.
func (c *core) push(e *envelope, use uint8, msg unsafe.Pointer) *entry {
	n := c.queue.push(e, use, msg)
	n.came = 0
	if c.mailboxes[0].arrivals != nil {
		if c.queue.pushed%waitEvery == 0 {
			n.came = c.rt.clock()
		}
		c.queue.pushed++
	}
	return n
}
