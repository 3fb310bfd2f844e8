package ring

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/payload"
	"quern.dev/ring/internal/queue"
)

// delivery is the path of messages to an actor and of replies from it: rings, from
// which the actor takes messages, and a queue in front of them.
//
// While the queue is empty and the actor runs, a message goes directly into the ring
// of its level, if there is a vacant slot. Otherwise it goes to the queue. Callers
// that wait for replies move messages from the queue to the rings, and so does a
// goroutine that lives while the queue is not empty.
type delivery struct {
	mailboxes []*mailbox // one per level, or one for all
	queue     backlog
	capacity  int
	roomy     bool // the rings never contain more messages than the capacity allows
	full      Policy
	saysFull  sync.Once
	isFull    error               // the error for a full queue, made once
	isUnheard error               // the same, if unreceived replies are the cause
	refs      *payload.References // nil if messages contain no references
	pulls     bool                // the server takes messages from the queue itself, one at a time

	arrived  atomic.Bool  // there may be messages whose arrival was recorded and that no run has begun with
	moving   atomic.Bool  // a goroutine is moving messages from the queue to the rings
	detached bool         // the rings are gone; guarded by queue.mu, and changed only while receiving is held too
	visitors atomic.Int64 // see visit

	receiving turn // one Receive at a time
	stashed   int  // replies in stashes; guarded by receiving
	newStash  func() (queue.Untyped, unsafe.Pointer)
	scratch   unsafe.Pointer // a reply on its way to a stash
	parked    atomic.Int32
	arrival   chan struct{} // wakes the sleeping Receive
}

func (d *delivery) open(o *Options, bodies queue.Bodies, newStash func() (queue.Untyped, unsafe.Pointer)) {
	d.queue.Bodies, d.newStash = bodies, newStash
	d.capacity, d.roomy, d.full = o.Capacity, o.roomy(), o.Full
	d.arrival, d.receiving.gate = make(chan struct{}, 1), make(gate, 1)
}

// backlog contains the messages for which the rings have no room, and all messages of
// an actor that does not run. All methods except Len require mu.
type backlog struct {
	queue.Queue[queuedMessage]

	mu      sync.Mutex
	removed uint64 // messages that left the queue, but not for a ring
	pushed  uint64 // messages added, if waiting times are measured
}

type entry = queue.Entry[queuedMessage]

// queuedMessage is a message in the queue, or a message that has left it, if its
// caller of Ask does not know that yet.
type queuedMessage struct {
	envelope
	use   uint8
	came  int64 // by the runtime's clock; 0 if the waiting time is not measured
	place atomic.Uint64
	ring  *mailbox // the ring that the message is in, once it is placed
}

// Places of the message of an entry: in the queue, removed for a reason, or in a ring
// with a ticket.
const (
	queued = iota
	gone   // plus the Reason
	placed = gone + uint64(reasons)
)

// leave removes a message from the queue, and records its new place. The caller of Ask
// releases the entry, or the queue does if there is none.
func (q *backlog) leave(n *entry, place uint64) {
	q.Remove(n)
	if place < placed {
		q.removed++
	}
	if n.Value.use == asked {
		n.Value.place.Store(place)
		return
	}
	q.Release(n)
}

// noMoreVisits is the number that detach adds to the visitors.
const noMoreVisits = math.MinInt64 / 2

// visit keeps the memory that the actor shares with the device allocated until endVisit.
// It returns false if that memory is freed or about to be. No visit is necessary for
// callers that hold queue.mu or receiving and see that the rings are not detached, or that
// have claimed a ticket and not yet marked or freed it.
func (d *delivery) visit() bool {
	if d.visitors.Add(1) > 0 {
		return true
	}
	d.visitors.Add(-1)
	return false
}

func (d *delivery) endVisit() { d.visitors.Add(-1) }

// visited reports whether there are visitors. detach must have been called, so that
// there are no new ones.
func (d *delivery) visited() bool { return d.visitors.Load() != noMoreVisits }

// kick makes the server check for messages, unless the memory of the actor is gone.
func (c *core) kick() {
	if c.visit() {
		c.server.kick()
		c.endVisit()
	}
}

// mailbox returns the mailbox for a priority.
func (d *delivery) mailbox(priority uint8) *mailbox {
	if len(d.mailboxes) == 1 {
		return d.mailboxes[0]
	}
	return d.mailboxes[mail.LevelOf(priority)]
}

