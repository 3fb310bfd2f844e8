package ring

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/queue"
	"quern.dev/ring/internal/rings"
)

// Uses of a slot of a mailbox: the lower bits of its state.
const (
	vacant    = iota // free: the next ticket for it may be taken
	asked            // the reply goes to the caller of Ask that has the ticket
	sent             // the reply goes to Receive
	lost             // like sent, but the handler failed, and that is counted
	unheard          // the reply is discarded
	withdrawn        // the caller of Ask was told that the message is not handled
	closing          // the goroutine that set this reads the outcome of the message, and frees the slot

	useBits = 3
	useMask = 1<<useBits - 1
)

// closed is the bit of a tail which means that no more messages are accepted.
const closed = 1 << 63

// discarded is the outcome of a message that was unhandled when its actor ended. The
// host writes it. The other outcomes are in package mail.
const discarded = 0x1ff

// gaveUp is passed to lost for a message whose caller of Ask was told that the actor does
// not handle it.
const gaveUp = 0x1fe

// mailbox is the host's half of a mailbox; package mail describes the rings. It is
// safe for concurrent use. Tickets have 64 bits. The rings store the lower 32 of them.
//
// The state of a slot consists of a ticket and a use. When its message has been
// written, a slot goes from (n, vacant) through (n, asked), (n, sent) or (n, unheard)
// to (n+slots, vacant). At any time exactly one ticket owns it.
type mailbox struct {
	owner    *core
	in       rings.Inbox // in Go memory or device memory that outlives the mailbox, unless the core is detached
	out      rings.Outbox
	mask     uint64
	hint     *uint64  // if not nil, its upper half counts the messages
	values   values   // if not nil, messages and replies are there and not in the rings
	arrivals arrivals // if not nil, the host measures how long messages wait
	source   int      // index of the mailbox in its owner
	first    uint64   // first ticket

	failures

	state  []atomic.Uint64          // by slot
	extras atomic.Pointer[[]extras] // by slot; nil if no message had any

	_        [64]byte
	tail     atomic.Uint64 // next ticket, and the bit closed
	_        [64]byte
	received uint64 // Receive is done with lower tickets; guarded by core.receiving
	stash    stash  // replies to lower tickets; guarded by core.receiving
}

// values are messages and replies of any type, by slot, for Go code in this process.
// The headers in the rings tell when they are valid.
type values interface {
	put(slot int, msg unsafe.Pointer)
	message(slot int, msg unsafe.Pointer) // copies the message
	take(slot int, reply unsafe.Pointer)  // copies the reply
	clear(slot int)                       // zeroes both
}

// newMailbox makes a mailbox whose next ticket is first.
func newMailbox(owner *core, in rings.Inbox, out rings.Outbox, first uint64) *mailbox {
	slots := in.Mask + 1
	m := &mailbox{owner: owner, in: in, out: out, mask: in.Mask, first: first}
	m.state = make([]atomic.Uint64, slots)
	for t := first; t < first+slots; t++ {
		m.slot(t).Store(t << useBits)
	}
	m.tail.Store(first)
	m.received = first
	return m
}

// next returns the next ticket.
func (m *mailbox) next() uint64 { return m.tail.Load() &^ closed }

// accepted returns the number of accepted messages.
func (m *mailbox) accepted() uint64 { return m.next() - m.first }

// close prevents further claims.
func (m *mailbox) close() { m.tail.Or(closed) }

func (m *mailbox) slot(ticket uint64) *atomic.Uint64 { return &m.state[ticket&m.mask] }

// claim takes the next tickets whose slots are vacant, at most most. The caller
// writes the messages and marks the slots. After the mailbox is closed, only late
// claims succeed: for messages that were accepted before.
func (m *mailbox) claim(most int, late bool) (ticket uint64, n int) {
	for {
		tail := m.tail.Load()
		if tail&closed != 0 && !late {
			return 0, 0
		}
		t := tail &^ closed
		for n = 0; n < most && m.vacate(t+uint64(n)); n++ {
		}
		switch {
		case n == 0 && m.next() == t:
			return 0, 0
		case n > 0 && m.tail.CompareAndSwap(tail, tail+uint64(n)):
			return t, n
		}
	}
}

