package ring

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/actor"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/rings"
)

// Actors on the device send messages to each other through mailboxes in the post memory.
// The loop of an actor on the device reads its own mailbox; the host reads it when the actor
// has failed or ended. The mailbox of a host actor is an inbox, which the host reads.

// mailCopy is a copy of an actor's mailbox in the post memory, with messages of other
// actors on the device that the actor will not handle.
type mailCopy struct {
	owner *core
	words [mail.BoxWords]uint64
	slots rings.Inbox
}

func (c *core) mailCopy() (*mailCopy, error) {
	b := &mailCopy{owner: c}
	return b, c.rt.post.Read(c.box.At(), b.words[:])
}

// open copies the messages.
func (b *mailCopy) open() error {
	c := b.owner
	ring := make([]uint64, c.box.Slots*c.box.Step)
	// A copy that b.slots keeps, with BoxSlots slots of BoxStep words.
	b.slots = rings.Inbox{At: unsafe.Pointer(&ring[0]), Step: 8 * uintptr(b.words[mail.BoxStep]), Size: c.inSize, Mask: uint64(c.box.Slots - 1)}
	return c.rt.post.Read(uint32(b.words[mail.BoxRing]), ring)
}

// head returns the ticket of the first unhandled message, and tail the ticket of the
// next message to come. The mailbox stores the lower half of head.
func (b *mailCopy) head() uint64 {
	return b.tail() - uint64(uint32(b.tail())-uint32(b.words[mail.BoxHead]))
}

func (b *mailCopy) tail() uint64 { return b.words[mail.BoxTail] }

// fail makes a dead letter of a message that the handler failed on. The next message
// may already be in its slot.
func (b *mailCopy) fail(ticket uint64, why error) {
	c, e, body := b.owner, envelope{priority: DefaultPriority}, any(nil)
	if b.slots.Arrived(ticket) {
		e, body = envelopeOf(b.slots.Header(ticket)), b.body(ticket)
	}
	id := c.rt.messages.newID()
	c.letter(e, id, ReasonFailed, &HandlerError{Actor: c.name, ID: id, Ticket: ticket - c.box.First, Err: why}, 0, body)
}

// end makes a dead letter of a message that the actor did not handle before it ended.
// A message whose sender stopped in the middle of writing it is skipped.
func (b *mailCopy) end(ticket uint64) {
	if c := b.owner; b.slots.Arrived(ticket) {
		c.letter(envelopeOf(b.slots.Header(ticket)), c.rt.messages.newID(), ReasonTerminated, c.endedFor(), 0, b.body(ticket))
	}
}

func (b *mailCopy) body(ticket uint64) any {
	bodies := b.owner.queue.Bodies
	msg := bodies.Blank()
	b.slots.Message(ticket, msg)
	return bodies.Value(msg)
}

// shutBox makes the mailbox refuse messages of actors on the device.
func (c *core) shutBox() error {
	if h, ok := c.server.(*hostActor); ok {
		return h.shutInbox()
	}
	if c.box.Number == 0 || c.rt.ending() && !c.rt.referred.Load() {
		return nil // no actor will send to it
	}
	return c.rt.post.SetOwner(c.box, 0) // a Ref may still be taken
}

// answerBells kicks the actors whose bells have rung.
func (rt *Runtime) answerBells() {
	if !rt.post.Rung(mail.AnyBell) {
		return
	}
	rt.owners.Range(func(_, known any) bool {
		if a := known.(*core); a.box.Number != 0 && rt.post.Rung(a.box.Bell) {
			a.kick()
		}
		return true
	})
}

// mailed returns the number of unhandled messages from other actors on the device.
func (c *core) mailed() (int, error) {
	if h, ok := c.server.(*hostActor); ok {
		return h.inInbox(), nil
	}
	if c.box.Number == 0 || !c.rt.referred.Load() {
		return 0, nil
	}
	b, err := c.mailCopy()
	if err != nil {
		return 0, err
	}
	return int(b.tail() - b.head()), nil
}

