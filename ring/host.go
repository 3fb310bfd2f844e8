package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/payload"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/rings"
	"quern.dev/ring/internal/watchdog"
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
	if err := during("spawn "+name, o.normalise()); err != nil {
		return nil, err
	}
	c := newCore[In, Out](rt, o)
	c.meter.start(1)
	if err := rt.reserve(c, "host"); err != nil {
		return nil, err
	}
	rt.hosts.Store(true)
	h := newHost(ctx, c, &o)
	h.handle = handling(h, handler)
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
	handle  func(again bool) (kernel.Action, error) // handles the message in the slot of the ticket
	work    func()

	turn atomic.Int32 // state of the goroutine: resting, working or recalled

	mu      sync.Mutex
	holds   int
	closed  bool
	calling bool          // the handler is running, or about to be called
	given   bool          // the message of the running call was given up
	stuck   bool          // the call has exceeded the handler timeout
	idle    chan struct{} // closed when the call is over; nil if there is no waiter
	base    context.Context
	ctx     context.Context
	cancel  context.CancelFunc

	// Used only by the goroutine, during a call.
	context HostContext
	ticket  uint64
	slot    int
	kept    bool         // the handler has postponed the message
	again   backoff.Wait // pause between calls with the same message

	inboxMu sync.Mutex
	inbox   atomic.Pointer[inbox] // for messages from actors on the device; created with inboxMu held

	began atomic.Int64 // when the handler was called, by the runtime's clock; 0 if it is not running
	armed atomic.Bool  // the watchdog timer is running
	timer watchdog.Timer
	alarm alarm
}

// States of the goroutine.
const (
	resting  = iota
	working  // it is running
	recalled // it is running, and must check for messages once more before it ends
)

func newHost(ctx context.Context, c *core, o *Options) *hostActor {
	h := &hostActor{actor: c, timer: *watchdog.New(o.HandlerTimeout), base: context.WithoutCancel(ctx)}
	h.work = h.run
	h.alarm.host = new(atomic.Pointer[hostActor])
	h.context.core = c
	h.refresh()
	slots := min(o.slots(), hostSlots)
	const inStep, outStep = 8 * mail.InHeader, 8 * mail.OutHeader
	// The last slots also need a valid pointer to where the message would begin.
	in, out := make([]uint64, slots*mail.InHeader+1), make([]uint64, slots*mail.OutHeader+1)
	m := newMailbox(c, rings.Inbox{At: unsafe.Pointer(unsafe.SliceData(in)), Step: inStep, Mask: uint64(slots - 1), Shared: true},
		rings.Outbox{At: unsafe.Pointer(unsafe.SliceData(out)), Step: outStep, Mask: uint64(slots - 1)}, 0)
	m.arrivals = newArrivals(slots)
	h.mailbox = m
	c.mailboxes, c.roomy, c.pulls, c.server = []*mailbox{m}, false, true, h
	return h
}