// replies reports whether a handler with the given outcome has replied.
func replies(outcome uint32) bool {
	return outcome == uint32(kernel.Reply) || outcome == uint32(kernel.ReplyAndStop)
}

// pending is a message of Ask. It is in the queue while it has an entry, and then in
// a ring.
type pending struct {
	m        *mailbox
	ticket   uint64
	entry    *entry
	deadline int64
}

// errNoRoom means that a message was not accepted because its sender does not wait.
var errNoRoom = errors.New("no room")

// enter accepts a message. If the policy says that the sender waits for room, enter does,
// or returns errNoRoom if waits is false.
func (c *core) enter(ctx context.Context, op string, e *envelope, use uint64, msg unsafe.Pointer, waits bool) (pending, error) {
	if c.refs != nil {
		if err := c.refs.Retain(noescape(msg)); err != nil {
			return pending{}, c.about(op, err)
		}
	}
	p, err := c.admit(ctx, op, e, use, msg, waits)
	c.recount()
	if err != nil && c.refs != nil {
		c.refs.Release(noescape(msg)) // reads plain numbers, like Retain
	}
	if c.parked.Load() != 0 {
		c.wakeReceiver()
	}
	return p, err
}

func (c *core) admit(ctx context.Context, op string, e *envelope, use uint64, msg unsafe.Pointer, waits bool) (pending, error) {
	if c.direct() {
		if p, ok := c.offer(e, use, msg); ok {
			return p, nil
		}
	}
	wait := backoff.Yielding()
	for {
		if e.deadline != 0 && e.expired(c.rt.clock()) {
			return pending{}, c.about(op, ErrExpired)
		}
		p, ok, err := c.enqueue(op, e, use, msg, false)
		if ok || err != nil {
			return p, err
		}
		if c.full == Reject {
			c.meter.rejected.Add(1)
			return pending{}, c.queueFull()
		}
		if !waits {
			return pending{}, errNoRoom
		}
		if !wait.Joined() {
			wait.Join(int(c.rt.messages.waiting.Add(1)))
			defer c.rt.messages.waiting.Add(-1)
		}
		c.server.kick()
		if wait.Pause() {
			if err := ctx.Err(); err != nil {
				return pending{}, c.about(op, err)
			}
		}
	}
}

// queueFull returns the error of rejected messages. It is made once, because there
// may be many.
func (c *core) queueFull() error {
	c.saysFull.Do(func() {
		c.isFull = fmt.Errorf("ring: actor %s: %w: %d messages wait; send later, or spawn the actor with a larger Capacity or another policy", c.name, ErrQueueFull, c.capacity)
		c.isUnheard = fmt.Errorf("ring: actor %s: %w: %d messages wait for room because at least %d replies were not received; receive them, or use Tell for messages that need no reply", c.name, ErrQueueFull, c.capacity, c.capacity)
	})
	if c.unheard() {
		return c.isUnheard
	}
	return c.isFull
}

// unheard reports whether replies are not received, and no more can be stored.
func (d *delivery) unheard() bool {
	if !d.receiving.tryLock() {
		return false // a goroutine is receiving
	}
	defer d.receiving.unlock()
	return d.stashed >= d.capacity
}

// direct reports whether messages may go into the rings without checking the queue.
func (c *core) direct() bool {
	return c.roomy && c.queue.Len() == 0 && c.current() == Active
}

// offer puts a message into its ring if there is a vacant slot.
func (c *core) offer(e *envelope, use uint64, msg unsafe.Pointer) (pending, bool) {
	m := c.mailbox(e.priority)
	t, n := m.claim(1, false)
	if n == 0 {
		return pending{}, false
	}
	m.arrive(t, 1)
	m.put(t, e, msg)
	m.mark(t, use)
	return pending{m: m, ticket: t, deadline: e.deadline}, true
}

