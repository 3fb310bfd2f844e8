package ring

import (
	"context"
	"iter"
	"sync/atomic"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// Actor is an actor that takes messages of type In and replies with Out. It is
// safe for concurrent use. Messages of one sender are handled in the order in
// which they were sent, if they have the same priority.
type Actor[In, Out any] struct {
	core  *core
	level int // of the messages that are sent
}

// Priorities.
const (
	DefaultPriority = 128
	MaxPriority     = 255
)

// Priority returns the actor for messages of a priority from 0 to MaxPriority,
// higher ones first. Receive, too, then returns replies to messages of that
// priority. An actor that was spawned with one level has one priority.
func (a *Actor[In, Out]) Priority(p int) (*Actor[In, Out], error) {
	levels := len(a.core.mailboxes)
	switch {
	case p < 0 || p > MaxPriority:
		return nil, invalid("a priority of %d; it is 0 to %d", p, MaxPriority)
	case levels == 1 && p != DefaultPriority:
		return nil, invalid("actor %s has one level of priority; set Levels in its options", a.core.name)
	}
	return &Actor[In, Out]{core: a.core, level: p * levels / (MaxPriority + 1)}, nil
}

func (a *Actor[In, Out]) mailbox() *mailbox { return a.core.mailboxes[a.level] }

// core is an actor without its types.
type core struct {
	rt              *Runtime
	name            string
	full            Policy
	initial         any // state
	inSize, outSize uintptr

	cohort    *cohort
	block     int
	mailboxes []*mailbox // by level

	supervisor func(Failure) Decision

	failures, restarts atomic.Uint64
	handler            histogram // cycles

	state  atomic.Uint32
	reason atomic.Pointer[error] // why it has failed
}

func newCore[In, Out any](rt *Runtime, o Options) *core {
	var in In
	var out Out
	return &core{rt: rt, name: o.Name, full: o.Full, initial: o.State, supervisor: o.Supervisor, inSize: unsafe.Sizeof(in), outSize: unsafe.Sizeof(out)}
}

// replies reports whether a handler that ended with an outcome has replied.
func replies(outcome uint32) bool {
	return outcome == uint32(kernel.Reply) || outcome == uint32(kernel.ReplyAndStop)
}

// Name returns the actor's name.
func (a *Actor[In, Out]) Name() string { return a.core.name }

// State returns the actor's state.
func (a *Actor[In, Out]) State() State { return a.core.current() }

// Info returns what is known of the actor.
func (a *Actor[In, Out]) Info() Info { return a.core.info() }

// Ask sends a message and waits for the reply to it. Cancelling ctx ends the wait;
// the message may still be handled. Without a reply the error is [ErrNoReply], or a
// [*HandlerError] if the handler failed.
func (a *Actor[In, Out]) Ask(ctx context.Context, msg In) (reply Out, err error) {
	c, m := a.core, a.mailbox()
	ticket, err := c.enter(ctx, "ask", m, asked, unsafe.Pointer(&msg))
	if err != nil {
		return reply, err
	}
	if err := c.await(ctx, "ask", m, ticket); err != nil {
		m.abandon(ticket)
		return reply, err
	}
	outcome := m.outcome(ticket)
	if replies(outcome) {
		m.take(ticket, unsafe.Pointer(&reply))
		c.handler.add(m.cycles(ticket))
		m.free(ticket)
		return reply, nil
	}
	m.free(ticket)
	return reply, c.unanswered(ticket, outcome)
}

// Send sends a message. The reply, if there is one, waits for [Actor.Receive] and
// keeps its place in the mailbox until then.
func (a *Actor[In, Out]) Send(ctx context.Context, msg In) error {
	_, err := a.core.enter(ctx, "send", a.mailbox(), sent, unsafe.Pointer(&msg))
	a.core.kick()
	return err
}

// SendBatch sends messages and returns how many: all, or those before the first
// that could not be sent.
func (a *Actor[In, Out]) SendBatch(ctx context.Context, msgs []In) (int, error) {
	defer a.core.kick()
	for i := range msgs {
		if _, err := a.core.enter(ctx, "send", a.mailbox(), sent, unsafe.Pointer(&msgs[i])); err != nil {
			return i, err
		}
	}
	return len(msgs), nil
}

// Tell sends a message whose reply nobody needs.
func (a *Actor[In, Out]) Tell(ctx context.Context, msg In) error {
	_, err := a.core.enter(ctx, "tell", a.mailbox(), unheard, unsafe.Pointer(&msg))
	a.core.kick()
	return err
}

// Receive returns the next reply to a message that was sent with [Actor.Send], in
// the order in which they were. If the handler failed on a message that is the
// error, once, a [*HandlerError].
func (a *Actor[In, Out]) Receive(ctx context.Context) (reply Out, err error) {
	one := [1]Out{}
	_, err = a.ReceiveBatch(ctx, one[:])
	return one[0], err
}

// ReceiveBatch waits for one reply, as [Actor.Receive] does, and takes with it as
// many as are there and replies has room for. It returns how many; those before an
// error are valid.
func (a *Actor[In, Out]) ReceiveBatch(ctx context.Context, replies []Out) (int, error) {
	c, m := a.core, a.mailbox()
	m.receiving.Lock()
	defer m.receiving.Unlock()
	for n := range replies {
		ticket, ok, err := c.next(ctx, m, n > 0)
		if !ok {
			return n, err
		}
		m.take(ticket, unsafe.Pointer(&replies[n]))
		c.handler.add(m.cycles(ticket))
		m.free(ticket)
		m.received.Store(ticket + 1)
	}
	return len(replies), nil
}

// Replies returns the replies that Receive does, until ctx is cancelled or the
// caller stops; an error is the last.
func (a *Actor[In, Out]) Replies(ctx context.Context) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		for {
			reply, err := a.Receive(ctx)
			if !yield(reply, err) || err != nil {
				return
			}
		}
	}
}

