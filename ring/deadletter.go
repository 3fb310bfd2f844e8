package ring

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/ring/internal/mail"
)

// DeadLetter is a message that its actor did not handle completely.
type DeadLetter struct {
	Actor       string
	ID          uint64 // of the message, unique in the runtime
	Correlation uint64
	Priority    int
	Sender      string // name of the sending actor, "" for the program
	Reason      Reason
	Err         error // the reason as an error: ErrDropped, ErrExpired, ErrTerminated, a *HandlerError, ErrRefused or ErrWithdrawn, possibly wrapped
	// Body is the message, of the actor's type In. It is nil in one case: the handler
	// failed on a message from another actor on the device while the mailbox was full,
	// and the next message reused the slot before the host read it. Then Correlation,
	// Priority and Sender are unknown too.
	Body any
	// Time is the deadline of an expired message. For a message that the handler failed
	// on, it is when the runtime detected the failure, and otherwise when the message
	// was given up.
	Time time.Time
}

// Reason is the reason why a message became a dead letter.
type Reason uint8

// Reasons.
const (
	ReasonDropped    Reason = iota // to make room for others, by the policy DropOldest
	ReasonExpired                  // its deadline had passed
	ReasonTerminated               // the actor ended first
	ReasonFailed                   // the handler failed on it
	ReasonRefused                  // the actor that the reply was to go on to did not accept it
	ReasonWithdrawn                // the actor failed first, and the caller of Ask got a *StateError

	reasons
)

var reasonNames = [reasons]string{"dropped", "expired", "terminated", "failed", "refused", "withdrawn"}

// String returns the reason's name.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return "unknown"
}

var reasonErrors = [reasons]error{ErrDropped, ErrExpired, ErrTerminated, nil, ErrRefused, ErrWithdrawn}

// DefaultDeadLetters is the number of dead letters that a runtime keeps by default.
const DefaultDeadLetters = 1024

// DeadLetters are the messages of a runtime's actors that were not handled
// completely. The newest ones are kept, up to a limit; all are counted. It is safe
// for concurrent use.
type DeadLetters struct {
	rt      *Runtime
	limit   int
	counts  [reasons]atomic.Uint64
	arrived chan struct{}

	mu     sync.Mutex
	kept   []DeadLetter // ring buffer
	first  int          // index of the oldest
	number int
	lost   uint64
}

// DeadLetters returns the runtime's dead letters. It also works after Close.
func (rt *Runtime) DeadLetters() *DeadLetters {
	if !rt.made() {
		return nil
	}
	return &rt.messages.letters
}

// made reports whether d belongs to a runtime.
func (d *DeadLetters) made() bool { return d != nil && d.rt != nil }