// enqueue puts a message into the queue, or into its ring if all earlier messages are
// there. It reports whether there was room. An actor that is terminating only has
// room for messages that its mailbox on the device has accepted.
func (c *core) enqueue(op string, e *envelope, use uint64, msg unsafe.Pointer, taken bool) (pending, bool, error) {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := c.current(); !s.open() && !(taken && s == Terminating) {
		return pending{}, false, c.deniedIn(s, op, false)
	}
	c.advance()
	room := c.waiting() < c.capacity
	if !room {
		q.Expire(c.rt.clock(), c.expire)
		room = c.waiting() < c.capacity
	}
	if room && q.Len() == 0 && c.runs() && !c.pulls {
		if p, ok := c.offer(e, use, msg); ok {
			return p, true, nil
		}
	}
	if !room {
		if c.full != DropOldest {
			return pending{}, false, nil
		}
		least := q.Lowest()
		if least.Value.priority > e.priority {
			c.bounce(e, msg)
			return pending{}, false, c.about(op, ErrDropped)
		}
		c.remove(least, ReasonDropped, nil)
	}
	n := c.push(e, use, noescape(msg)) // copies the message as an In
	c.keepMoving()
	return pending{entry: n, deadline: e.deadline}, true, nil
}

// push puts a message into the queue. The caller holds the queue's lock.
func (c *core) push(e *envelope, use uint64, msg unsafe.Pointer) *entry {
	q := &c.queue
	n := q.Push(e.priority, e.deadline, msg)
	n.Value.envelope, n.Value.use, n.Value.came = *e, uint8(use), 0
	n.Value.place.Store(queued)
	if c.mailboxes[0].arrivals != nil {
		if q.pushed%waitEvery == 0 {
			n.Value.came = c.rt.clock()
		}
		q.pushed++
	}
	return n
}

// enqueueMany puts messages into the queue while there is room, and returns their
// number. It does not support actors that drop messages, or messages with references.
func (c *core) enqueueMany(e *envelope, use uint64, msgs unsafe.Pointer, n int) int {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !c.current().open() || e.deadline != 0 && e.expired(c.rt.clock()) {
		return 0
	}
	c.advance()
	n = max(0, min(n, c.capacity-c.waiting()))
	for i := range n {
		c.push(e, use, noescape(unsafe.Add(msgs, uintptr(i)*c.inSize))) // copies element i, of n
	}
	c.advance()
	c.keepMoving()
	return n
}

// send accepts n messages that are stored one after another, and returns the number
// of accepted messages.
func (c *core) send(ctx context.Context, op string, e *envelope, use uint64, msgs unsafe.Pointer, n int) (int, error) {
	if !c.visit() {
		return 0, c.denied(op, false)
	}
	defer c.endVisit()
	defer c.server.kick()
	m := c.mailbox(e.priority)
	for i := 0; i < n; {
		msg := unsafe.Add(msgs, uintptr(i)*c.inSize)
		if c.refs == nil && c.direct() {
			t, got := m.claim(n-i, false)
			c.recount()
			if got > 0 {
				m.arrive(t, got)
				for k := range got {
					m.put(t+uint64(k), e, unsafe.Add(msg, uintptr(k)*c.inSize))
				}
				// An atomic store waits for the earlier stores, and the cache lines
				// of the messages come from the device, which has read them.
				for k := range got {
					m.mark(t+uint64(k), use)
				}
				if i += got; c.parked.Load() != 0 {
					c.wakeReceiver()
				}
				continue
			}
		}
		if c.refs == nil && c.full != DropOldest {
			if got := c.enqueueMany(e, use, msg, n-i); got > 0 {
				i += got
				continue
			}
		}
		if _, err := c.enter(ctx, op, e, use, msg, true); err != nil {
			return i, err
		}
		i++
	}
	return n, nil
}

// waiting returns the number of messages that count toward the capacity. The caller
// holds the queue's lock.
func (d *delivery) waiting() int {
	n := d.queue.Len()
	if d.full != DropOldest {
		n += d.inRings()
	}
	return n
}

// inRings returns the number of unhandled messages in the rings.
func (d *delivery) inRings() (n int) {
	for _, m := range d.mailboxes {
		n += m.queued()
	}
	return n
}

// advance moves messages from the queue to the rings, in order, while there is room. The
// caller holds the queue's lock.
func (c *core) advance() {
	if c.queue.Len() == 0 || c.pulls || !c.runs() {
		return
	}
	for {
		if _, _, ok := c.moveFirst(); !ok {
			return
		}
	}
}

// pull moves the first message of the queue to the only ring, if there is a message and
// the ring has room.
func (c *core) pull() (e envelope, ticket uint64, ok bool) {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	return c.moveFirst()
}

