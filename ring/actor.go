package ring

import (
	"context"
	"fmt"
	"iter"
	"unsafe"

	"quern.dev/ring/actor"
	"quern.dev/ring/internal/payload"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/queue"
)

// Actor is an actor that takes messages of type In and replies with Out. It is safe
// for concurrent use. Messages of one sender with the same priority are handled in
// the order in which they were sent.
type Actor[In, Out any] struct{ core *core }

// core is an actor without its types.
type core struct {
	rt      *Runtime
	box     post.Box // receives messages from actors on the device
	routing routing  // of its replies

	initial         any // state that the actor was spawned with
	inSize, outSize uintptr

	server server
	delivery
	life
	meter meter
}

// identity distinguishes an actor, and its messages, from others of a runtime.
type identity struct {
	name   string
	number uint32 // from 1; no other actor of the runtime has it or had it
	ids    idRange
}

func newCore[In, Out any](rt *Runtime, o Options) *core {
	var in In
	var out Out
	c := &core{rt: rt, initial: o.State, life: newLife[In, Out](rt, &o), inSize: unsafe.Sizeof(in), outSize: unsafe.Sizeof(out)}
	c.delivery.open(&o, queue.BodiesOf[In](), func() (queue.Untyped, unsafe.Pointer) { return &queue.FIFO[Out]{}, unsafe.Pointer(new(Out)) })
	c.refs = payload.ReferencesIn[In](rt.payloads.m, rt.record)
	c.meter.start(rt.perCycle)
	return c
}

// newActor returns the actor with core c. In and Out must be the types of c.
func newActor[In, Out any](c *core) *Actor[In, Out] { return &Actor[In, Out]{core: c} }

// Ref returns a reference to the actor for actors on the device. The reference of a
// host actor is zero if its messages are not plain data or are larger than
// actor.MaxMessage.
func (a *Actor[In, Out]) Ref() actor.Ref[In] {
	c, err := a.made("ref")
	if err != nil {
		return actor.Ref[In]{}
	}
	c.rt.referred.Store(true)
	if h, ok := c.server.(*hostActor); ok {
		return ref[In](h.box(), c)
	}
	return ref[In](c.box.Number, c)
}

func ref[M any](box uint32, c *core) actor.Ref[M] {
	if box == 0 {
		return actor.Ref[M]{}
	}
	return actor.Ref[M]{Mailbox: box, Actor: c.number}
}

// refWord returns a Ref in the form of a word of the post memory.
func refWord[M any](r actor.Ref[M]) uint64 { return uint64(r.Actor)<<32 | uint64(r.Mailbox) }

// Name returns the actor's name.
func (a *Actor[In, Out]) Name() string {
	if c, err := a.made("name"); err == nil {
		return c.name
	}
	return ""
}

// State returns the actor's state.
func (a *Actor[In, Out]) State() State {
	if c, err := a.made("state"); err == nil {
		return c.current()
	}
	return Terminated
}

// Info returns the current status of the actor.
func (a *Actor[In, Out]) Info() Info {
	c, err := a.made("info")
	if err != nil {
		return Info{State: Terminated, Err: err}
	}
	return c.info()
}

// Ask sends a message and waits for the reply. Cancelling ctx ends the wait; the message
// may still be handled. The error is [ErrNoReply] if the handler did not reply, a
// [*HandlerError] if it failed, [ErrExpired] or [ErrDropped] if the message did not
// reach the handler, and a [*StateError] if the actor failed or ended first. If ctx
// cannot be cancelled, the caller may run a handler on the CPU itself, and Ask returns
// when that handler does.
func (a *Actor[In, Out]) Ask(ctx context.Context, msg In, opts ...MessageOption) (reply Out, err error) {
	ctx = orBackground(ctx)
	p, err := a.post(ctx, "ask", asked, &msg, opts)
	if err != nil {
		return reply, err
	}
	return a.collect(ctx, p)
}

// post sends a message.
func (a *Actor[In, Out]) post(ctx context.Context, op string, use uint64, msg *In, opts []MessageOption) (pending, error) {
	ctx = orBackground(ctx)
	c, err := a.usable(ctx, op)
	if err != nil {
		return pending{}, err
	}
	escapes(msg)
	return c.post(ctx, op, use, unsafe.Pointer(msg), opts) // *msg is an In, the type of c's messages
}