// refresh makes a new context for the handler. The caller holds h.mu, or h is not
// shared yet.
func (h *hostActor) refresh() {
	h.ctx, h.cancel = context.WithCancel(context.WithValue(h.base, senderKey{}, h.actor))
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

// slots are the messages and replies in the slots of the mailbox.
type slots[In, Out any] struct {
	in   []In
	out  []Out
	refs *payload.References
}

// The pointers point to values of the slots' own types; see noescape. The copies are
// assignments of these types, so that the garbage collector sees them.
func (s *slots[In, Out]) put(slot int, msg unsafe.Pointer)     { s.in[slot] = *(*In)(msg) }
func (s *slots[In, Out]) message(slot int, msg unsafe.Pointer) { *(*In)(msg) = s.in[slot] }
func (s *slots[In, Out]) take(slot int, reply unsafe.Pointer)  { *(*Out)(reply) = s.out[slot] }

func (s *slots[In, Out]) clear(slot int) {
	if s.refs != nil {
		s.refs.Release(unsafe.Pointer(&s.in[slot]))
	}
	s.in[slot], s.out[slot] = *new(In), *new(Out)
}

// handling returns a function that calls a handler with the message at the host's
// ticket. The handler gets copies, because it may still use them after the message
// was given up.
func handling[In, Out any](h *hostActor, handler func(context.Context, *HostContext, *In, *Out) kernel.Action) func(again bool) (kernel.Action, error) {
	n := int(h.mailbox.mask) + 1
	s := &slots[In, Out]{in: make([]In, n), out: make([]Out, n), refs: h.actor.refs}
	h.mailbox.values = s
	in, out := new(In), new(Out)
	return func(again bool) (action kernel.Action, err error) {
		if !again {
			h.mu.Lock()
			*in = s.in[h.slot]
			h.mu.Unlock()
		}
		*out = *new(Out)
		returned := false
		defer func() {
			if returned {
				return
			}
			if v := recover(); v != nil {
				err = newPanicError(v)
				return
			}
			h.done(0, newPanicError(errGoexit)) // runtime.Goexit: this goroutine runs no further code
		}()
		action = handler(h.ctx, &h.context, in, out)
		returned = true
		if replies(uint32(action)) {
			h.mu.Lock()
			if !h.given {
				s.out[h.slot] = *out
			}
			h.mu.Unlock()
		}
		var msg In
		if action != kernel.Again {
			*in = msg
		}
		return action, nil
	}
}

var errGoexit = errors.New("the handler called runtime.Goexit")

// kick makes the goroutine check for messages.
func (h *hostActor) kick() {
	for {
		switch turn := h.turn.Load(); {
		case turn == recalled:
			return
		case turn == working && h.turn.CompareAndSwap(working, recalled):
			return
		case turn == resting && h.turn.CompareAndSwap(resting, working):
			go h.work()
			return
		}
	}
}

// run calls the handler as long as there are messages.
func (h *hostActor) run() {
	regular := false
	defer func() {
		if !regular { // the handler ended the goroutine
			h.turn.Store(resting)
			h.kick()
		}
	}()
	for {
		for h.step() {
		}
		if h.turn.CompareAndSwap(working, resting) {
			regular = true
			return
		}
		h.turn.Store(working)
	}
}

// step handles one message, if there is one and the actor may handle it.
func (h *hostActor) step() bool {
	c := h.actor
	h.mu.Lock()
	if h.closed || h.holds > 0 || !c.runs() {
		h.mu.Unlock()
		return false
	}
	h.calling, h.given = true, false
	h.mu.Unlock()
	if !h.kept {
		h.collectInbox()
		ok := false
		if h.context.envelope, h.ticket, ok = c.pull(); !ok {
			h.over()
			return false
		}
		h.context.id = c.idOf(&h.context.envelope, h.mailbox.source, h.ticket)
		h.slot = int(h.ticket & h.mailbox.mask)
	}
	began := max(c.rt.clock(), 1)
	if !h.kept {
		h.mailbox.begin(h.ticket, 1, began)
		h.again = backoff.Yielding()
	}
	h.began.Store(began)
	h.watch()
	action, err := h.handle(h.kept)
	h.done(action, err)
	if h.kept {
		h.again.Pause()
	}
	return true
}

// done records the outcome of the message.
func (h *hostActor) done(action kernel.Action, err error) {
	c := h.actor
	took := c.rt.clock() - h.began.Swap(0)
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
	h.over()
}

// answer writes the outcome of the message, unless the message was given up when the
// actor ended. It reports whether it did. err is the error of the handler, if it
// failed.
func (h *hostActor) answer(outcome uint32, err error, took int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.given {
		return false
	}
	if err != nil {
		h.mailbox.failedOn(h.ticket, err)
	}
	h.mailbox.out.Answer(h.ticket, outcome, uint32(min(uint64(max(took, 1)), 1<<32-1)))
	return true
}

// over ends a call.
func (h *hostActor) over() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calling, h.stuck = false, false
	if h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// watch starts the watchdog of a handler.
func (h *hostActor) watch() {
	if !h.armed.Load() && h.armed.CompareAndSwap(false, true) {
		h.timer.Stop()
		h.timer.Check(time.Now(), uint64(h.began.Load()))
		h.alarm.set(h.timer.Interval(), h)
	}
}

// alarm is the time of the watchdog's next check. Go's timers keep a reference to their
// function for a while, even after they are stopped, so the timer refers to the alarm
// and not to the host.
type alarm struct{ host *atomic.Pointer[hostActor] }

func (a *alarm) set(after time.Duration, h *hostActor) {
	a.host.Store(h)
	host := a.host
	time.AfterFunc(after, func() {
		if h := host.Load(); h != nil {
			h.check()
		}
	})
}

// unwatch stops the watchdog of a host that no longer calls its handler.
func (h *hostActor) unwatch() {
	if h.began.Load() == 0 {
		h.alarm.host.Store(nil)
	}
}

// check checks whether the handler has been running for too long.
func (h *hostActor) check() {
	runtime.Gosched()
	h.mu.Lock()
	defer h.mu.Unlock()
	began := h.began.Load()
	switch {
	case began == 0 || h.closed:
		h.armed.Store(false)
		if h.began.Load() != 0 && !h.closed {
			h.watch()
		}
	case !h.timer.Check(time.Now(), uint64(began)):
		h.alarm.set(h.timer.Interval(), h)
	default:
		h.armed.Store(false)
		if !h.stuck {
			h.stuck = true
			h.cancel()
			h.actor.stall(h.overdue(h.timer.Timeout))
		}
	}
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
func (h *hostActor) hold() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("ring: actor %s: %w", h.actor.name, ErrClosed)
	}
	h.holds++
	if h.actor.current() == Terminated {
		h.cancel()
	}
	v := h.actor.rt.watchdog()
	for inTime := true; inTime && h.calling && !h.stuck; {
		if h.idle == nil {
			h.idle = make(chan struct{})
		}
		idle := h.idle
		h.mu.Unlock()
		inTime = v.Await(idle)
		h.mu.Lock()
	}
	if h.calling {
		h.holds--
		if h.actor.current() == Terminated {
			h.given = true
		}
		if h.stuck {
			return h.overdue(h.timer.Timeout)
		}
		return h.overdue(h.actor.rt.config.HandlerTimeout)
	}
	return nil
}

