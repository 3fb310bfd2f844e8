package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/calls"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/payload"
	"quern.dev/ring/internal/rings"
)

// SpawnHost makes an actor whose handler is an ordinary Go function. It is used like
// an actor on the device, and the two kinds can send messages to each other. Messages
// and replies may be of any type, except for messages from actors on the device: see
// [Actor.Ref].
//
// The handler is called with one message at a time, on a goroutine of the runtime. It
// keeps its state in captured variables; Options.State, Batch, Spin and MaxPause are
// not used. Options.Capacity limits the messages from actors on the device too. in
// and out belong to the handler until it returns; out is zero at the call. ctx has
// the values of the context that was passed to SpawnHost, and is cancelled when the
// handler must return because the actor ends. Messages that are sent with ctx have
// the actor as their sender.
//
// A handler that panics, or ends its goroutine, fails with a [*PanicError]. A handler
// that does not return within Options.HandlerTimeout fails with a [*StuckError]; the
// actor can be restarted once the handler does return.
func SpawnHost[In, Out any](ctx context.Context, rt *Runtime, handler func(ctx context.Context, c *HostContext, in *In, out *Out) kernel.Action, o Options) (*Actor[In, Out], error) {
	ctx = orBackground(ctx)
	name := cmp.Or(o.Name, "host")
	if err := spawns(ctx, rt, name); err != nil {
		return nil, err
	}
	switch {
	case handler == nil:
		return nil, during("spawn "+name, invalid("the handler is nil"))
	case o.State != nil:
		return nil, during("spawn "+name, invalid("the state of a handler in Go is what it captures; Options.State is a %T", o.State))
	}
	if err := during("spawn "+shown(name), o.normalise()); err != nil {
		return nil, err
	}
	c := newCore[In, Out](rt, o)
	c.meter.start(1)
	if err := rt.reserve(c, "host"); err != nil {
		return nil, err
	}
	rt.hosts.Store(true)
	serveOnHost(ctx, c, &o, handler)
	c.setState(Launched)
	if !o.Inactive {
		c.setState(Active)
	}
	if err := rt.enrol(c); err != nil {
		return nil, err
	}
	return newActor[In, Out](c), nil
}

// HostContext describes the message that a host actor is handling. It is valid until
// the handler returns. It is a [Sender].
type HostContext struct {
	core *core
	envelope
	id uint64
}

// get returns the zero HostContext if c is nil.
func (c *HostContext) get() HostContext {
	if c == nil {
		return HostContext{}
	}
	return *c
}

// ID returns the ID of the message, which is unique in the runtime.
func (c *HostContext) ID() uint64 { return c.get().id }

// Correlation returns the correlation ID that the sender gave the message, or 0.
func (c *HostContext) Correlation() uint64 { return c.get().correlation }

// Priority returns the message's priority.
func (c *HostContext) Priority() int { return int(c.get().priority) }

// Sender returns the name of the actor that sent the message, "" for the program.
func (c *HostContext) Sender() string {
	if c == nil || c.core == nil {
		return ""
	}
	return c.core.rt.messages.nameOf(c.envelope.sender)
}

// Deadline returns the time at which the message expires, if it has a deadline.
func (c *HostContext) Deadline() (time.Time, bool) {
	if c == nil || c.core == nil || c.deadline == 0 {
		return time.Time{}, false
	}
	return time.Now().Add(time.Duration(c.deadline - c.core.rt.clock())), true
}

// Name returns the actor's name.
func (c *HostContext) Name() string {
	if a := c.sender(); a != nil {
		return a.name
	}
	return ""
}

// Runtime returns the actor's runtime.
func (c *HostContext) Runtime() *Runtime {
	if a := c.sender(); a != nil {
		return a.rt
	}
	return nil
}

func (c *HostContext) sender() *core { return c.get().core }

// hostSlots is the maximum number of replies of a host actor that wait for Receive.
// At that number the actor handles no more messages.
const hostSlots = 256

