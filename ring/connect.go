package ring

import (
	"context"
	"errors"
	"sync"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/rings"
)

// Connect makes the replies of an actor go on to other actors as messages, without
// the host. Each reply goes to all of them, so actors can form a pipeline or a
// fan-out. Connect replaces earlier connections of the actor; without targets it
// removes them. Ask and Receive return the replies as before. While the mailbox of a
// target is full, the actor waits and handles no messages, so connections that form a
// cycle can deadlock. A target that accepts no more messages is skipped, and its
// mailbox counts that.
//
// If a reply is waiting for room when the actor ends or is connected to other actors,
// the host delivers it. It may then be handled before earlier replies. It becomes a
// dead letter if the target accepts no messages, has no room in its queue either, or
// is being closed.
func Connect[In, Mid, Out any](from *Actor[In, Mid], to ...*Actor[Mid, Out]) error {
	source, err := from.made("connect")
	if err != nil {
		return err
	}
	routes, targets := make([]uint64, len(to)), make([]*core, len(to))
	for i, a := range to {
		if _, err := a.made("connect"); err != nil {
			return err
		}
		targets[i] = a.core
		if a.core.rt != source.rt {
			return invalid("actors %s and %s are of different runtimes", source.name, a.core.name)
		}
		if routes[i] = refWord(a.Ref()); routes[i] == 0 {
			return invalid("actor %s cannot be reached from the device", a.core.name)
		}
	}
	return source.connect(routes, targets)
}

// router is a server that can forward replies.
type router interface {
	// route sets the routes of the actor, which must be held.
	route(routes, saved uint32) error
	// unsent returns 1 plus the index of the first route that the kept reply has not
	// reached, or 0 if the loop keeps no reply. The loop, which must not run, forgets
	// the reply.
	unsent() (uint32, error)
}

func (c *core) connect(routes []uint64, targets []*core) error {
	at, ok := c.server.(router)
	if !ok {
		return invalid("actor %s is not on the device; send from its handler instead", c.name)
	}
	if s := c.current(); s == Terminating || s == Terminated {
		return c.denied("connect", false)
	}
	if err := c.server.hold(); err != nil {
		return err
	}
	c.routing.mu.Lock()
	defer c.routing.mu.Unlock()
	err := c.passOn(at)
	var list, saved uint32
	if err == nil {
		list, saved, err = c.routing.set(c.rt.post, routes, int(c.outSize+3)/4)
	}
	if err == nil {
		c.routing.targets = targets
		err = at.route(list, saved)
	}
	return errors.Join(err, c.server.resume())
}

// passOnLast is passOn for an actor that has ended. If another goroutine is
// connecting the actor, passOnLast leaves it to that goroutine, which may be waiting
// for the caller.
func (c *core) passOnLast() error {
	at, ok := c.server.(router)
	if !ok || !c.routing.mu.TryLock() {
		return nil
	}
	defer c.routing.mu.Unlock()
	return c.passOn(at)
}

// passOn delivers the reply that the actor's loop has kept because a target had no
// room. The loop must not be running. The caller holds routing.mu.
func (c *core) passOn(at router) error {
	r := &c.routing
	if r.list == 0 {
		return nil
	}
	unsent, err := at.unsent()
	if unsent == 0 || err != nil {
		return err
	}
	words := make([]uint64, mail.InHeader+r.values)
	if err := c.rt.post.Read(r.saved, words[mail.InHeader:]); err != nil {
		return err
	}
	e := envelope{priority: DefaultPriority, sender: c.number, correlation: words[len(words)-1]}
	for _, to := range r.targets[unsent-1:] {
		// The type parameters of Connect guarantee that the reply has to.inSize
		// bytes.
		slot, msg := rings.Inbox{At: unsafe.Pointer(&words[0]), Size: to.inSize}, to.queue.Bodies.Blank()
		slot.Message(0, msg)
		if c.rt.ending() || !to.acceptFromDevice(&e, msg) {
			to.queue.mu.Lock()
			to.refuse(&e, msg)
			to.queue.mu.Unlock()
		}
		to.kick()
		to.recount()
	}
	return nil
}

// routing is the routing part of an actor's cursors.
type routing struct {
	mu     sync.Mutex
	list   uint32 // position in the post memory, 0 if there is none
	words  int    // of list
	saved  uint32
	values int // words of saved: a reply and its correlation

	targets []*core // the actors in list
}

// set makes a list of routes for replies of the given number of words, and returns
// the values for the cursors. The actor must be held. If the memory has to grow, all
// actors pause.
func (r *routing) set(p *post.Memory, to []uint64, words int) (routes, saved uint32, err error) {
	if r.list != 0 {
		p.Release(r.list, r.words)
		r.list = 0
	}
	if r.saved == 0 {
		r.values = words + 1
		if r.saved, err = p.Reserve(r.values); err != nil {
			return 0, 0, err
		}
	}
	if len(to) == 0 {
		return 0, r.saved, nil
	}
	r.words = 1 + len(to)
	if r.list, err = p.Reserve(r.words); err != nil {
		return 0, 0, err
	}
	return r.list, r.saved, p.Write(r.list, append([]uint64{uint64(len(to))}, to...)...)
}

// free frees the memory, once the cursors belong to another actor. It does not wait
// for a goroutine that is connecting the actor, because that goroutine may be waiting
// for the caller.
func (r *routing) free(p *post.Memory) {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if r.list != 0 {
		p.Release(r.list, r.words)
	}
	if r.saved != 0 {
		p.Release(r.saved, r.values)
	}
	r.list, r.saved, r.targets = 0, 0, nil
}

func (p *place) route(routes, saved uint32) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.block * mail.CursorWords
	for _, word := range [][2]uint32{{mail.Routes, routes}, {mail.Saved, saved}} {
		err = errors.Join(err, gpu.CopyIn(p.stream, p.cursors.Slice(at+int(word[0]), at+int(word[0])+1), []uint32{word[1]}))
	}
	return errors.Join(err, p.stream.Synchronize(context.Background()))
}

func (l *local) route(routes, saved uint32) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.cursors[mail.Routes], l.cursors[mail.Saved] = routes, saved
	return nil
}

func (p *place) unsent() (uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.block*mail.CursorWords + mail.Pending
	word, in := make([]uint32, 1), p.cursors.Slice(at, at+1)
	if err := gpu.Download(context.Background(), p.stream, word, in); err != nil || word[0] == 0 {
		return 0, err
	}
	return word[0], errors.Join(gpu.CopyIn(p.stream, in, []uint32{0}), p.stream.Synchronize(context.Background()))
}

func (l *local) unsent() (uint32, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	unsent := l.cursors[mail.Pending]
	l.cursors[mail.Pending] = 0
	return unsent, nil
}

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
	c.letter(e, c.id(mail.Post, ticket), ReasonFailed, &HandlerError{Actor: c.name, Ticket: ticket - c.box.First, Err: why}, 0, body)
}

// end makes a dead letter of a message that the actor did not handle before it ended.
// A message whose sender stopped in the middle of writing it is skipped.
func (b *mailCopy) end(ticket uint64) {
	if c := b.owner; b.slots.Arrived(ticket) {
		c.letter(envelopeOf(b.slots.Header(ticket)), c.id(mail.Post, ticket), ReasonTerminated, c.endedFor(), 0, b.body(ticket))
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
	if c.box.Number == 0 || !c.rt.referred.Load() {
		return nil // no actor can send to it
	}
	return c.rt.post.SetOwner(c.box, 0)
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
