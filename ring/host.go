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

// SpawnHost makes an actor whose handler is an ordinary Go function. It is used as
// those on the device are, which it can send messages to, and they to it. Messages
// and replies may be of any type, but for an actor that those on the device send
// to: see [Actor.Ref].
//
// The handler has one message at a time, on a goroutine of the runtime's. Its state
// is what it captures; Options.State, Batch, Spin and Nap are not used, and what
// actors on the device send waits as Options.Capacity says. in and out,
// which is zero, are the handler's until it returns. ctx has the values of the one
// that SpawnHost was called with, and is cancelled when the handler is to return
// because the actor ends; messages that are sent with it are from the actor.
//
// A handler that panics, or ends its goroutine, has failed with a [*PanicError].
// One that does not return for Options.Patience has failed with a [*StuckError];
// the actor can be restarted once it does return.
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

// HostContext is what the handler of a host actor learns of the message that it
// has, until it returns. It is a [Sender].
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

// ID returns the message's number, unique in the runtime.
func (c *HostContext) ID() uint64 { return c.get().id }

// Correlation returns the number that the sender gave the message, or 0.
func (c *HostContext) Correlation() uint64 { return c.get().correlation }

// Priority returns the message's priority.
func (c *HostContext) Priority() int { return int(c.get().priority) }

// Sender returns the name of the actor that the message is from, "" for the program.
func (c *HostContext) Sender() string {
	if c == nil || c.core == nil {
		return ""
	}
	return c.core.rt.messages.nameOf(c.envelope.sender)
}

// Deadline returns when the message expires, if it does.
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

// hostSlots is how many replies of a host actor wait for Receive, at most: it
// handles no more messages before they are taken.
const hostSlots = 256

// host is the server of a host actor. A goroutine calls the handler as long as there
// are messages. They stay in the queue until it comes to them.
type hostActor struct {
	actor   *core
	mailbox *mailbox
	handle  func(again bool) (kernel.Action, error) // the message in the slot of the ticket
	work    func()

	turn atomic.Int32 // of the goroutine: resting, working or recalled

	mu      sync.Mutex
	holds   int
	closed  bool
	calling bool          // the handler is called, or about to be
	given   bool          // the message of the call was given up
	stuck   bool          // the call takes longer than patience
	idle    chan struct{} // closed when the call is over; nil if nobody waits
	base    context.Context
	ctx     context.Context
	cancel  context.CancelFunc

	// The goroutine's, while it calls.
	context HostContext
	ticket  uint64
	slot    int
	kept    bool         // the message stays: the handler wants to have it again
	again   backoff.Wait // between calls with one message

	inboxMu sync.Mutex
	inbox   atomic.Pointer[inbox] // for messages from actors on the device; made with inboxMu held

	began atomic.Int64 // when the handler was called, by the runtime's clock; 0 while it is not
	armed atomic.Bool  // the watchdog, whose timer is
	timer watchdog.Timer
	alarm alarm
}

// Turns of the goroutine.
const (
	resting  = iota
	working  // it is there
	recalled // and is to look for messages once more before it ends
)

func newHost(ctx context.Context, c *core, o *Options) *hostActor {
	h := &hostActor{actor: c, timer: *watchdog.New(o.Patience), base: context.WithoutCancel(ctx)}
	h.work = h.run
	h.alarm.host = new(atomic.Pointer[hostActor])
	h.context.core = c
	h.refresh()
	slots := min(o.slots(), hostSlots)
	const inStep, outStep = 8 * mail.InHeader, 8 * mail.OutHeader
	// Pointers to where the messages would begin are made for the last slots, too.
	in, out := make([]uint64, slots*mail.InHeader+1), make([]uint64, slots*mail.OutHeader+1)
	m := newMailbox(c, rings.Inbox{At: unsafe.Pointer(unsafe.SliceData(in)), Step: inStep, Mask: uint64(slots - 1), Shared: true},
		rings.Outbox{At: unsafe.Pointer(unsafe.SliceData(out)), Step: outStep, Mask: uint64(slots - 1)}, 0)
	m.arrivals = newArrivals(slots)
	h.mailbox = m
	c.mailboxes, c.roomy, c.pulls, c.server = []*mailbox{m}, false, true, h
	return h
}

// refresh makes the context of the handler. h.mu is held, or nobody else is there.
func (h *hostActor) refresh() {
	h.ctx, h.cancel = context.WithCancel(context.WithValue(h.base, senderKey{}, h.actor))
}

// senderKey is the key of the actor whose handler has a context.
type senderKey struct{}

// signFrom makes a message without a sender that of the host actor whose handler
// has the context, if there is one.
func (e *envelope) signFrom(ctx context.Context, rt *Runtime) {
	if e.sender != 0 || !rt.hosts.Load() {
		return
	}
	if c, ok := ctx.Value(senderKey{}).(*core); ok && c.rt == rt {
		e.sender = c.number
	}
}

// slots are messages and replies, by slot of the mailbox.
type slots[In, Out any] struct {
	in   []In
	out  []Out
	refs *payload.References
}

// The pointers are to values of the slots' own types; see noescape. Assignments, other
// than copies of bytes, tell the garbage collector.
func (s *slots[In, Out]) put(slot int, msg unsafe.Pointer)     { s.in[slot] = *(*In)(msg) }
func (s *slots[In, Out]) message(slot int, msg unsafe.Pointer) { *(*In)(msg) = s.in[slot] }
func (s *slots[In, Out]) take(slot int, reply unsafe.Pointer)  { *(*Out)(reply) = s.out[slot] }

func (s *slots[In, Out]) clear(slot int) {
	if s.refs != nil {
		s.refs.Release(unsafe.Pointer(&s.in[slot]))
	}
	s.in[slot], s.out[slot] = *new(In), *new(Out)
}

