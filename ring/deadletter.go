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

// DeadLetter is a message that its actor did not handle to the end.
type DeadLetter struct {
	Actor       string
	ID          uint64 // of the message, unique in the runtime
	Correlation uint64
	Priority    int
	Sender      string // name of the actor that it was from, "" for the program
	Reason      Reason
	Err         error // the same as an error: ErrDropped, ErrExpired, ErrTerminated, a *HandlerError, ErrRefused or ErrWithdrawn, perhaps wrapped
	// Body is the message, of the actor's type In. It is nil in one case: the handler
	// failed on a message of another actor on the device, whose mailbox was full, and
	// the next message took the slot before the host looked. Correlation, Priority and
	// Sender are not known then either.
	Body any
	// Time is the deadline of a message that expired. For one that the handler failed on
	// it is when the runtime noticed that, and otherwise when the message was given up.
	Time time.Time
}

// Reason is why a message is a dead letter.
type Reason uint8

// Reasons.
const (
	ReasonDropped    Reason = iota // for others, by the policy DropOldest
	ReasonExpired                  // its deadline had passed
	ReasonTerminated               // the actor ended first
	ReasonFailed                   // the handler failed on it
	ReasonRefused                  // the actor that it was to go on to did not take it
	ReasonWithdrawn                // it was asked, the actor failed first, and its caller got a *StateError

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

// DefaultDeadLetters is how many dead letters a runtime keeps if its Config does
// not say.
const DefaultDeadLetters = 1024

// DeadLetters are messages of a runtime's actors that were not handled to the end.
// A number of them is kept, the newest ones; all are counted. It is safe for
// concurrent use.
type DeadLetters struct {
	rt      *Runtime
	limit   int
	counts  [reasons]atomic.Uint64
	arrived chan struct{}

	mu     sync.Mutex
	kept   []DeadLetter // a ring
	first  int          // the oldest
	number int
	lost   uint64
}

// DeadLetters returns the runtime's dead letters, also after Close.
func (rt *Runtime) DeadLetters() *DeadLetters {
	if !rt.made() {
		return nil
	}
	return &rt.messages.letters
}

// made reports whether a runtime has made the dead letters. Others are none.
func (d *DeadLetters) made() bool { return d != nil && d.rt != nil }

// Len returns how many letters are there to be taken.
func (d *DeadLetters) Len() int {
	if !d.collect() {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.number
}

// Count returns how many letters there were for a reason.
func (d *DeadLetters) Count(r Reason) uint64 {
	if !d.collect() || r >= reasons {
		return 0
	}
	return d.counts[r].Load()
}

// Total returns how many letters there were.
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

// Overflow returns how many letters were not kept, since newer ones came before
// anybody had taken them.
func (d *DeadLetters) Overflow() uint64 {
	if !d.collect() {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// All takes the letters that are there, the oldest first.
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

// collectEvery is how often a reader that waits looks for messages that have
// expired while nobody else looked.
const collectEvery = 5 * time.Millisecond

// Receive takes the oldest letter, and waits for one if there is none.
func (d *DeadLetters) Receive(ctx context.Context) (DeadLetter, error) {
	const doing = "receive a dead letter"
	if !d.made() {
		return DeadLetter{}, notMade(doing, "runtime")
	}
	if ctx == nil {
		return DeadLetter{}, fmt.Errorf("ring: %s: %w", doing, errNilContext)
	}
	if err := ctx.Err(); err != nil {
		return DeadLetter{}, fmt.Errorf("ring: %s: %w", doing, err)
	}
	if l, ok := d.take(); ok {
		return l, nil // without a look into all mailboxes
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
		d.signal() // to the next reader
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

// collect makes letters of messages that nobody has looked at yet. It reports whether the
// dead letters are those of a runtime.
func (d *DeadLetters) collect() bool {
	if !d.made() {
		return false
	}
	for _, c := range d.rt.living() {
		c.sweep()
	}
	return true
}

// letter makes a dead letter of a message. err is why, if the reason does not say, and
// at when, 0 for now.
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

// messages is what a runtime knows of messages.
type messages struct {
	born    time.Time
	letters DeadLetters

	waiting atomic.Int32 // goroutines that wait for replies or room

	mu    sync.RWMutex
	names map[uint32]string // of actors, by number
	gone  []uint32          // numbers of actors that have ended and are still in names, a ring
	next  int               // place in gone of the one that is forgotten next
}

// keptNames is how many actors that have ended are known by name: messages of theirs
// may still be on their way.
const keptNames = 1024

func (m *messages) open(rt *Runtime, letters int) {
	m.born, m.names = time.Now(), map[uint32]string{}
	m.letters.rt, m.letters.limit, m.letters.arrived = rt, letters, make(chan struct{}, 1)
}

// name says which actor has a number.
func (m *messages) name(number uint32, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names[number] = name
}

// forget notes that the actor with a number has ended.
func (m *messages) forget(number uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.gone) < keptNames {
		m.gone = append(m.gone, number)
		return
	}
	delete(m.names, m.gone[m.next])
	m.gone[m.next] = number
	m.next = (m.next + 1) % keptNames
}

// nameOf is the name of the actor with a number, "" for the program and for an actor
// that ended long ago.
func (m *messages) nameOf(number uint32) string {
	if number == 0 {
		return ""
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.names[number]
}

// clock is the time since the runtime was made in nanoseconds.
func (rt *Runtime) clock() int64 { return int64(time.Since(rt.messages.born)) }

// letterRoom is how many dead letters are kept.
func (rt *Runtime) letterRoom() int { return rt.messages.letters.limit }

// remove gives up a message in the queue. The queue's lock is held.
func (c *core) remove(n *entry, reason Reason, err error) {
	q := &c.queue
	msg := q.Body(n)
	c.letter(n.Value.envelope, c.idOf(&n.Value.envelope, idQueue, q.removed), reason, err, 0, q.Bodies.Value(msg))
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
	c.letter(*e, c.idOf(e, idQueue, q.removed), ReasonDropped, nil, 0, q.Bodies.Value(noescape(msg))) // a copy
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
	msg := c.queue.Bodies.Blank()
	m.message(ticket, msg)
	e := m.envelope(ticket)
	e.deadline = deadlineOf(m.in.Header(ticket).Deadline, c.rt.clock())
	c.letter(e, c.idOf(&e, m.source, ticket), reason, err, at, c.queue.Bodies.Value(msg))
}

// handlerError is the error of a message that the handler has failed on.
func (c *core) handlerError(m *mailbox, ticket uint64) *HandlerError {
	why, known := m.failure(ticket)
	if !known {
		why.err = cmp.Or(c.failure(), errHandler)
	}
	return &HandlerError{Actor: c.name, Ticket: ticket - m.first, Err: why.err}
}

// endedFor is the error of messages that the actor has ended before.
func (l *life) endedFor() error {
	if why := l.failure(); why != nil {
		return fmt.Errorf("%w: %w", ErrTerminated, why)
	}
	return ErrTerminated
}

// queued counts the messages that are not handled.
func (d *delivery) queued() int {
	d.queue.mu.Lock()
	defer d.queue.mu.Unlock()
	return d.left()
}

// left is queued with the queue's lock held.
func (d *delivery) left() int {
	n := d.queue.Len()
	if !d.detached {
		n += d.inRings()
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
	waiting = uint64(c.queue.Len())
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
	c.queue.Expire(c.rt.clock(), c.expire)
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
