package ring

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/internal/mail"
)

// What a slot of a mailbox is in use for: the lower bits of its state.
const (
	vacant    = iota // by nobody: the next ticket for it may be taken
	asked            // the reply goes to the caller of Ask that has the ticket
	sent             // the reply goes to Receive
	lost             // as sent, but the handler failed, which is counted
	unheard          // nobody waits for the reply
	withdrawn        // its caller of Ask was told that it is not handled
	closing          // whoever set this looks at what became of the message, and frees the slot

	useBits = 3
	useMask = 1<<useBits - 1
)

// closed is the bit of a tail that says that there will be no more messages.
const closed = 1 << 63

// discarded is the outcome of a message of an actor that has ended before it
// handled it, beside those of package mail. The host writes it.
const discarded = 0x1ff

// gaveUp is what became of a message whose caller of Ask was told that the actor does not
// handle it, as lost sees it.
const gaveUp = 0x1fe

// mailbox is the host's half of a mailbox; package mail describes the rings. It
// is safe for concurrent use. Tickets count in 64 bits, of which the rings know 32.
//
// The state of a slot is a ticket and what it is used for. A slot goes from
// (n, vacant) through (n, asked), (n, sent) or (n, unheard), once the message has
// been put, to (n+slots, vacant): at any time one ticket owns it.
type mailbox struct {
	owner           *core
	in, out         unsafe.Pointer // the rings: Go's memory, which they keep, or a device's, which outlives them unless the core is detached
	inStep, outStep uintptr        // bytes from slot to slot
	inSize, outSize uintptr        // bytes of a message and of a reply
	mask            uint64
	shared          bool     // Go code is on the other side too: every access is atomic
	hint            *uint64  // if not nil, its upper half counts the messages
	values          values   // if not nil, messages and replies are there instead of in the rings
	arrivals        arrivals // if not nil, the host measures how long messages wait
	source          int      // which mailbox of the owner
	first           uint64   // ticket

	state []atomic.Uint64                 // by slot
	ids   atomic.Pointer[[]atomic.Uint64] // by slot: the IDs that senders have asked for; nil if none has

	_        [64]byte
	tail     atomic.Uint64 // the next ticket, and closed
	_        [64]byte
	received uint64 // tickets below it are not for Receive any more; core.receiving is held
	stash    stash  // replies to tickets below it; core.receiving is held
}

// values are messages and replies of any type, by slot, where both sides are Go
// code of this process. The headers in the rings say when they are there.
type values interface {
	put(slot int, msg unsafe.Pointer)
	message(slot int, msg unsafe.Pointer) // copies the message
	take(slot int, reply unsafe.Pointer)  // copies the reply
	clear(slot int)                       // forgets both
}

// newMailbox makes a mailbox whose next ticket is first.
func newMailbox(in, out unsafe.Pointer, inStep, outStep, inSize, outSize uintptr, slots int, first uint64) *mailbox {
	m := &mailbox{in: in, out: out, inStep: inStep, outStep: outStep, inSize: inSize, outSize: outSize, mask: uint64(slots - 1), first: first}
	m.state = make([]atomic.Uint64, slots)
	for t := first; t < first+uint64(slots); t++ {
		m.slot(t).Store(t << useBits)
	}
	m.tail.Store(first)
	m.received = first
	return m
}

// next is the next ticket.
func (m *mailbox) next() uint64 { return m.tail.Load() &^ closed }

// accepted is how many messages there were.
func (m *mailbox) accepted() uint64 { return m.next() - m.first }

// close has no more tickets claimed.
func (m *mailbox) close() { m.tail.Or(closed) }

func (m *mailbox) slot(ticket uint64) *atomic.Uint64 { return &m.state[ticket&m.mask] }

// claim takes the next tickets whose slots are vacant, at most so many. Whoever
// gets them puts the messages and marks them. Only late claims are possible once
// the mailbox is closed: of messages that were accepted before.
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