// moveFirst moves the first message of the queue that has not expired to its ring, if the
// ring has room. The caller holds the queue's lock.
func (c *core) moveFirst() (e envelope, ticket uint64, ok bool) {
	q, now := &c.queue, int64(0)
	if q.HasDeadlines() {
		now = c.rt.clock()
	}
	for n := q.First(); n != nil; n = q.First() {
		if n.Expired(now) {
			c.expire(n)
			continue
		}
		m := c.mailbox(n.Value.priority)
		t, got := m.claim(1, true)
		if got == 0 {
			if c.makeRoom(m) {
				continue
			}
			break
		}
		e = n.Value.envelope
		m.came(t, n.Value.came)
		m.put(t, &e, q.Body(n))
		m.mark(t, uint64(n.Value.use))
		n.Value.ring = m
		q.leave(n, placed+t)
		return e, t, true
	}
	return e, 0, false
}

// makeRoom stashes replies that occupy slots which messages need, and reports whether
// there were any. It does nothing while a goroutine is receiving. The caller holds the
// queue's lock.
func (c *core) makeRoom(m *mailbox) (made bool) {
	if !c.receiving.tryLock() {
		return false
	}
	defer c.receiving.unlock()
	return c.stash(m, c.capacity)
}

// keepReplies stashes all replies of an actor that has ended. The caller holds the
// queue's lock and receiving.
func (c *core) keepReplies() {
	for _, m := range c.mailboxes {
		c.stash(m, math.MaxInt)
	}
}

// stash moves replies that Receive has not seen out of a ring, until it has moved most
// of them, and reports whether there were any. The caller holds the queue's lock and
// receiving.
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
		failed := (*HandlerError)(nil)
		switch {
		case replies(r.Outcome):
		case r.Outcome == mail.HandlerFailed:
			failed = c.handlerError(m, t)
		default:
			m.pass(t, r.Outcome)
			continue
		}
		one := m.stash.heads.Grow()
		m.heading(t, &one.heading)
		one.result, one.failed = r, failed
		m.stash.bodies.Put(c.scratch)
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

// refill moves messages from the queue to the rings, and makes sure that those
// without room follow.
func (c *core) refill() {
	if c.pulls {
		c.pullNext()
		return
	}
	if c.queue.Len() == 0 || !c.queue.mu.TryLock() {
		return // or another goroutine does it
	}
	defer c.queue.mu.Unlock()
	c.advance()
	c.keepMoving()
}

// pullNext makes a server that pulls check for messages in the queue, after a slot
// has become free. The server may have found none earlier, and then waits for a kick.
func (c *core) pullNext() {
	if c.pulls && c.queue.Len() != 0 {
		c.server.kick()
	}
}

// keepMoving makes a goroutine move the messages in the queue. The caller holds the
// queue's lock.
func (c *core) keepMoving() {
	if c.pulls {
		c.server.kick()
		return
	}
	if c.queue.Len() != 0 && c.runs() && c.moving.CompareAndSwap(false, true) {
		go c.moveAll()
	}
}

func (c *core) moveAll() {
	wait := backoff.Yielding()
	for {
		c.queue.mu.Lock()
		before := c.queue.Len()
		c.advance()
		left := c.queue.Len()
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

// Messages and replies pass through the methods of a core as unsafe.Pointer, because a
// core does not know their types. These methods call others through interfaces, which
// would make every message and every reply escape: one allocation each. The two functions
// here avoid that without hiding what a message points to. Only newActor and the
// constructors join an actor and a core, with the same types In and Out. So code that
// converts such a pointer back converts it to the original type.
//
// The rule: a method that gets a pointer from noescape copies the value in its own
// type, with assignments that the garbage collector sees, and does not keep the
// pointer. What the copy points to is then reachable from the heap, so it must not be
// on the sender's stack: senders call escapes first. Replies need no such call, because
// they come from the heap.

// noescape hides p from escape analysis. The callee must not keep p; see above. p may
// point into a stack. A stack moves only during a function call, and then every
// unsafe.Pointer into it is adjusted.
//
//go:nocheckptr
func noescape(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(nil, uintptr(p)) }

// escapes makes what *v points to escape to the heap, but not *v itself. Values without
// pointers cost a load and a branch, and stay where they are.
func escapes[T any](v *T) {
	if sink.taken {
		sink.value = *v
	}
}

// sink is the target of the assignment in escapes. That assignment never happens, but
// the compiler cannot know it.
var sink struct {
	taken bool
	value any
}