// mark sets the use of a ticket's slot, once the message has been written.
func (m *mailbox) mark(ticket, use uint64) { m.slot(ticket).Store(ticket<<useBits | use) }

// vacate reports whether the slot of a ticket is vacant. It first frees the slot if
// the previous message is handled and its reply is not needed.
func (m *mailbox) vacate(ticket uint64) bool {
	s := m.slot(ticket)
	switch v := s.Load(); {
	case v == ticket<<useBits:
		return true
	case v>>useBits > ticket: // another goroutine has taken the ticket
		return false
	case v&useMask == unheard, v&useMask == withdrawn:
		return m.retire(v, false)
	case v&useMask == sent, v&useMask == lost:
		return m.retire(v, true)
	}
	return false
}

// retire frees the slot whose state was v if its message is handled. If Receive waits
// for the outcome, it frees the slot only if there is neither a reply nor a failure.
func (m *mailbox) retire(v uint64, heard bool) bool {
	ticket := v >> useBits
	outcome, done := m.out.Outcome(ticket)
	failed := outcome == mail.HandlerFailed
	switch {
	case !done, heard && (replies(outcome) || failed), failed && !m.explained(ticket):
		return false
	case !m.slot(ticket).CompareAndSwap(v, ticket<<useBits|closing):
		return false
	}
	switch v & useMask {
	case lost:
	case withdrawn:
		m.owner.lost(m, ticket, gaveUp)
	default:
		m.count(ticket, outcome)
	}
	m.free(ticket)
	return true
}

// pass frees the slot of a message without a reply, after Receive has seen it.
func (m *mailbox) pass(ticket uint64, outcome uint32) {
	for v := m.slot(ticket).Load(); v>>useBits == ticket; v = m.slot(ticket).Load() {
		if v&useMask == closing || !m.slot(ticket).CompareAndSwap(v, ticket<<useBits|closing) {
			runtime.Gosched() // sweep is using it
			continue
		}
		if v&useMask != lost {
			m.count(ticket, outcome)
		}
		m.free(ticket)
		return
	}
}

// forReceive reports whether a slot's state says that Receive waits for the outcome of
// a ticket, and whether that is about to be known.
func forReceive(v, ticket uint64) (waits, soon bool) {
	if v>>useBits != ticket {
		return false, false
	}
	use := v & useMask
	return use == sent || use == lost, use == vacant || use == closing
}

// settled frees the slot of a message that is handled, and counts the outcome.
func (m *mailbox) settled(ticket uint64, outcome uint32) {
	m.count(ticket, outcome)
	m.free(ticket)
}

// count counts a message that the handler did not handle completely.
func (m *mailbox) count(ticket uint64, outcome uint32) {
	if outcome >= mail.HandlerFailed {
		m.owner.lost(m, ticket, outcome)
	}
}

// free frees a ticket's slot.
func (m *mailbox) free(ticket uint64) {
	switch {
	case m.values != nil:
		m.values.clear(int(ticket & m.mask))
	case m.owner.refs != nil:
		m.owner.refs.ReleaseSlot(m.in.Body(ticket))
	}
	if list := m.extras.Load(); list != nil {
		x := &(*list)[ticket&m.mask]
		x.id.Store(0)
		x.deadline.Store(0)
	}
	m.forget(ticket)
	m.slot(ticket).Store((ticket + m.mask + 1) << useBits)
	m.owner.pullNext()
}

// abandon discards the reply when the slot is needed next.
func (m *mailbox) abandon(ticket uint64) {
	m.mark(ticket, unheard)
	m.owner.pullNext()
}