func (c *core) current() State { return State(c.state.Load()) }

func (c *core) setState(s State) { c.state.Store(uint32(s)) }

// runs reports whether the actor's loop is to run.
func (c *core) runs() bool {
	s := c.current()
	return s == Active || s == Terminating
}

// cause returns why the actor is in its state, or nil.
func (c *core) cause() error {
	if e := c.reason.Load(); e != nil {
		return *e
	}
	return nil
}

// fail notes that the handler has failed.
func (c *core) fail(err error) {
	c.reason.Store(&err)
	n := c.failures.Add(1)
	c.setState(Failed)
	if c.supervisor != nil {
		c.rt.supervisors.Go(func() { c.supervise(Failure{Actor: c.name, Err: err, Count: n}) })
	}
}

// stopped notes that the handler has stopped the actor.
func (c *core) stopped() { c.setState(Terminated) }

// denied is the error of an operation that the state does not allow.
func (c *core) denied(op string) error {
	return &StateError{Actor: c.name, State: c.current(), Op: op, Err: c.cause()}
}

// unanswered is the error of a message that has no reply.
func (c *core) unanswered(ticket uint64, outcome uint32) error {
	switch outcome {
	case actor.HandlerFailed:
		if c.runs() { // the launch has not been looked at yet
			if err := c.cohort.restart(); err != nil {
				return err
			}
		}
		return &HandlerError{Actor: c.name, Ticket: ticket, Err: c.cause()}
	default:
		return ErrNoReply
	}
}

// enter puts a message into the mailbox, and waits for room if that is the policy.
func (c *core) enter(ctx context.Context, op string, m *mailbox, use uint64, msg unsafe.Pointer) (uint64, error) {
	var p patience
	for {
		if !c.current().open() {
			return 0, c.denied(op)
		}
		ticket, ok := c.offer(m, use, msg)
		if ok {
			return ticket, nil
		}
		if c.full == Reject {
			return 0, ErrQueueFull
		}
		c.kick()
		if p.pause() {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
	}
}

// offer puts a message into the mailbox if there is room.
func (c *core) offer(m *mailbox, use uint64, msg unsafe.Pointer) (uint64, bool) {
	if m.shared {
		c.cohort.mu.Lock()
		defer c.cohort.mu.Unlock()
	}
	ticket, ok := m.claim(use)
	if ok {
		m.put(ticket, msg)
	}
	return ticket, ok
}

// kick makes sure that messages are handled that nobody waits for.
func (c *core) kick() {
	switch h := c.cohort; {
	case !h.resident:
		h.kick()
	case atomic.LoadUint64(h.left(c.block)) != 0: // the loop has left by itself
		if err := h.watch(); err != nil {
			c.rt.note(err)
		}
	}
}

// await waits until a ticket is handled.
func (c *core) await(ctx context.Context, op string, m *mailbox, ticket uint64) error {
	var p patience
	for {
		done, err := c.handled(m, ticket)
		if done || err != nil {
			return err
		}
		if p.pause() {
			c.kick()
			if err := ctx.Err(); err != nil {
				return err
			}
			if s := c.current(); s == Failed || s == Terminated {
				if done, err := c.handled(m, ticket); done || err != nil {
					return err
				}
				return c.denied(op)
			}
		}
	}
}

// handled reports whether a ticket is handled, after it has had the mailbox served
// where no launch is resident.
func (c *core) handled(m *mailbox, ticket uint64) (bool, error) {
	if c.cohort.resident {
		return m.handled(ticket), nil
	}
	h := c.cohort
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.handled(ticket) {
		return true, nil
	}
	if h.closed || h.holds > 0 || !c.runs() {
		return false, nil
	}
	if err := h.begin(); err != nil {
		return false, err
	}
	err := h.end(context.Background())
	return m.handled(ticket), err
}

// next waits for the next ticket with a reply for Receive; if there is one only
// without waiting, ok is false. The caller takes the reply.
func (c *core) next(ctx context.Context, m *mailbox, ready bool) (ticket uint64, ok bool, err error) {
	var p patience
	for {
		t := m.received.Load()
		switch v := m.slot(t).Load(); {
		case t == m.tail.Load() || v == t<<useBits: // not sent yet
		case v>>useBits > t || v&useMask != sent:
			m.received.Store(t + 1)
			continue
		default:
			done, err := c.handled(m, t)
			if err != nil {
				return 0, false, err
			}
			if !done {
				break
			}
			outcome := m.outcome(t)
			if replies(outcome) {
				return t, true, nil
			}
			if ready && outcome > uint32(kernel.ReplyAndStop) {
				return 0, false, nil // the error is for the next call
			}
			m.free(t)
			m.received.Store(t + 1)
			if err := c.unanswered(t, outcome); err != ErrNoReply {
				return 0, false, err
			}
			continue
		}
		if ready {
			return 0, false, nil
		}
		if p.pause() {
			c.kick()
			if err := ctx.Err(); err != nil {
				return 0, false, err
			}
			if s := c.current(); (s == Failed || s == Terminated) && m.received.Load() == t {
				if done, _ := c.handled(m, t); !done || t == m.tail.Load() {
					return 0, false, c.denied("receive")
				}
			}
		}
	}
}