// failedMail makes a dead letter of the message that the handler failed on. If taken
// is set, the loop has removed the message from the mailbox before it left; otherwise
// failedMail removes it.
func (c *core) failedMail(taken bool, why error) error {
	b, err := c.mailCopy()
	if err == nil {
		err = b.open()
	}
	if err != nil {
		return err
	}
	if taken {
		b.fail(b.head()-1, why)
		return nil
	}
	b.fail(b.head(), why)
	return c.rt.post.Write(c.box.At()+mail.BoxHead, uint64(uint32(b.head())+1))
}

// expired returns the tickets of unhandled messages whose deadlines have passed.
func (b *mailCopy) expired(now int64) (tickets []uint64) {
	for t := b.head(); t != b.tail(); t++ {
		if b.slots.Arrived(t) && passed(b.slots.Header(t).Deadline, now) {
			tickets = append(tickets, t)
		}
	}
	return tickets
}

// expire sets the deadline of an unhandled message to one that has just passed. The loop
// must not run.
func (b *mailCopy) expire(ticket uint64, now int64) error {
	at := uint32(b.words[mail.BoxRing]) + uint32(ticket)&uint32(b.slots.Mask)*uint32(b.words[mail.BoxStep])
	return b.owner.rt.post.Write(at+mail.Deadline, uint64(uint32(ticket)+1)<<32|uint64(pastWord(now)))
}

// returnMail makes dead letters of the mailbox content of an actor that has ended,
// and returns the ticket of the next message. No sender may be running.
func (c *core) returnMail() (next uint64, err error) {
	b, err := c.mailCopy()
	if err == nil && b.head() != b.tail() {
		err = b.open()
	}
	if err != nil {
		return 0, err
	}
	for t := b.head(); t != b.tail(); t++ {
		b.end(t)
	}
	// After this the mailbox no longer describes this actor.
	last := &posted{taken: b.tail() - c.box.First, waiting: b.tail() - b.head(), refused: b.words[mail.BoxRefused], expired: b.words[mail.BoxExpired], last: true}
	if before := c.meter.posted.Load(); before != nil && before.last {
		last.waiting += before.waiting
	}
	c.meter.posted.Store(last)
	c.recount()
	return b.tail(), nil
}

// returnMail makes dead letters of the mail of all actors of the cohort. They must
// have ended, and no launch may be running.
func (c *cohort) returnMail() error {
	if !c.rt.referred.Load() {
		return nil // no actor could send any
	}
	c.mu.Lock()
	list := c.actors
	c.mu.Unlock()
	for _, a := range list {
		if _, err := a.returnMail(); err != nil {
			return err
		}
	}
	return nil
}

// inbox is the mailbox of a host actor for messages from actors on the device: a ring
// in host memory, from which messages move to the actor's queue. Messages stay in the
// ring while the queue is full. When the ring is full too, sends fail.
type inbox struct {
	owner *core
	box   *post.Inbox
	msg   unsafe.Pointer // the message that is being read
	full  atomic.Bool    // a message is waiting for room in the queue

	refused *refusals
}

// inboxes are the inboxes of a runtime.
type inboxes struct {
	mu   sync.Mutex // held while messages are collected
	list []*inbox
	gone []*refusals // by the mailboxes of ended host actors, until other host actors get these
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
	if c.current().over() {
		return nil, c.denied("ref", false)
	}
	step := (mail.InHeader + int(c.inSize+3)/4 + sectorWords - 1) / sectorWords * sectorWords
	b := &inbox{owner: c, msg: c.queue.Bodies.Blank(), refused: &refusals{}}
	all := &c.rt.inboxes
	var err error
	if before := all.reuse(step); before != nil {
		b.refused.before = before.end(c.rt)
		b.box, err = before.box.HandOver(c.inSize, c.number)
	} else {
		b.box, err = c.rt.post.NewInbox(step, c.inSize, c.number)
	}
	if err != nil {
		return nil, err
	}
	b.refused.box = b.box
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
	for _, b := range all.list {
		n += b.collect()
	}
	return n
}