// oldest returns the smallest ticket whose slot may be in use.
func (m *mailbox) oldest() uint64 {
	tail := m.next()
	return tail - min(tail-m.first, m.mask+1)
}

// sweep frees the slots of messages that are handled and whose replies are not
// needed. Failed messages are counted and kept for Receive.
func (m *mailbox) sweep() {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		v := m.slot(t).Load()
		if v>>useBits != t {
			continue
		}
		outcome, done := m.out.Outcome(t)
		if !done {
			continue
		}
		switch use := v & useMask; {
		case use == unheard, use == withdrawn:
			m.retire(v, false)
		case use == sent && outcome != mail.HandlerFailed:
			m.retire(v, true)
		case use == sent && m.explained(t) && m.slot(t).CompareAndSwap(v, t<<useBits|closing):
			m.count(t, outcome)
			m.mark(t, lost)
		}
	}
}

// stash contains replies that were moved out of a ring before Receive took them, to
// make room for messages.
type stash struct {
	heads  queue.FIFO[stashed]
	bodies queue.Untyped
}

type stashed struct {
	heading
	result
	failed *HandlerError // for a message that the handler failed on
}

// outstanding reports whether there are messages that Receive has not seen. The
// caller holds core.receiving.
func (m *mailbox) outstanding() bool { return m.received != m.next() || len(m.stash.heads.All()) > 0 }

// put writes the message with a ticket.
func (m *mailbox) put(ticket uint64, e *envelope, msg unsafe.Pointer) {
	h := rings.Header{Correlation: e.correlation, Sender: e.sender, Priority: e.priority}
	if e.deadline != 0 {
		h.Deadline = deadlineWord(e.deadline, m.owner.rt.clock())
	}
	if e.deadline != 0 || e.id != 0 {
		x := m.makeExtras(ticket)
		x.id.Store(e.id)
		x.deadline.Store(e.deadline)
	}
	if m.values != nil {
		m.values.put(int(ticket&m.mask), noescape(msg)) // copies it as an In
	}
	m.in.Put(ticket, &h, msg)
	if m.hint != nil {
		atomic.AddUint64(m.hint, 1<<32)
	}
}

// extras are what few messages have and the rings have no room for, while a slot is in use.
type extras struct {
	id       atomic.Uint64 // that the sender has requested, or 0
	deadline atomic.Int64  // by the runtime's clock, 0 for none
}

// makeExtras returns the extras of a ticket.
func (m *mailbox) makeExtras(ticket uint64) *extras {
	if m.extras.Load() == nil {
		list := make([]extras, m.mask+1)
		m.extras.CompareAndSwap(nil, &list)
	}
	return &(*m.extras.Load())[ticket&m.mask]
}

// handled reports whether the whole reply to a ticket has arrived.
func (m *mailbox) handled(ticket uint64) bool { return m.out.Handled(ticket) }

// result is the outcome of a message.
type result struct {
	rings.Result
	timed bool // Waited is known
}

// take copies the reply of a ticket, and reports whether all of it has arrived.
func (m *mailbox) take(ticket uint64, reply unsafe.Pointer) (r result, ok bool) {
	if r.Result, ok = m.out.Take(ticket, reply); !ok {
		return result{}, false
	}
	if m.values != nil && replies(r.Outcome) {
		m.values.take(int(ticket&m.mask), noescape(reply)) // assigns an Out, and does not keep the pointer
	}
	if !m.unmeasured(ticket) {
		r.Waited, r.timed = m.waited(ticket, r.Waited)
	}
	return r, true
}

// envelopeOf returns the envelope of a message with a header, without its deadline.
func envelopeOf(h rings.Header) envelope {
	return envelope{priority: h.Priority, sender: h.Sender, correlation: h.Correlation}
}

