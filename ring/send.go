package ring

import (
	"context"
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

// delivery is how messages come to an actor and replies from it: through rings
// that the actor takes them from, and a queue behind them.
//
// As long as nothing is in the queue, and the actor runs, a message goes into the
// ring of its level, if there is a vacant slot. Otherwise it goes to the queue;
// those who wait for replies and a goroutine that lives as long as the queue is
// not empty move messages from there.
type delivery struct {
	mailboxes []*mailbox // by level, or one for all
	queue     backlog
	capacity  int
	roomy     bool // what is in the rings alone is within the capacity
	full      Policy
	saysFull  sync.Once
	isFull    error               // once saysFull, as isUnheard
	isUnheard error               // the same, because of replies that nobody receives
	refs      *payload.References // nil if messages have none
	pulls     bool                // the server takes messages out of the queue, one at a time

	arrived  atomic.Bool  // perhaps there are messages whose arrival was noted and that no run has begun with
	moving   atomic.Bool  // a goroutine moves messages from the queue to the rings
	detached bool         // the rings are gone; queue.mu is held, and receiving to change it
	visitors atomic.Int64 // see visit

	receiving gate // one Receive at a time
	stashed   int  // replies in stashes; receiving is held
	newStash  func() (queue.Untyped, unsafe.Pointer)
	scratch   unsafe.Pointer // a reply on its way to a stash
	parked    atomic.Int32
	arrival   chan struct{} // wakes it
}

func (d *delivery) open(o *Options, bodies queue.Bodies, newStash func() (queue.Untyped, unsafe.Pointer)) {
	d.queue.Bodies, d.newStash = bodies, newStash
	d.capacity, d.roomy, d.full = o.Capacity, o.roomy(), o.Full
	d.arrival, d.receiving = make(chan struct{}, 1), make(gate, 1)
}

// backlog keeps the messages of an actor that its rings have no room for, and all of an
// actor that does not run. Its methods are called with mu held, except Len.
type backlog struct {
	queue.Queue[queuedMessage]

	mu      sync.Mutex
	removed uint64 // messages that have left the queue, but not for a ring
	pushed  uint64 // messages, where their waiting time is measured
}

type entry = queue.Entry[queuedMessage]

// queuedMessage is a message in the queue, or one that has left it and whose caller of
// Ask does not know yet.
type queuedMessage struct {
	envelope
	use   uint8
	came  int64 // by the runtime's clock; 0 if it is not measured how long the message waits
	place atomic.Uint64
	ring  *mailbox // that it is in, once it is placed
}

// Places of the message of an entry: in the queue, gone for a reason, or in a ring
// with a ticket.
const (
	queued = iota
	gone   // one more for each Reason
	placed = gone + uint64(reasons)
)

// leave removes a message, which goes to a place. The caller of Ask, or without one the
// queue, ends the use of the entry.
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

// noMoreVisits is what detach adds to the visitors.
const noMoreVisits = math.MinInt64 / 2

// visit keeps the memory that the actor shares with the device until endVisit. It is false
// if that memory is given back, or about to be. Those who hold queue.mu or receiving and
// see that the rings are not detached need no visit, nor do those who have claimed a
// ticket and not yet marked or freed it.
func (d *delivery) visit() bool {
	if d.visitors.Add(1) > 0 {
		return true
	}
	d.visitors.Add(-1)
	return false
}

func (d *delivery) endVisit() { d.visitors.Add(-1) }

// visited reports whether there are visitors, of whom no more come. detach was called.
func (d *delivery) visited() bool { return d.visitors.Load() != noMoreVisits }

// kick has the server look for messages, unless the actor has no memory any more.
func (c *core) kick() {
	if c.visit() {
		c.server.kick()
		c.endVisit()
	}
}

// mailbox is that of a priority.
func (d *delivery) mailbox(priority uint8) *mailbox {
	if len(d.mailboxes) == 1 {
		return d.mailboxes[0]
	}
	return d.mailboxes[priority>>levelBits]
}

// levelBits are those of a priority that its level leaves out.
const levelBits = 5

// replies reports whether a handler that ended with an outcome has replied.
func replies(outcome uint32) bool {
	return outcome == uint32(kernel.Reply) || outcome == uint32(kernel.ReplyAndStop)
}

// pending is a message that is asked for: in the queue as long as it has an entry,
// then in a ring.
type pending struct {
	m        *mailbox
	ticket   uint64
	entry    *entry
	deadline int64
}

// enter accepts a message, and waits for room if that is the policy.
func (c *core) enter(ctx context.Context, op string, e *envelope, use uint64, msg unsafe.Pointer) (pending, error) {
	if c.refs != nil {
		if err := c.refs.Retain(noescape(msg)); err != nil {
			return pending{}, c.about(op, err)
		}
	}
	p, err := c.admit(ctx, op, e, use, msg)
	if err != nil && c.refs != nil {
		c.refs.Release(noescape(msg)) // reads numbers, as retain does
	}
	if c.parked.Load() != 0 {
		c.wakeReceiver()
	}
	return p, err
}

func (c *core) admit(ctx context.Context, op string, e *envelope, use uint64, msg unsafe.Pointer) (pending, error) {
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

// queueFull is the error of messages that are rejected, which may be many.
func (c *core) queueFull() error {
	c.saysFull.Do(func() {
		c.isFull = fmt.Errorf("ring: actor %s: %w: %d messages wait; send later, or spawn it with a larger Capacity or another policy", c.name, ErrQueueFull, c.capacity)
		c.isUnheard = fmt.Errorf("ring: actor %s: %w: %d messages wait for room, for %d replies or more wait to be received; receive them, or send with Tell what needs no reply", c.name, ErrQueueFull, c.capacity, c.capacity)
	})
	if c.unheard() {
		return c.isUnheard
	}
	return c.isFull
}

// unheard reports whether nobody receives replies, and no more can be stored.
func (d *delivery) unheard() bool {
	if !d.receiving.tryLock() {
		return false // somebody does
	}
	defer d.receiving.unlock()
	return d.stashed >= d.capacity
}

// direct reports whether messages may go into the rings without a look at the
// queue.
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

// enqueue puts a message into the queue, or into its ring if all that were before
// it are there. It reports whether there was room. An actor that is terminating has
// room for messages only that its mailbox on the device has taken.
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

// push puts a message into the queue, whose lock is held.
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

// enqueueMany puts messages into the queue as long as there is room, and returns
// how many. It is not for actors that drop messages, or messages with references.
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

// send accepts messages that lie one after the other, and returns how many.
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
			if t, got := m.claim(n-i, false); got > 0 {
				m.arrive(t, got)
				for k := range got {
					m.put(t+uint64(k), e, unsafe.Add(msg, uintptr(k)*c.inSize))
				}
				// An atomic store waits for those before it: the messages' lines come
				// from the device, which has looked at them.
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
		if _, err := c.enter(ctx, op, e, use, msg); err != nil {
			return i, err
		}
		i++
	}
	return n, nil
}

// waiting counts the messages that count for the capacity. The queue's lock is
// held.
func (d *delivery) waiting() int {
	n := d.queue.Len()
	if d.full != DropOldest {
		n += d.inRings()
	}
	return n
}

// inRings counts the messages in the rings that are not handled.
func (d *delivery) inRings() (n int) {
	for _, m := range d.mailboxes {
		n += m.queued()
	}
	return n
}

// advance moves messages from the queue to the rings, in order, while there is room. The
// queue's lock is held.
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

// pull moves the first message of the queue to the only ring, if there is one and the ring
// has room.
func (c *core) pull() (e envelope, ticket uint64, ok bool) {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	return c.moveFirst()
}

// moveFirst moves the first message of the queue that has not expired to its ring, if the
// ring has room. The queue's lock is held.
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

// makeRoom stashes replies that are in the way of messages, and reports whether
// there were any. If somebody receives they go without that. The queue's lock is held.
func (c *core) makeRoom(m *mailbox) (made bool) {
	if !c.receiving.tryLock() {
		return false
	}
	defer c.receiving.unlock()
	return c.stash(m, c.capacity)
}

// keepReplies stashes all replies, of an actor that has ended. The queue's lock is held,
// and receiving.
func (c *core) keepReplies() {
	for _, m := range c.mailboxes {
		c.stash(m, math.MaxInt)
	}
}

// stash moves replies that Receive has not looked at out of a ring, until there are so
// many, and reports whether there were any. The queue's lock is held, and receiving.
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

// refill moves messages from the queue to the rings if there are any, and sees to
// it that those for which there is no room follow.
func (c *core) refill() {
	if c.pulls {
		c.pullNext()
		return
	}
	if c.queue.Len() == 0 || !c.queue.mu.TryLock() {
		return // or another does it
	}
	defer c.queue.mu.Unlock()
	c.advance()
	c.keepMoving()
}

// pullNext has a server that pulls look for messages in the queue, after a slot has
// become free: it may have found none, and then it waits to be told.
func (c *core) pullNext() {
	if c.pulls && c.queue.Len() != 0 {
		c.server.kick()
	}
}

// keepMoving has a goroutine move what is in the queue. The queue's lock is held.
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

// Messages and replies pass through the methods of a core as unsafe.Pointer, since a
// core does not know their types. These methods call others through interfaces, which
// would make every message and every reply escape: an allocation for each. The two
// functions here avoid that without hiding what a message points to. An actor and its core
// have the same types In and Out, since nothing but newActor and the constructors join
// them: so whoever converts such a pointer back converts it to what it was.
//
// The rule: a method that gets a pointer from noescape copies the value in its own
// type, with assignments that the garbage collector sees, and does not keep the
// pointer. Whatever the copy points to is then reachable from the heap, so it must not
// live on the sender's stack: who sends calls escapes first. Replies need no such call:
// they come from the heap.

// noescape hides p from escape analysis. The callee must not keep p; see above. p may
// point into a stack: that moves only where a function is called, and then every
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

// sink is where escapes assigns to. It never does, but the compiler cannot know.
var sink struct {
	taken bool
	value any
}