// hostActor is the server of a host actor. A goroutine calls the handler as long as
// there are messages. Messages stay in the queue until the goroutine takes them.
type hostActor struct {
	actor   *core
	mailbox *mailbox
	handler handler
	calls   *calls.Calls

	// Used only by the goroutine, during a call.
	context HostContext
	ticket  uint64
	slot    int
	kept    bool         // the handler has postponed the message
	again   backoff.Wait // pause between calls with the same message

	inboxMu sync.Mutex
	inbox   atomic.Pointer[inbox] // for messages from actors on the device; created with inboxMu held
}

// handler is a handler in Go with its message and its reply.
type handler interface {
	load(slot int) // copies the message in a slot for the next calls
	call(ctx context.Context, c *HostContext) kernel.Action
	store(slot int) // copies the reply to a slot
}

// serveOnHost makes a hostActor the server of c. The types must be those of c.
func serveOnHost[In, Out any](ctx context.Context, c *core, o *Options, handle func(context.Context, *HostContext, *In, *Out) kernel.Action) {
	h := &hostActor{actor: c, context: HostContext{core: c}}
	base := context.WithValue(context.WithoutCancel(ctx), senderKey{}, c)
	h.calls = calls.New(base, o.HandlerTimeout, h.step, func(after time.Duration) { c.stall(h.overdue(after)) })
	slots := min(o.slots(), hostSlots)
	const inStep, outStep = 8 * mail.InHeader, 8 * mail.OutHeader
	// The last slots also need a valid pointer to where the message would begin.
	in, out := make([]uint64, slots*mail.InHeader+1), make([]uint64, slots*mail.OutHeader+1)
	h.mailbox = newMailbox(c, rings.Inbox{At: unsafe.Pointer(unsafe.SliceData(in)), Step: inStep, Mask: uint64(slots - 1), Shared: true},
		rings.Outbox{At: unsafe.Pointer(unsafe.SliceData(out)), Step: outStep, Mask: uint64(slots - 1)}, 0)
	h.mailbox.arrivals = newArrivals(slots)
	values := &hostValues[In, Out]{in: make([]In, slots), out: make([]Out, slots), refs: c.refs, handle: handle}
	h.mailbox.values, h.handler = values, values
	c.mailboxes, c.roomy, c.pulls, c.server = []*mailbox{h.mailbox}, false, true, h
}

// senderKey is the context key for the actor whose handler got the context.
type senderKey struct{}

// signFrom makes a message without a sender come from the host actor whose handler
// got ctx, if there is one.
func (e *envelope) signFrom(ctx context.Context, rt *Runtime) {
	if e.sender != 0 || !rt.hosts.Load() {
		return
	}
	if c, ok := ctx.Value(senderKey{}).(*core); ok && c.rt == rt {
		e.sender = c.number
	}
}

// hostValues are the messages and replies of a host actor: those in the slots of its
// mailbox, and those of the current call. The handler gets copies, because it may still use
// them after the message was given up and its slot was reused.
type hostValues[In, Out any] struct {
	in   []In
	out  []Out
	refs *payload.References

	handle func(context.Context, *HostContext, *In, *Out) kernel.Action
	input  In
	output Out
}

// The pointers point to values of the slots' own types; see noescape. The copies are
// assignments of these types, so that the garbage collector sees them.
func (v *hostValues[In, Out]) put(slot int, msg unsafe.Pointer)     { v.in[slot] = *(*In)(msg) }
func (v *hostValues[In, Out]) message(slot int, msg unsafe.Pointer) { *(*In)(msg) = v.in[slot] }
func (v *hostValues[In, Out]) take(slot int, reply unsafe.Pointer)  { *(*Out)(reply) = v.out[slot] }

func (v *hostValues[In, Out]) clear(slot int) {
	if v.refs != nil {
		v.refs.Release(unsafe.Pointer(&v.in[slot]))
	}
	v.in[slot], v.out[slot] = *new(In), *new(Out)
}

func (v *hostValues[In, Out]) load(slot int)  { v.input = v.in[slot] }
func (v *hostValues[In, Out]) store(slot int) { v.out[slot] = v.output }

func (v *hostValues[In, Out]) call(ctx context.Context, c *HostContext) kernel.Action {
	v.output = *new(Out)
	action := v.handle(ctx, c, &v.input, &v.output)
	if action != kernel.Again {
		v.input = *new(In)
	}
	return action
}