// mark says what a ticket's slot is used for, once the message has been put.
func (m *mailbox) mark(ticket, use uint64) { m.slot(ticket).Store(ticket<<useBits | use) }

// vacate reports whether the slot of a ticket is vacant, after it has freed the
// slot of a message that is handled and whose reply nobody waits for.
func (m *mailbox) vacate(ticket uint64) bool {
	s := m.slot(ticket)
	switch v := s.Load(); {
	case v == ticket<<useBits:
		return true
	case v>>useBits > ticket: // others have taken the ticket
		return false
	case v&useMask == unheard, v&useMask == withdrawn:
		return m.retire(v, false)
	case v&useMask == sent, v&useMask == lost:
		return m.retire(v, true)
	}
	return false
}

// retire frees the slot whose state was v if its message is handled and, if Receive
// waits for what becomes of it, if that is neither a reply nor a failure.
func (m *mailbox) retire(v uint64, heard bool) bool {
	ticket := v >> useBits
	outcome, done := m.outcome(ticket)
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

// pass frees the slot of a message that Receive has looked at and that has no reply.
func (m *mailbox) pass(ticket uint64, outcome uint32) {
	for v := m.slot(ticket).Load(); v>>useBits == ticket; v = m.slot(ticket).Load() {
		if v&useMask == closing || !m.slot(ticket).CompareAndSwap(v, ticket<<useBits|closing) {
			runtime.Gosched() // sweep is at it
			continue
		}
		if v&useMask != lost {
			m.count(ticket, outcome)
		}
		m.free(ticket)
		return
	}
}

// forReceive reports whether a slot's state says that Receive waits for what becomes of
// a ticket, and whether that is about to be known.
func forReceive(v, ticket uint64) (waits, soon bool) {
	if v>>useBits != ticket {
		return false, false
	}
	use := v & useMask
	return use == sent || use == lost, use == vacant || use == closing
}

// settled ends the use of the slot of a message that is handled, and has what
// became of it counted.
func (m *mailbox) settled(ticket uint64, outcome uint32) {
	m.count(ticket, outcome)
	m.free(ticket)
}

// count counts a message that the handler did not handle to its end.
func (m *mailbox) count(ticket uint64, outcome uint32) {
	if outcome >= mail.HandlerFailed {
		m.owner.lost(m, ticket, outcome)
	}
}

// free ends the use of a ticket's slot.
func (m *mailbox) free(ticket uint64) {
	switch {
	case m.values != nil:
		m.values.clear(int(ticket & m.mask))
	case m.owner.refs != nil:
		m.owner.refs.ReleaseSlot(unsafe.Add(m.inbox(ticket), 8*mail.InHeader))
	}
	if ids := m.ids.Load(); ids != nil {
		(*ids)[ticket&m.mask].Store(0)
	}
	m.forget(ticket)
	m.slot(ticket).Store((ticket + m.mask + 1) << useBits)
	m.owner.pullNext()
}

// abandon leaves the reply to whoever needs the slot next.
func (m *mailbox) abandon(ticket uint64) {
	m.mark(ticket, unheard)
	m.owner.pullNext()
}

// oldest is the least ticket whose slot may be in use.
func (m *mailbox) oldest() uint64 {
	tail := m.next()
	return tail - min(tail-m.first, m.mask+1)
}

// sweep frees the slots of messages that are handled and that nobody waits for.
// What the handler failed on is counted and left for Receive.
func (m *mailbox) sweep() {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		v := m.slot(t).Load()
		if v>>useBits != t {
			continue
		}
		outcome, done := m.outcome(t)
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

// stash is replies that have left a ring before Receive took them, to make room for
// messages.
type stash struct {
	heads  fifo[stashed]
	bodies bodyFIFO
}

type stashed struct {
	heading
	result
	err error // of a message that the handler has failed on
}

// outstanding reports whether there are messages that Receive has not looked at.
// core.receiving is held.
func (m *mailbox) outstanding() bool { return m.received != m.next() || m.stash.heads.len() > 0 }

// tag is the upper half of the words of a ticket.
func tag(ticket uint64) uint64 { return uint64(uint32(ticket)+1) << 32 }

func (m *mailbox) inbox(ticket uint64) unsafe.Pointer {
	return unsafe.Add(m.in, uintptr(ticket&m.mask)*m.inStep)
}

func (m *mailbox) outbox(ticket uint64) unsafe.Pointer {
	return unsafe.Add(m.out, uintptr(ticket&m.mask)*m.outStep)
}

// put writes the message with a ticket.
func (m *mailbox) put(ticket uint64, e *envelope, msg unsafe.Pointer) {
	deadline := uint32(0)
	if e.deadline != 0 {
		deadline = e.word(m.owner.rt.clock())
	}
	at, tag := m.inbox(ticket), tag(ticket)
	urgency := uint64(e.sender<<senderShift | uint32(e.priority))
	low, high := uint64(uint32(e.correlation)), e.correlation>>32
	switch {
	case m.values != nil:
		m.values.put(int(ticket&m.mask), noescape(msg)) // copies it as an In
		fallthrough
	case m.shared:
		m.putShared(at, msg, tag)
		store(at, mail.CorrelationHigh, tag|high)
		store(at, mail.CorrelationLow, tag|low)
		store(at, mail.Deadline, tag|uint64(deadline))
		store(at, mail.Urgency, tag|urgency)
	default:
		// A GPU sees aligned words of 64 bits as wholes, which is all that the rings
		// need; atomic stores would cost ten times as much.
		head := (*[mail.InHeader]uint64)(at)
		head[mail.Urgency] = tag | urgency
		head[mail.Deadline] = tag | uint64(deadline)
		head[mail.CorrelationLow] = tag | low
		head[mail.CorrelationHigh] = tag | high
		m.putWords(unsafe.Add(at, 8*mail.InHeader), msg, tag)
	}
	if e.id != 0 {
		m.keepID(ticket, e.id)
	}
	if m.hint != nil {
		atomic.AddUint64(m.hint, 1<<32)
	}
}

// keepID notes the ID of a message as long as its slot is in use.
func (m *mailbox) keepID(ticket, id uint64) {
	if m.ids.Load() == nil {
		ids := make([]atomic.Uint64, m.mask+1)
		m.ids.CompareAndSwap(nil, &ids)
	}
	(*m.ids.Load())[ticket&m.mask].Store(id)
}

// putWords copies a message of inSize bytes, which are plain data, into a slot with as many
// words as those fill.
func (m *mailbox) putWords(at, msg unsafe.Pointer, tag uint64) {
	n := m.inSize / 4
	words, data := unsafe.Slice((*uint64)(at), n), unsafe.Slice((*uint32)(msg), n)
	for len(data) >= 8 && len(words) >= 8 {
		w, d := (*[8]uint64)(words), (*[8]uint32)(data)
		w[0], w[1], w[2], w[3] = tag|uint64(d[0]), tag|uint64(d[1]), tag|uint64(d[2]), tag|uint64(d[3])
		w[4], w[5], w[6], w[7] = tag|uint64(d[4]), tag|uint64(d[5]), tag|uint64(d[6]), tag|uint64(d[7])
		words, data = words[8:], data[8:]
	}
	for i := range data {
		words[i] = tag | uint64(data[i])
	}
	if m.inSize%4 != 0 {
		*(*uint64)(unsafe.Add(at, 8*n)) = tag | uint64(rest(msg, m.inSize))
	}
}

// putShared is putWords with atomic stores.
func (m *mailbox) putShared(at, msg unsafe.Pointer, tag uint64) {
	n := m.inSize / 4
	for i := range n {
		store(at, mail.InHeader+i, tag|uint64(*(*uint32)(unsafe.Add(msg, 4*i))))
	}
	if m.inSize%4 != 0 {
		store(at, mail.InHeader+n, tag|uint64(rest(msg, m.inSize)))
	}
}

// rest returns the last bytes of size bytes at p, which are no whole word.
func rest(p unsafe.Pointer, size uintptr) uint32 {
	word := uint32(0)
	for i := size &^ 3; i < size; i++ {
		word |= uint32(*(*byte)(unsafe.Add(p, i))) << (8 * (i & 3))
	}
	return word
}

// load reads a word of a slot, store writes it. Slots begin at multiples of 8 bytes and
// have the words that the caller's sizes say.
func load(p unsafe.Pointer, word uintptr) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Add(p, 8*word)))
}