// collect moves messages to the queue.
func (b *inbox) collect() int {
	c := b.owner
	return b.box.Collect(b.msg, func(h rings.Header) bool {
		e := envelopeOf(h)
		e.deadline = deadlineOf(h.Deadline, c.rt.clock())
		taken := c.acceptFromDevice(&e, b.msg)
		if !taken {
			b.full.Store(true)
		}
		return taken
	})
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
	c.letter(*e, c.rt.messages.idOr(e.id), ReasonRefused, nil, 0, q.Bodies.Value(msg))
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
	return h.actor.rt.post.SetOwner(b.box.Box, 0)
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
	return b.waiting()
}

// waiting returns the number of messages that are not in the queue yet. The caller
// holds the mutex of the inboxes.
func (b *inbox) waiting() int {
	if !slices.Contains(b.owner.rt.inboxes.list, b) {
		return 0 // the actor has ended
	}
	return b.box.Waiting()
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
	if err := rt.post.SetOwner(b.box.Box, 0); err != nil {
		return err
	}
	for rt.collectInboxes() > 0 {
	}
	rt.inboxes.mu.Lock()
	rt.inboxes.list = slices.DeleteFunc(rt.inboxes.list, func(other *inbox) bool { return other == b })
	rt.inboxes.mu.Unlock()
	rt.owners.Delete(b.box.Number)
	b.refused.free.Store(true)
	return nil
}

// refusals counts the messages that the mailbox of a host actor has refused since it is the
// actor's. Actors on the device may have Refs to an actor that has ended, and their calls
// count until another host actor gets the mailbox. That one has another number, so they
// cannot reach it.
type refusals struct {
	box    *post.Inbox
	before uint64      // refused by the mailbox before that
	free   atomic.Bool // the actor has ended, and no launch remembers the mailbox

	mu      sync.Mutex
	number  uint64 // when last read
	over    bool   // another actor has the mailbox
	counted uint64 // already included in the sums of the runtime, if the actor has ended
}

// read returns the number. If the memory has been freed, it is the last one.
func (r *refusals) read(p *post.Memory) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readLocked(p)
	return r.number
}

// readLocked is read for callers that hold r.mu.
func (r *refusals) readLocked(p *post.Memory) {
	var n [1]uint64
	if !r.over && p.Read(r.box.At()+mail.BoxRefused, n[:]) == nil {
		r.number = n[0] - r.before
	}
}

// recount includes the number for an actor that has ended in the sums of the runtime.
func (r *refusals) recount(rt *Runtime) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readLocked(rt.post)
	rt.departed.add(Info{Refused: r.number - r.counted})
	r.counted = r.number
}

// end is recount before another actor gets the mailbox. It returns the number that the
// mailbox has refused for all its actors.
func (r *refusals) end(rt *Runtime) uint64 {
	r.recount(rt)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.before + r.number
}

// reuse takes a mailbox with the given words per message that has no actor, or returns nil.
func (all *inboxes) reuse(step int) *refusals {
	all.mu.Lock()
	defer all.mu.Unlock()
	i := slices.IndexFunc(all.gone, func(r *refusals) bool { return r.box.Step == step && r.free.Load() })
	if i < 0 {
		return nil
	}
	r := all.gone[i]
	all.gone = slices.Delete(all.gone, i, i+1)
	return r
}

// recountInboxes adds up what the mailboxes of ended host actors have refused.
func (rt *Runtime) recountInboxes() {
	rt.inboxes.mu.Lock()
	gone := slices.Clone(rt.inboxes.gone)
	rt.inboxes.mu.Unlock()
	for _, r := range gone {
		r.recount(rt)
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
	all.gone = append(all.gone, b.refused)
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