func (h *hostActor) kick() { h.calls.Kick() }

// step handles one message, if there is one and the actor may handle it.
func (h *hostActor) step() bool {
	if h.kept {
		h.again.Pause()
	}
	if !h.calls.Begin() {
		return false
	}
	defer h.calls.End()
	if !h.actor.runs() || !h.kept && !h.next() {
		return false
	}
	h.call()
	return true
}

// next takes a message out of the queue.
func (h *hostActor) next() bool {
	c := h.actor
	h.collectInbox()
	e, ticket, ok := c.pull()
	if !ok {
		return false
	}
	h.context.envelope, h.context.id = e, h.mailbox.idOf(ticket, e.id)
	h.ticket, h.slot = ticket, int(ticket&h.mailbox.mask)
	h.mailbox.begin(ticket, 1, max(c.rt.clock(), 1))
	h.again = backoff.Yielding()
	return h.calls.Do(func() { h.handler.load(h.slot) })
}

var errGoexit = errors.New("the handler called runtime.Goexit")

// call calls the handler. If the handler calls runtime.Goexit, call does not return, but
// records the outcome like others.
func (h *hostActor) call() {
	began := h.actor.rt.clock()
	action, returned := kernel.Action(0), false
	defer func() {
		if returned {
			h.done(action, nil, began)
			return
		}
		v := recover()
		if v == nil {
			v = errGoexit
		}
		h.done(0, newPanicError(v), began)
	}()
	action = h.handler.call(h.calls.Start(), &h.context)
	returned = true
}

// done records the outcome of the message.
func (h *hostActor) done(action kernel.Action, err error, began int64) {
	c := h.actor
	took := c.rt.clock() - began
	if c.rt.traces.On() {
		c.rt.traces.Span(c.name, "message", time.Now().Add(-time.Duration(took)), 1)
	}
	if err == nil && action > kernel.Again {
		err = fmt.Errorf("the handler returned the unknown action %d", action)
	}
	h.kept = err == nil && action == kernel.Again
	switch {
	case err != nil:
		if h.answer(mail.HandlerFailed, err, took) {
			c.fail(err)
		}
	case h.kept:
	default:
		h.answer(uint32(action), nil, took)
		if action == kernel.Stop || action == kernel.ReplyAndStop {
			c.stopped()
		}
	}
}

// answer writes the outcome of the message, unless the message was given up when the
// actor ended. It reports whether it did. err is the error of the handler, if it
// failed.
func (h *hostActor) answer(outcome uint32, err error, took int64) bool {
	return h.calls.Do(func() {
		if err != nil {
			h.mailbox.failedOn(h.ticket, err)
		}
		if replies(outcome) {
			h.handler.store(h.slot)
		}
		h.mailbox.out.Answer(h.ticket, outcome, uint32(min(uint64(max(took, 1)), 1<<32-1)))
	})
}

func (h *hostActor) overdue(after time.Duration) error {
	return &StuckError{Actors: []string{h.actor.name}, After: after}
}

func (h *hostActor) handled(_ context.Context, m *mailbox, ticket uint64) (bool, error) {
	return m.handled(ticket), nil
}

// hold holds the actor, and waits for the end of the call, at most for the handler
// timeout of the runtime. If the actor has ended, it cancels the context of the
// handler.
func (h *hostActor) hold() error { return h.stop(h.actor.current() == Terminated) }

// stop is hold. last means that the handler is not called again.
func (h *hostActor) stop(last bool) error {
	err := h.calls.Hold(h.actor.rt.config.HandlerTimeout, last)
	if late, is := errors.AsType[*calls.LateError](err); is {
		return h.overdue(late.After)
	}
	if err != nil {
		return fmt.Errorf("ring: actor %s: %w", h.actor.name, err)
	}
	return nil
}

func (h *hostActor) resume() error {
	h.calls.Release(h.actor.runs())
	return nil
}

func (h *hostActor) renew(any) error { return nil }
func (h *hostActor) room() error     { return nil }

// quit stops the host for good.
func (h *hostActor) quit() error {
	err := h.stop(true)
	h.calls.Close()
	return err
}