// handling returns a function that calls a handler with the message of the host's
// ticket. The handler has copies of its own, for it may still have them when the
// message was given up.
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
			h.done(0, newPanicError(errGoexit)) // the goroutine does not come back from here
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

var errGoexit = errors.New("the handler has called runtime.Goexit")

// kick has the goroutine look for messages.
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
		if !regular { // the handler has ended the goroutine
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

// step handles a message, if there is one and the actor is to handle it.
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

// done notes what became of the message.
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

// answer writes what became of the message, unless it was given up when the actor
// ended, and reports whether it did. err is why the handler has failed, if it has.
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

// watch sees to it that a handler is noticed that does not return.
func (h *hostActor) watch() {
	if !h.armed.Load() && h.armed.CompareAndSwap(false, true) {
		h.timer.Stop()
		h.timer.Check(time.Now(), uint64(h.began.Load()))
		h.alarm.set(h.timer.Interval(), h)
	}
}

// alarm is the time of the watchdog's next check. Go's timers keep what they call for a
// while, also once they were stopped, so that this is not the host itself.
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

// unwatch ends the watchdog of a host that calls its handler no more.
func (h *hostActor) unwatch() {
	if h.began.Load() == 0 {
		h.alarm.host.Store(nil)
	}
}

// check finds out whether the handler has been called for too long.
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

// hold holds the actor, and waits for the end of the call as long as the runtime has
// patience. The context of the handler is cancelled if the actor has ended.
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
		return h.overdue(h.actor.rt.config.Patience)
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

// quit ends the host for good.
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

// inbox is the mailbox of a host actor that actors on the device put messages into: a
// ring in memory of the host, from which they go to the actor's queue. A message
// for which there is no room there stays; when the ring is full senders are told so.
type inbox struct {
	host *hostActor
	box  post.Box

	head uint32
	mail rings.Inbox    // reads messages of the ring
	msg  unsafe.Pointer // the one that is read

	full atomic.Bool // a message waits for room in the queue
}

// inboxes are those of a runtime.
type inboxes struct {
	mu   sync.Mutex // held while messages are collected
	list []*inbox
	gone []*refusals // of host actors that have ended; actors on the device may have Refs of them
	some atomic.Bool
	poll sync.Once
}

// makeInbox makes a mailbox for the actors on the device. It is an error if the
// messages cannot come from there.
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

// box returns the number of the actor's mailbox for actors on the device, which is
// made when it is asked for first; 0 if there can be none.
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
// and returns how many.
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

// collect moves messages to the queue. words is the host's region.
func (b *inbox) collect(words []uint64) (n int) {
	c := b.host.actor
	b.mail.At = unsafe.Pointer(&words[b.box.Ring()]) // valid as long as words is; Slots*Step words follow
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

// acceptFromDevice accepts a message if there is room. One for an actor that has
// terminated is a dead letter; one that has failed may yet go on.
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
	case errors.Is(err, ErrDropped): // a letter already
		return true
	case state != nil && state.State == Failed: // then, and perhaps not any more
		return false
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.refuse(e, msg)
	return true
}

// refuse makes a dead letter of a message that was not accepted. The queue's lock is
// held.
func (c *core) refuse(e *envelope, msg unsafe.Pointer) {
	q := &c.queue
	c.letter(*e, c.id(idQueue, q.removed), ReasonRefused, nil, 0, q.Bodies.Value(msg))
	c.meter.dropped.Add(1)
	q.removed++
}

// pollInboxes collects messages as long as the runtime is open.
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

// collectInbox moves messages to the queue that have waited for room there.
func (h *hostActor) collectInbox() {
	if b := h.inbox.Load(); b != nil && b.full.Load() {
		b.full.Store(false)
		h.actor.rt.collectInboxes()
	}
}

// shutInbox has messages from actors on the device refused.
func (h *hostActor) shutInbox() error {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	b := h.inbox.Load()
	if b == nil {
		return nil
	}
	return h.actor.rt.post.SetOwner(b.box, 0)
}

// inInbox moves what has come from actors on the device to the queue, as far as there
// is room, and returns how many messages wait for that.
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

// waiting counts the messages that have not gone to the queue. rt.inboxes.mu is held.
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

// dropInbox ends the way from actors on the device to one that has terminated. What is
// in its mailbox are dead letters.
func (h *hostActor) dropInbox() (err error) {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	b, rt := h.inbox.Load(), h.actor.rt
	if b == nil {
		return nil
	}
	// Between messages no handler is about to send one.
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

// refusals is what is known of a host actor that has ended: senders may still have Refs of
// it, and count in its mailbox what it refuses.
type refusals struct {
	at      uint32        // position of the count in the post memory
	counted atomic.Uint64 // in the sums of the runtime
}

// recountInboxes counts what host actors that have ended have refused.
func (rt *Runtime) recountInboxes() {
	rt.inboxes.mu.Lock()
	gone := rt.inboxes.gone[:len(rt.inboxes.gone):len(rt.inboxes.gone)]
	rt.inboxes.mu.Unlock()
	for _, r := range gone {
		var refused [1]uint64
		if err := rt.post.Read(r.at, refused[:]); err != nil {
			return // the memory has been given back
		}
		rt.departed.add(Info{Refused: refused[0] - r.counted.Swap(refused[0])})
	}
}

// depart has what the actor refuses from now on counted without it.
func (h *hostActor) depart() {
	b, all := h.inbox.Load(), &h.actor.rt.inboxes
	if b == nil {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.gone = append(all.gone, &refusals{at: b.box.At() + mail.BoxRefused})
}

// plain reports, as an error, what of a type is no plain data.
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
		return invalid("actors on the device have no values of type %v", t)
	}
	return nil
}