// collect waits for the reply to a message of Ask.
func (a *Actor[In, Out]) collect(ctx context.Context, p pending) (reply Out, err error) {
	if err := a.core.collect(ctx, "ask", p, unsafe.Pointer(&reply)); err != nil {
		var none Out
		return none, err
	}
	return reply, nil
}

// Send sends a message. A reply is kept until [Actor.Receive] takes it. An actor
// handles no more messages while its rings are full of replies and Capacity more
// replies are waiting.
func (a *Actor[In, Out]) Send(ctx context.Context, msg In, opts ...MessageOption) error {
	_, err := a.post(ctx, "send", sent, &msg, opts)
	return err
}

// SendBatch sends messages with the same options. It returns the number of messages
// sent: all of them, or those before the first that could not be sent.
func (a *Actor[In, Out]) SendBatch(ctx context.Context, msgs []In, opts ...MessageOption) (int, error) {
	ctx = orBackground(ctx)
	c, err := a.usable(ctx, "send")
	if err != nil || len(msgs) == 0 {
		return 0, err
	}
	e, err := c.address("send", opts)
	if err == nil && e.id != 0 && len(msgs) > 1 {
		err = invalid("ID is the number of one message, and the batch has %d", len(msgs))
	}
	if err != nil {
		return 0, err
	}
	e.signFrom(ctx, c.rt)
	escapes(&msgs[0])                                                                       // escape analysis does not distinguish elements
	return c.send(ctx, "send", &e, sent, unsafe.Pointer(unsafe.SliceData(msgs)), len(msgs)) // the elements are inSize bytes apart
}

// Tell sends a message and discards the reply.
func (a *Actor[In, Out]) Tell(ctx context.Context, msg In, opts ...MessageOption) error {
	_, err := a.post(ctx, "tell", unheard, &msg, opts)
	return err
}

// Receive returns the next reply to a message that was sent with [Actor.Send]. Replies
// to messages of one priority come in the order of these messages. If the handler
// failed on a message, Receive returns a [*HandlerError] for it, once. It skips
// messages without a reply; those that expired or were dropped are dead letters. If a
// reply is available, Receive returns it even if ctx is cancelled, so a cancelled
// context makes it a poll.
func (a *Actor[In, Out]) Receive(ctx context.Context) (reply Out, err error) {
	_, err = a.receive(ctx, unsafe.Pointer(&reply), 1, nil)
	return reply, err
}

// ReceiveMessage is [Actor.Receive] with the metadata of the message.
func (a *Actor[In, Out]) ReceiveMessage(ctx context.Context) (Message[Out], error) {
	var m Message[Out]
	var head heading
	if _, err := a.receive(ctx, unsafe.Pointer(&m.Body), 1, &head); err != nil {
		return Message[Out]{}, err
	}
	m.ID, m.Correlation, m.Priority, m.Sender = head.id, head.correlation, int(head.priority), a.core.rt.messages.nameOf(head.sender)
	return m, nil
}

// ReceiveBatch waits for one reply, as [Actor.Receive] does, and also takes all other
// available replies that fit. It returns the number of replies. Replies before an
// error are valid.
func (a *Actor[In, Out]) ReceiveBatch(ctx context.Context, replies []Out) (int, error) {
	return a.receive(ctx, unsafe.Pointer(unsafe.SliceData(replies)), len(replies), nil)
}

func (a *Actor[In, Out]) receive(ctx context.Context, replies unsafe.Pointer, n int, head *heading) (int, error) {
	c, err := a.made("receive")
	if err != nil || n == 0 {
		return 0, err
	}
	return c.receive(orBackground(ctx), replies, n, head)
}

// Replies yields the replies that Receive returns, until ctx is cancelled or the
// caller stops. An error is the last element.
func (a *Actor[In, Out]) Replies(ctx context.Context) iter.Seq2[Out, error] {
	return sequence(ctx, a.Receive)
}

// Messages yields the messages that ReceiveMessage returns, until ctx is cancelled or
// the caller stops. An error is the last element.
func (a *Actor[In, Out]) Messages(ctx context.Context) iter.Seq2[Message[Out], error] {
	return sequence(ctx, a.ReceiveMessage)
}