// envelope returns the envelope of a ticket whose slot is in use.
func (m *mailbox) envelope(ticket uint64) envelope {
	e := envelopeOf(m.in.Header(ticket))
	if list := m.extras.Load(); list != nil {
		x := &(*list)[ticket&m.mask]
		e.id, e.deadline = x.id.Load(), x.deadline.Load()
	}
	return e
}

// heading fills in the metadata of a ticket whose slot is in use.
func (m *mailbox) heading(ticket uint64, to *heading) {
	h := m.in.Header(ticket)
	to.correlation, to.sender, to.priority = h.Correlation, h.Sender, h.Priority
	to.id = m.idOf(ticket, m.requestedID(ticket))
}

// requestedID returns the ID that the sender of a message has requested, or 0.
func (m *mailbox) requestedID(ticket uint64) uint64 {
	if list := m.extras.Load(); list != nil {
		return (*list)[ticket&m.mask].id.Load()
	}
	return 0
}

// message copies the message of a ticket whose slot is in use.
func (m *mailbox) message(ticket uint64, msg unsafe.Pointer) {
	if m.values != nil {
		m.values.message(int(ticket&m.mask), msg)
		return
	}
	m.in.Message(ticket, msg)
}

// pending reports whether the last ticket is unhandled.
func (m *mailbox) pending() bool {
	tail := m.next()
	return tail > m.first && m.slot(tail-1).Load()>>useBits == tail-1 && !m.handled(tail-1)
}

// queued returns the number of unhandled messages.
func (m *mailbox) queued() int {
	first, tail := m.unhandled()
	return int(tail - first)
}

// unhandled returns the first unhandled ticket, and the next ticket.
func (m *mailbox) unhandled() (first, tail uint64) {
	// Messages are handled in order, so the first unhandled one is between these.
	low := m.oldest()
	high := m.next() // must be read second: otherwise oldest could be larger
	tail = high
	for low < high {
		mid := low + (high-low)/2
		done := m.slot(mid).Load()>>useBits > mid
		if !done {
			_, done = m.out.Outcome(mid)
		}
		if done {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, tail
}

// marked waits until all messages that were written are marked. The mailbox must be
// closed.
func (m *mailbox) marked() {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		for m.slot(t).Load() == t<<useBits {
			runtime.Gosched()
		}
	}
}

// discard settles the unhandled messages, and returns their number. The mailbox must
// be closed, and no handler may be running.
func (m *mailbox) discard() (n int) {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		if m.slot(t).Load()>>useBits != t || m.handled(t) {
			continue
		}
		m.out.Settle(t, discarded)
		n++
	}
	return n
}

// settleNext settles the message that a handler failed on without reporting it, which
// is the first unhandled one. It returns the cursor after that message, and whether
// there was one. The loop's own cursor may be out of date: the loop stores it only
// when it leaves the mailbox.
func (m *mailbox) settleNext(why error) (cursor uint32, found bool) {
	tail := m.next()
	ticket := max(m.first, tail-min(tail, m.mask+1)) // slots of earlier tickets have been reused
	for ticket < tail && m.handled(ticket) {
		ticket++
	}
	if ticket == tail {
		return uint32(tail), false
	}
	m.failedOn(ticket, why)
	m.out.Settle(ticket, mail.HandlerFailed)
	return uint32(ticket + 1), true
}

// arrivals measure how long messages in a ring waited before their handler ran, where
// the handler's loop does not poll all the time. They measure every 64th message,
// because clocks and shared words cost as much as handing over a message. The
// device's own measurement begins with its run, so the host records when that was.
//
// One message in each group of 64 slots is measured; the index is that of the group.
type arrivals []arrival

// Every waitEvery-th message is measured.
const waitEvery = 64

// arrival contains the time when a message arrived and the time when its run began,
// by the runtime's clock. The ticket is that of the message plus 2: 0 means none, and
// 1 means that the arrival is being written.
type arrival struct {
	ticket      atomic.Uint64
	came, begun atomic.Int64
}

func newArrivals(slots int) arrivals { return make(arrivals, (slots+waitEvery-1)/waitEvery) }