func store(p unsafe.Pointer, word uintptr, v uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Add(p, 8*word)), v)
}

// handled reports whether all words of what became of a ticket have arrived.
func (m *mailbox) handled(ticket uint64) bool {
	return whole(m.outbox(ticket), mail.OutHeader+(m.outSize+3)/4, ticket)
}

// arrived reports whether all words of the message with a ticket are there.
func (m *mailbox) arrived(ticket uint64) bool {
	return whole(m.inbox(ticket), mail.InHeader+(m.inSize+3)/4, ticket)
}

// whole reports whether all words are those of a ticket.
func whole(at unsafe.Pointer, words uintptr, ticket uint64) bool {
	want := uint32(ticket) + 1
	for i := range words {
		if uint32(load(at, i)>>32) != want {
			return false
		}
	}
	return true
}

// pending reports whether the last ticket is not handled.
func (m *mailbox) pending() bool {
	tail := m.next()
	return tail > m.first && m.slot(tail-1).Load()>>useBits == tail-1 && !m.handled(tail-1)
}

// queued counts the messages that are not handled.
func (m *mailbox) queued() int {
	first, tail := m.unhandled()
	return int(tail - first)
}

// unhandled is the first ticket that is not handled, and the next one.
func (m *mailbox) unhandled() (first, tail uint64) {
	// Messages are handled in order: the first that is not is between these.
	low := m.oldest()
	high := m.next() // after that: while messages come and go oldest passes any earlier tail
	tail = high
	for low < high {
		mid := low + (high-low)/2
		done := m.slot(mid).Load()>>useBits > mid
		if !done {
			_, done = m.outcome(mid)
		}
		if done {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, tail
}

// outcome is what became of a ticket, if that word of it has arrived.
func (m *mailbox) outcome(ticket uint64) (uint32, bool) {
	v := load(m.outbox(ticket), mail.Outcome)
	return uint32(v), uint32(v>>32) == uint32(ticket)+1
}

// result is what became of a message.
type result struct {
	outcome, cycles, waited uint32
	timed                   bool // waited is known
}

// take copies the reply of a ticket, and reports whether all of it has arrived.
func (m *mailbox) take(ticket uint64, reply unsafe.Pointer) (result, bool) {
	at, want := m.outbox(ticket), tag(ticket)
	head := load(at, mail.Outcome)
	if head&^(1<<32-1) != want {
		return result{}, false
	}
	cycles, waited := load(at, mail.Cycles), load(at, mail.Waited)
	wrong := (cycles ^ want) | (waited ^ want)
	r := result{outcome: uint32(head), cycles: uint32(cycles)}
	at = unsafe.Add(at, 8*mail.OutHeader)
	n := m.outSize / 4
	i := uintptr(0)
	for ; i+4 <= n; i += 4 {
		w := (*[4]uint64)(unsafe.Add(at, 8*i))
		a, b, c, d := atomic.LoadUint64(&w[0]), atomic.LoadUint64(&w[1]), atomic.LoadUint64(&w[2]), atomic.LoadUint64(&w[3])
		wrong |= (a ^ want) | (b ^ want) | (c ^ want) | (d ^ want)
		*(*[4]uint32)(unsafe.Add(reply, 4*i)) = [4]uint32{uint32(a), uint32(b), uint32(c), uint32(d)}
	}
	for ; i < n; i++ {
		v := load(at, i)
		wrong |= v ^ want
		*(*uint32)(unsafe.Add(reply, 4*i)) = uint32(v)
	}
	if m.outSize%4 != 0 {
		v := load(at, n)
		wrong |= v ^ want
		putRest(reply, m.outSize, uint32(v))
	}
	if wrong>>32 != 0 {
		return result{}, false
	}
	if m.values != nil && replies(r.outcome) {
		m.values.take(int(ticket&m.mask), noescape(reply)) // assigns an Out, and does not keep where
	}
	if !m.unmeasured(ticket) {
		r.waited, r.timed = m.waited(ticket, uint32(waited))
	}
	return r, true
}

// putRest is the opposite of rest.
func putRest(p unsafe.Pointer, size uintptr, word uint32) {
	for i := size &^ 3; i < size; i++ {
		*(*byte)(unsafe.Add(p, i)) = byte(word >> (8 * (i & 3)))
	}
}

// envelope is that of a ticket whose slot is in use.
func (m *mailbox) envelope(ticket uint64) envelope {
	at := m.inbox(ticket)
	urgency := uint32(load(at, mail.Urgency))
	low, high := uint32(load(at, mail.CorrelationLow)), uint32(load(at, mail.CorrelationHigh))
	e := envelope{priority: uint8(urgency), sender: urgency >> senderShift, correlation: uint64(high)<<32 | uint64(low)}
	if ids := m.ids.Load(); ids != nil {
		e.id = (*ids)[ticket&m.mask].Load()
	}
	return e
}

// message copies the message of a ticket whose slot is in use.
func (m *mailbox) message(ticket uint64, msg unsafe.Pointer) {
	if m.values != nil {
		m.values.message(int(ticket&m.mask), msg)
		return
	}
	at := unsafe.Add(m.inbox(ticket), 8*mail.InHeader)
	n := m.inSize / 4
	for i := range n {
		*(*uint32)(unsafe.Add(msg, 4*i)) = uint32(load(at, i))
	}
	if m.inSize%4 != 0 {
		putRest(msg, m.inSize, uint32(load(at, n)))
	}
}

// marked waits until all messages that were put are marked. The mailbox is closed.
func (m *mailbox) marked() {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		for m.slot(t).Load() == t<<useBits {
			runtime.Gosched()
		}
	}
}

// discard settles the messages that are not handled, and returns how many. The
// mailbox is closed, and nobody handles messages.
func (m *mailbox) discard() (n int) {
	for t, tail := m.oldest(), m.next(); t < tail; t++ {
		if m.slot(t).Load()>>useBits != t || m.handled(t) {
			continue
		}
		m.settle(t, discarded)
		n++
	}
	return n
}

// settle writes what became of a ticket in place of the device, which must not be
// at work on the mailbox.
func (m *mailbox) settle(ticket uint64, outcome uint32) {
	at := m.outbox(ticket)
	end := mail.OutHeader + (m.outSize+3)/4
	for i := range end {
		v := tag(ticket)
		if i == mail.Outcome {
			v |= uint64(outcome)
		}
		store(at, i, v)
	}
}

// settleNext settles the message at which a handler failed that has not said so, the
// first that is not handled, and returns the cursor behind it, and whether there is
// one. The loop's own cursor may be older than the ring: it is stored only when the
// loop leaves the mailbox.
func (m *mailbox) settleNext(why error) (cursor uint32, found bool) {
	tail := m.next()
	ticket := max(m.first, tail-min(tail, m.mask+1)) // those before have lost their slots to others
	for ticket < tail && m.handled(ticket) {
		ticket++
	}
	if ticket == tail {
		return uint32(tail), false
	}
	m.failedOn(ticket, why)
	m.settle(ticket, mail.HandlerFailed)
	return uint32(ticket + 1), true
}