func sequence[T any](ctx context.Context, receive func(context.Context) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := receive(ctx)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// post accepts a message with options.
func (c *core) post(ctx context.Context, op string, use uint64, msg unsafe.Pointer, opts []MessageOption) (pending, error) {
	e := envelope{priority: DefaultPriority}
	if len(opts) > 0 {
		var err error
		if e, err = c.address(op, opts); err != nil {
			return pending{}, err
		}
	}
	e.signFrom(ctx, c.rt)
	if !c.visit() {
		return pending{}, c.denied(op, false)
	}
	defer c.endVisit()
	p, err := c.enter(ctx, op, &e, use, msg, true)
	if op != "ask" { // the caller of Ask makes sure itself that the message is handled
		c.server.kick()
	}
	return p, err
}

// askIfRoom accepts a message of Ask with the default options, and makes sure that it is
// handled. It does not wait: the error is errNoRoom if there is no room for the message.
func (c *core) askIfRoom(ctx context.Context, msg unsafe.Pointer) (pending, error) {
	e := envelope{priority: DefaultPriority}
	e.signFrom(ctx, c.rt)
	if !c.visit() {
		return pending{}, c.denied("ask", false)
	}
	defer c.endVisit()
	p, err := c.enter(ctx, "ask", &e, asked, msg, false)
	c.server.kick()
	return p, err
}

func (l *life) current() State { return State(l.state.Load()) }

func (l *life) setState(s State) {
	if State(l.state.Swap(uint32(s))) != s {
		l.traces.Mark(l.name, s.String(), 0, "")
	}
}

// move changes the state to to if it is from.
func (l *life) move(from, to State) bool {
	moved := l.state.CompareAndSwap(uint32(from), uint32(to))
	if moved {
		l.traces.Mark(l.name, to.String(), 0, "")
	}
	return moved
}

// State is the state of an actor:
//
//	created -> launched -> active <-> deactivated -> terminating -> terminated
//	                          \-> failed -> active (restarted) or terminated
type State uint32

// States.
const (
	Created     State = iota // the actor has a mailbox
	Launched                 // it also has a place on the device
	Active                   // it handles messages
	Deactivated              // it keeps messages, but handles none
	Terminating              // it handles the messages that it has, but accepts none
	Terminated               // it handles and accepts none
	Failed                   // its handler has failed; it keeps its messages, but handles and accepts none
)

var stateNames = [...]string{"created", "launched", "active", "deactivated", "terminating", "terminated", "failed"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// open reports whether an actor in state s accepts messages.
func (s State) open() bool { return s == Active || s == Deactivated || s == Launched }

// over reports whether an actor in state s has accepted its last message.
func (s State) over() bool { return s == Terminating || s == Terminated }

// Methods of nil pointers and zero values of the package's types return errors, or zero
// values if they have no error result.

// made returns the actor's core, or an error if there is none.
func (a *Actor[In, Out]) made(op string) (*core, error) {
	if a == nil || a.core == nil {
		return nil, notMade(op, "actor")
	}
	return a.core, nil
}

// usable is made for an operation with a context.
func (a *Actor[In, Out]) usable(ctx context.Context, op string) (*core, error) {
	c, err := a.made(op)
	if err != nil {
		return nil, err
	}
	return c, c.usable(ctx, op)
}

// usable returns an error if an operation with a context cannot begin.
func (c *core) usable(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return c.about(op, err)
	}
	return nil
}

// orBackground returns ctx, or context.Background if it is nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// made reports whether the runtime is not the zero value.
func (rt *Runtime) made() bool { return rt != nil && (rt.dev != nil || rt.actors != nil) }

// usable returns an error if an operation cannot begin.
func (rt *Runtime) usable(op string) error {
	if !rt.made() {
		return notMade(op, "runtime")
	}
	return nil
}

// usable returns an error if an operation cannot begin.
func (g *Group[M]) usable(op string) error {
	if g == nil || g.rt == nil {
		return notMade(op, "group")
	}
	return nil
}

func notMade(op, what string) error {
	return fmt.Errorf("ring: %s: %w: the %s is nil or a zero value; use the functions of package ring that make one", op, ErrInvalid, what)
}