func (m *mailbox) arrival(ticket uint64) *arrival { return &m.arrivals[ticket&m.mask/waitEvery] }

// arrive records that n messages, from a ticket on, arrive now. They did not wait in
// the queue.
func (m *mailbox) arrive(ticket uint64, n int) {
	if m.arrivals == nil {
		return
	}
	for t := (ticket + waitEvery - 1) &^ (waitEvery - 1); t < ticket+uint64(n); t += waitEvery {
		m.came(t, m.owner.rt.clock())
	}
}

// came records when a message arrived; 0 means unknown.
func (m *mailbox) came(ticket uint64, at int64) {
	if at == 0 || m.arrivals == nil {
		return
	}
	a := m.arrival(ticket)
	if old := a.ticket.Load(); old == 1 || !a.ticket.CompareAndSwap(old, 1) {
		return // another message of these slots is being measured
	}
	a.came.Store(at)
	a.begun.Store(0)
	a.ticket.Store(ticket + 2)
	if !m.owner.arrived.Load() {
		m.owner.arrived.Store(true)
	}
}

// begin records that n messages, from a ticket on, are about to be handled.
func (m *mailbox) begin(ticket, n uint64, now int64) {
	for t := ticket; t < ticket+n; t = (t/waitEvery + 1) * waitEvery {
		a := m.arrival(t)
		if of := a.ticket.Load(); of >= ticket+2 && of < ticket+2+n {
			a.begun.Store(now)
		}
	}
}

// unmeasured reports whether the waiting time of a message is unknown.
func (m *mailbox) unmeasured(ticket uint64) bool {
	return m.arrivals != nil && m.arrival(ticket).ticket.Load() != ticket+2
}

// waited adds the time before the run to the time that the device has measured for a
// message. It reports whether the result is known.
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

// begin records that a run is about to handle messages.
func (l *local) begin(now int64) {
	if !l.actor.arrived.Load() {
		return
	}
	l.actor.arrived.Store(l.shape.Messages == l.most()) // some may be left for the next run
	for level, m := range l.actor.mailboxes {
		next := m.next()
		if n := uint32(next) - l.cursors[level]; n > 0 {
			m.begin(next-uint64(n), uint64(min(n, l.shape.Messages)), now)
		}
	}
}

// failure is the error of a message that the handler failed on, and the time by the
// runtime's clock.
type failure struct {
	err error
	at  int64
}

// failures are the errors of failed messages whose slots are in use. Each caller and
// each dead letter gets the error of its own message, even if the actor has failed
// again since.
type failures struct {
	mu    sync.Mutex
	of    map[uint64]failure // by ticket
	known atomic.Int32       // len(of)
}

// failedOn records the error of a message that the handler failed on. It is called
// before the actor's state becomes Failed.
func (m *mailbox) failedOn(ticket uint64, err error) {
	f := &m.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[uint64]failure{}
	}
	f.of[ticket] = failure{err, m.owner.rt.clock()}
	f.known.Store(int32(len(f.of)))
}

// failure returns the error of a message, if it is known yet.
func (f *failures) failure(ticket uint64) (failure, bool) {
	if f.known.Load() == 0 {
		return failure{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	why, ok := f.of[ticket]
	return why, ok
}

// forget removes the error of a message when its slot is freed.
func (f *failures) forget(ticket uint64) {
	if f.known.Load() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, ticket)
	f.known.Store(int32(len(f.of)))
}

// explained reports whether the error of a failed message is known, or will never be.
// On a GPU the host learns of a failure before it knows the error.
func (m *mailbox) explained(ticket uint64) bool {
	_, known := m.failure(ticket)
	return known || m.owner.handlesNoMore()
}

// ticketOf returns the latest ticket with the given lower bits.
func (m *mailbox) ticketOf(low uint32) uint64 {
	next := m.next()
	return next - uint64(uint32(next)-low)
}