func (h *hostActor) resume() error {
	h.mu.Lock()
	h.holds--
	if h.ctx.Err() != nil && h.actor.runs() {
		h.refresh()
	}
	h.mu.Unlock()
	h.kick()
	return nil
}

func (h *hostActor) renew(any) error { return nil }
func (h *hostActor) room() error     { return nil }

// quit stops the host for good.
func (h *hostActor) quit() error {
	h.mu.Lock()
	h.cancel()
	h.mu.Unlock()
	err := h.hold()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed, h.given = true, h.calling
	h.unwatch()
	return err
}

// inbox is the mailbox of a host actor for messages from actors on the device: a ring
// in host memory, from which messages move to the actor's queue. Messages stay in the
// ring while the queue is full. When the ring is full too, sends fail.
type inbox struct {
	host *hostActor
	box  post.Box

	head uint32
	mail rings.Inbox    // reads messages of the ring
	msg  unsafe.Pointer // the message that is being read

	full atomic.Bool // a message is waiting for room in the queue
}

// inboxes are the inboxes of a runtime.
type inboxes struct {
	mu   sync.Mutex // held while messages are collected
	list []*inbox
	gone []*refusals // of host actors that have ended; actors on the device may still have Refs to them
	some atomic.Bool
	poll sync.Once
}