// Len returns the number of letters that are kept.
func (d *DeadLetters) Len() int {
	if !d.collect() {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.number
}

// Count returns the total number of letters with a reason.
func (d *DeadLetters) Count(r Reason) uint64 {
	if !d.collect() || r >= reasons {
		return 0
	}
	return d.counts[r].Load()
}

// Total returns the total number of letters.
func (d *DeadLetters) Total() uint64 {
	if !d.collect() {
		return 0
	}
	n := uint64(0)
	for r := range d.counts {
		n += d.counts[r].Load()
	}
	return n
}

// Overflow returns the number of letters that were discarded because newer ones came
// before they were taken.
func (d *DeadLetters) Overflow() uint64 {
	if !d.collect() {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// All takes the kept letters, oldest first.
func (d *DeadLetters) All() iter.Seq[DeadLetter] {
	return func(yield func(DeadLetter) bool) {
		if !d.collect() {
			return
		}
		for {
			l, ok := d.take()
			if !ok || !yield(l) {
				return
			}
		}
	}
}

// collectEvery is how often a waiting reader searches for expired messages that no
// one else has noticed.
const collectEvery = 5 * time.Millisecond

// Receive takes the oldest letter. It waits for one if there is none.
func (d *DeadLetters) Receive(ctx context.Context) (DeadLetter, error) {
	const doing = "receive a dead letter"
	if !d.made() {
		return DeadLetter{}, notMade(doing, "runtime")
	}
	ctx = orBackground(ctx)
	if err := ctx.Err(); err != nil {
		return DeadLetter{}, fmt.Errorf("ring: %s: %w", doing, err)
	}
	if l, ok := d.take(); ok {
		return l, nil // without searching all mailboxes
	}
	d.collect()
	if l, ok := d.take(); ok {
		return l, nil
	}
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return DeadLetter{}, fmt.Errorf("ring: %s: %w", doing, ctx.Err())
		case <-d.arrived:
		case <-ticker.C:
			d.collect()
		}
		if l, ok := d.take(); ok {
			return l, nil
		}
	}
}

func (d *DeadLetters) take() (DeadLetter, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.number == 0 {
		return DeadLetter{}, false
	}
	l := d.kept[d.first]
	d.kept[d.first] = DeadLetter{}
	d.first = (d.first + 1) % d.limit
	if d.number--; d.number > 0 {
		d.signal() // wakes the next reader
	}
	return l, true
}

func (d *DeadLetters) signal() {
	select {
	case d.arrived <- struct{}{}:
	default:
	}
}

func (d *DeadLetters) add(l DeadLetter) {
	d.counts[l.Reason].Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil {
		d.kept = make([]DeadLetter, d.limit)
	}
	if d.number == d.limit {
		d.first = (d.first + 1) % d.limit
		d.number--
		d.lost++
	}
	d.kept[(d.first+d.number)%d.limit] = l
	d.number++
	d.signal()
}

// collect makes letters of failed and expired messages that were not noticed yet. It
// returns false if d does not belong to a runtime.
func (d *DeadLetters) collect() bool {
	if !d.made() {
		return false
	}
	for _, c := range d.rt.living() {
		c.sweep()
	}
	return true
}

// letter makes a dead letter of a message. err is the cause, if the reason does not
// imply it. at is the time, 0 for now.
func (c *core) letter(e envelope, id uint64, reason Reason, err error, at int64, body any) {
	c.meter.deadLetters.Add(1)
	if at == 0 {
		at = c.rt.clock()
	}
	if reason == ReasonExpired && e.deadline != 0 {
		at = min(at, e.deadline)
	}
	c.rt.messages.letters.add(DeadLetter{Actor: c.name, ID: id, Correlation: e.correlation, Priority: int(e.priority), Sender: c.rt.messages.nameOf(e.sender),
		Reason: reason, Err: cmp.Or(err, reasonErrors[reason]), Body: body, Time: c.rt.messages.born.Add(time.Duration(at))})
}

// messages is the state of a runtime that concerns messages.
type messages struct {
	born    time.Time
	letters DeadLetters

	waiting atomic.Int32  // goroutines that are waiting for replies or room
	counted atomic.Uint64 // IDs; see newID

	mu     sync.RWMutex
	names  map[uint32]string // of actors, by the bits of their numbers in senderMask
	gone   []uint32          // ring buffer of the numbers of ended actors that are still in names
	next   int               // index in gone of the number to forget next
	ranges []idRange         // of actors that have ended
	ranged uint64            // number of all ranges
}

// senderMask selects the bits of an actor's number that fit into the header of a message.
const senderMask = 1<<(32-mail.PriorityBits) - 1

// keptNames is the number of ended actors whose names are kept, because their
// messages may still be in transit.
const keptNames = 1024

func (m *messages) open(rt *Runtime, letters int) {
	m.born, m.names = time.Now(), map[uint32]string{}
	m.letters.rt, m.letters.limit, m.letters.arrived = rt, letters, make(chan struct{}, 1)
}

// name gives an actor a number. It reports false if the number, as messages store it, is
// that of the program or of another actor.
func (m *messages) name(number uint32, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	sender := number & senderMask
	if _, taken := m.names[sender]; taken || sender == 0 {
		return false
	}
	m.names[sender] = name
	return true
}

// forget records that the actor with a number has ended.
func (m *messages) forget(number uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	number &= senderMask
	if len(m.gone) < keptNames {
		m.gone = append(m.gone, number)
		return
	}
	delete(m.names, m.gone[m.next])
	m.gone[m.next] = number
	m.next = (m.next + 1) % keptNames
}

// nameOf returns the name of the actor with a number. It returns "" for the program
// and for actors that ended long ago.
func (m *messages) nameOf(number uint32) string {
	if number == 0 {
		return ""
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.names[number&senderMask]
}

// clock returns the time since the runtime was made, in nanoseconds.
func (rt *Runtime) clock() int64 { return int64(time.Since(rt.messages.born)) }

// letterRoom returns the maximum number of kept dead letters.
func (rt *Runtime) letterRoom() int { return rt.messages.letters.limit }

// remove removes a message from the queue as a dead letter. The caller holds the
// queue's lock.
func (c *core) remove(n *entry, reason Reason, err error) {
	q := &c.queue
	msg := q.Body(n)
	c.letter(n.Value.envelope, c.rt.messages.idOr(n.Value.id), reason, err, 0, q.Bodies.Value(msg))
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

// bounce drops a new message instead of those in the queue. The caller holds the
// queue's lock.
func (c *core) bounce(e *envelope, msg unsafe.Pointer) {
	q := &c.queue
	c.letter(*e, c.rt.messages.idOr(e.id), ReasonDropped, nil, 0, q.Bodies.Value(noescape(msg))) // a copy
	c.meter.dropped.Add(1)
	q.removed++
}

// lost counts a message in a ring that the handler did not handle completely.
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
	msg := c.queue.Bodies.Blank()
	m.message(ticket, msg)
	e := m.envelope(ticket)
	c.letter(e, m.idOf(ticket, e.id), reason, err, at, c.queue.Bodies.Value(msg))
}

// handlerError returns the error of a message that the handler failed on.
func (c *core) handlerError(m *mailbox, ticket uint64) *HandlerError {
	why, known := m.failure(ticket)
	if !known {
		why.err = cmp.Or(c.failure(), errHandler)
	}
	return &HandlerError{Actor: c.name, ID: m.idOf(ticket, m.requestedID(ticket)), Ticket: ticket - m.first, Err: why.err}
}

// endedFor returns the error of messages that were unhandled when the actor ended.
func (l *life) endedFor() error {
	if why := l.failure(); why != nil {
		return fmt.Errorf("%w: %w", ErrTerminated, why)
	}
	return ErrTerminated
}

// queued returns the number of unhandled messages.
func (d *delivery) queued() int {
	d.queue.mu.Lock()
	defer d.queue.mu.Unlock()
	return d.left()
}

// left is queued for callers that hold the queue's lock.
func (d *delivery) left() int {
	n := d.queue.Len()
	if !d.detached {
		n += d.inRings()
	}
	return n
}

// traffic returns the number of accepted messages, and how many of them are not
// settled.
func (c *core) traffic() (accepted, waiting uint64) {
	if h, ok := c.server.(*hostActor); ok && h.inbox.Load() != nil {
		c.rt.inboxes.mu.Lock() // prevents moves from there to the queue
		defer c.rt.inboxes.mu.Unlock()
		n := uint64(h.inbox.Load().waiting())
		defer func() { accepted, waiting = accepted+n, waiting+n }()
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	waiting = uint64(c.queue.Len())
	accepted = c.queue.removed + waiting
	for _, m := range c.mailboxes {
		if c.detached {
			accepted += m.accepted()
			continue
		}
		first, tail := m.unhandled() // read together, so that the number of settled messages never decreases
		accepted += tail - m.first
		waiting += tail - first
	}
	return accepted, waiting
}

// sweep counts expired and failed messages that were not noticed yet.
func (c *core) sweep() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.Expire(c.rt.clock(), c.expire)
	if c.detached {
		return
	}
	for _, m := range c.mailboxes {
		m.sweep()
	}
}

// shut makes an actor whose state is not open accept no more messages, and returns
// the number of unhandled messages. That number does not grow after that.
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

// discard makes dead letters of all unhandled messages, and makes their callers of
// Ask return. The actor must have ended, so that nothing uses its rings. It returns
// the number of messages.
func (c *core) discard() int {
	q := &c.queue
	c.shut()
	q.mu.Lock()
	defer q.mu.Unlock()
	n, why := 0, c.endedFor()
	for e := q.First(); e != nil; e = q.First() {
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

// detach is called before the memory of the rings is freed. Receive can still take the
// replies.
func (c *core) detach() {
	c.wakeReceiver()
	c.receiving.lock()
	defer c.recount()
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