// makeInbox makes a mailbox for messages from actors on the device. It returns an
// error if such messages are not possible.
func (h *hostActor) makeInbox() (*inbox, error) {
	c := h.actor
	if err := plain(c.in); err != nil {
		return nil, err
	}
	if c.inSize > actor.MaxMessage {
		return nil, invalid("messages of actor %s have %d bytes; those from actors on the device have %d at most", c.name, c.inSize, actor.MaxMessage)
	}
	if s := c.current(); s == Terminated {
		return nil, c.denied("ref", false)
	}
	step := (mail.InHeader + int(c.inSize+3)/4 + sectorWords - 1) / sectorWords * sectorWords
	box, err := c.rt.post.NewHostBox(step, c.number)
	if err != nil {
		return nil, err
	}
	b := &inbox{host: h, box: box, msg: c.queue.Bodies.Blank()}
	b.mail = rings.Inbox{Step: 8 * uintptr(step), Size: c.inSize, Mask: uint64(box.Slots - 1)}
	all := &c.rt.inboxes
	all.mu.Lock()
	all.list = append(all.list, b)
	all.mu.Unlock()
	all.some.Store(true)
	if c.rt.resident {
		all.poll.Do(func() { c.rt.pumps.Go(c.rt.pollInboxes) })
	}
	return b, nil
}

// box returns the number of the actor's mailbox for messages from actors on the
// device, which it makes on the first call. It returns 0 if there cannot be one.
func (h *hostActor) box() uint32 {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	if b := h.inbox.Load(); b != nil {
		return b.box.Number
	}
	b, err := h.makeInbox()
	if err != nil {
		return 0
	}
	h.inbox.Store(b)
	h.actor.rt.owners.Store(b.box.Number, h.actor)
	return b.box.Number
}

// collectInboxes moves messages from actors on the device to the queues of host actors,
// and returns the number of messages moved.
func (rt *Runtime) collectInboxes() (n int) {
	all := &rt.inboxes
	if !all.some.Load() {
		return 0
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	rt.post.WithHost(func(words []uint64) {
		for _, b := range all.list {
			n += b.collect(words)
		}
	})
	return n
}

// collect moves messages to the queue. words is the host region.
func (b *inbox) collect(words []uint64) (n int) {
	c := b.host.actor
	b.mail.At = unsafe.Pointer(&words[b.box.Ring()]) // valid while words is; Slots*Step words follow
	for ; n < b.box.Slots && b.mail.Arrived(uint64(b.head)); n++ {
		h := b.mail.Header(uint64(b.head))
		e := envelopeOf(h)
		e.deadline = deadlineOf(h.Deadline, c.rt.clock())
		b.mail.Message(uint64(b.head), b.msg)
		if !c.acceptFromDevice(&e, b.msg) {
			b.full.Store(true)
			break
		}
		b.head++
	}
	if n > 0 {
		atomic.StoreUint64(&words[b.box.Bell+1], uint64(b.head))
	}
	return n
}

// acceptFromDevice accepts a message if there is room. A message for a terminated
// actor becomes a dead letter. A failed actor keeps its messages, because it may be
// restarted.
func (c *core) acceptFromDevice(e *envelope, msg unsafe.Pointer) bool {
	var err error
	if c.refs != nil {
		err = c.refs.Adopt(msg)
	}
	if err == nil {
		var ok bool
		if _, ok, err = c.enqueue("send", e, unheard, msg, true); c.refs != nil && !ok {
			c.refs.Release(msg)
		}
		if err == nil {
			return ok
		}
	}
	state, _ := errors.AsType[*StateError](err)
	switch {
	case errors.Is(err, ErrDropped): // it is already a dead letter
		return true
	case state != nil && state.State == Failed: // the state may have changed since
		return false
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.refuse(e, msg)
	return true
}

// refuse makes a dead letter of a message that was not accepted. The caller holds the
// queue's lock.
func (c *core) refuse(e *envelope, msg unsafe.Pointer) {
	q := &c.queue
	c.letter(*e, c.id(idQueue, q.removed), ReasonRefused, nil, 0, q.Bodies.Value(msg))
	c.meter.dropped.Add(1)
	q.removed++
}

// pollInboxes collects messages until the runtime is closed.
func (rt *Runtime) pollInboxes() {
	wait := backoff.Yielding()
	for !rt.ending() {
		if rt.collectInboxes() > 0 {
			wait = backoff.Yielding()
			continue
		}
		wait.Pause()
	}
}

// collectInbox moves messages to the queue that were waiting for room there.
func (h *hostActor) collectInbox() {
	if b := h.inbox.Load(); b != nil && b.full.Load() {
		b.full.Store(false)
		h.actor.rt.collectInboxes()
	}
}

// shutInbox makes the inbox refuse messages from actors on the device.
func (h *hostActor) shutInbox() error {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	b := h.inbox.Load()
	if b == nil {
		return nil
	}
	return h.actor.rt.post.SetOwner(b.box, 0)
}

// inInbox moves messages from actors on the device to the queue while there is room,
// and returns the number of messages that are left.
func (h *hostActor) inInbox() int {
	b, rt := h.inbox.Load(), h.actor.rt
	if b == nil {
		return 0
	}
	rt.collectInboxes()
	rt.inboxes.mu.Lock()
	defer rt.inboxes.mu.Unlock()
	return b.waiting(rt)
}

// waiting returns the number of messages that are not in the queue yet. The caller
// holds rt.inboxes.mu.
func (b *inbox) waiting(rt *Runtime) (n int) {
	if !slices.Contains(rt.inboxes.list, b) {
		return 0 // the actor has ended
	}
	rt.post.WithHost(func(words []uint64) {
		b.mail.At = unsafe.Pointer(&words[b.box.Ring()]) // as in collect
		for n < b.box.Slots && b.mail.Arrived(uint64(b.head)+uint64(n)) {
			n++
		}
	})
	return n
}

// dropInbox removes the inbox of a terminated actor. Messages in it become dead
// letters.
func (h *hostActor) dropInbox() (err error) {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	b, rt := h.inbox.Load(), h.actor.rt
	if b == nil {
		return nil
	}
	// At a message boundary no handler is about to send a message.
	if err := rt.Quiesce("end a mailbox"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Resume()) }()
	if err := rt.post.SetOwner(b.box, 0); err != nil {
		return err
	}
	for rt.collectInboxes() > 0 {
	}
	rt.inboxes.mu.Lock()
	rt.inboxes.list = slices.DeleteFunc(rt.inboxes.list, func(other *inbox) bool { return other == b })
	rt.inboxes.mu.Unlock()
	rt.post.ReleaseHostPart(b.box)
	rt.owners.Delete(b.box.Number)
	return nil
}

// refusals counts the messages that the mailbox of an ended host actor refuses: senders
// may still have Refs to it.
type refusals struct {
	at      uint32        // position of the count in the post memory
	counted atomic.Uint64 // already included in the sums of the runtime
}

// recountInboxes adds up what the mailboxes of ended host actors have refused.
func (rt *Runtime) recountInboxes() {
	rt.inboxes.mu.Lock()
	gone := rt.inboxes.gone[:len(rt.inboxes.gone):len(rt.inboxes.gone)]
	rt.inboxes.mu.Unlock()
	for _, r := range gone {
		var refused [1]uint64
		if err := rt.post.Read(r.at, refused[:]); err != nil {
			return // the memory has been freed
		}
		rt.departed.add(Info{Refused: refused[0] - r.counted.Swap(refused[0])})
	}
}

// depart makes the runtime count later refusals of the actor.
func (h *hostActor) depart() {
	b, all := h.inbox.Load(), &h.actor.rt.inboxes
	if b == nil {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.gone = append(all.gone, &refusals{at: b.box.At() + mail.BoxRefused})
}

// plain returns an error if a type is not plain data.
func plain(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if err := plain(t.Field(i).Type); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
		return nil
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.String, reflect.Uintptr, reflect.UnsafePointer:
		return invalid("type %v is not plain data, so actors on the device cannot use it", t)
	}
	return nil
}
