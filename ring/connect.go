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

// Connect has the replies of an actor go on to others as messages, each to all of
// them, without the host: a pipeline, or a fan-out. It replaces what the actor was
// connected to; without others it ends that. Askers and Receive get the replies as
// before. While a mailbox is full the actor waits for room in it and handles
// nothing: connections that form a circle can come to a halt. An actor that takes no
// more messages is left out, which its mailbox counts.
//
// A reply for which there is no room yet when the actor ends, or is connected to
// others, is delivered by the host, and may be handled before replies that went on
// before it. It is a dead letter of an actor that takes no messages, has no room for
// it in its queue either, or is being closed.
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

// router is a server whose replies can go on.
type router interface {
	// route sets the routes of the actor, which is held.
	route(routes, saved uint32) error
	// unsent is one more than the position of the first route that the reply has not
	// gone to which the loop has kept, 0 if there is none. The loop, which does not
	// run, forgets it.
	unsent() (uint32, error)
}

func (c *core) connect(routes []uint64, targets []*core) error {
	at, ok := c.server.(router)
	if !ok {
		return invalid("actor %s is not on the device; its handler can send", c.name)
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

// passOnLast is passOn for an actor that has ended. Somebody who connects it does it
// first, and may wait for the caller.
func (c *core) passOnLast() error {
	at, ok := c.server.(router)
	if !ok || !c.routing.mu.TryLock() {
		return nil
	}
	defer c.routing.mu.Unlock()
	return c.passOn(at)
}

// passOn delivers the reply that the actor's loop, which does not run, has kept for
// lack of room. routing.mu is held.
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
		// The types of Connect see to it that to.inSize bytes are what the reply has.
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

// routing is what an actor's cursors say of its routes.
type routing struct {
	mu     sync.Mutex
	list   uint32 // in the post memory, 0 if there is none
	words  int    // of list
	saved  uint32
	values int // of saved: words of a reply, and its correlation

	targets []*core // that list names
}

// set makes a list of routes for replies of some words and returns what goes into
// the cursors. The actor is held; that the memory grows has all make way.
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

// free gives back the memory, once the cursors are another actor's. It waits for
// nobody who connects the actor, which may wait for the caller.
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

// letterbox is a copy of an actor's mailbox in the post memory, for messages of other
// actors on the device that the actor does not handle.
type letterbox struct {
	owner *core
	words [mail.BoxWords]uint64
	slots rings.Inbox
}

func (c *core) letterbox() (*letterbox, error) {
	b := &letterbox{owner: c}
	return b, c.rt.post.Read(c.box.At(), b.words[:])
}

// open copies the messages.
func (b *letterbox) open() error {
	c := b.owner
	ring := make([]uint64, c.box.Slots*c.box.Step)
	// A copy that b.slots keeps, with BoxSlots slots of BoxStep words.
	b.slots = rings.Inbox{At: unsafe.Pointer(&ring[0]), Step: 8 * uintptr(b.words[mail.BoxStep]), Size: c.inSize, Mask: uint64(c.box.Slots - 1)}
	return c.rt.post.Read(uint32(b.words[mail.BoxRing]), ring)
}

// head is the ticket of the first message that is not handled, tail that of the next
// one to come. The mailbox has the lower half of head.
func (b *letterbox) head() uint64 {
	return b.tail() - uint64(uint32(b.tail())-uint32(b.words[mail.BoxHead]))
}

func (b *letterbox) tail() uint64 { return b.words[mail.BoxTail] }

// fail makes a dead letter of a message that the handler failed on. The next one may
// be in its place already.
func (b *letterbox) fail(ticket uint64, why error) {
	c, e, body := b.owner, envelope{priority: DefaultPriority}, any(nil)
	if b.slots.Arrived(ticket) {
		e, body = envelopeOf(b.slots.Header(ticket)), b.body(ticket)
	}
	c.letter(e, c.id(mail.Post, ticket), ReasonFailed, &HandlerError{Actor: c.name, Ticket: ticket - c.box.First, Err: why}, 0, body)
}

// end makes a dead letter of a message that the actor ended before. A sender that was
// ended in the middle of one leaves none.
func (b *letterbox) end(ticket uint64) {
	if c := b.owner; b.slots.Arrived(ticket) {
		c.letter(envelopeOf(b.slots.Header(ticket)), c.id(mail.Post, ticket), ReasonTerminated, c.endedFor(), 0, b.body(ticket))
	}
}

func (b *letterbox) body(ticket uint64) any {
	bodies := b.owner.queue.Bodies
	msg := bodies.Blank()
	b.slots.Message(ticket, msg)
	return bodies.Value(msg)
}

// shutBox has messages of actors on the device refused.
func (c *core) shutBox() error {
	if h, ok := c.server.(*hostActor); ok {
		return h.shutInbox()
	}
	if c.box.Number == 0 || !c.rt.referred.Load() {
		return nil // nobody can send one
	}
	return c.rt.post.SetOwner(c.box, 0)
}

// answerBells has the actors served whose bells have rung.
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

// mailed returns how many messages of other actors on the device the actor has not
// handled.
func (c *core) mailed() (int, error) {
	if h, ok := c.server.(*hostActor); ok {
		return h.inInbox(), nil
	}
	if c.box.Number == 0 || !c.rt.referred.Load() {
		return 0, nil
	}
	b, err := c.letterbox()
	if err != nil {
		return 0, err
	}
	return int(b.tail() - b.head()), nil
}

// failedMail makes a dead letter of the message that the handler failed on. Its loop
// has left and has taken it out of the mailbox, or has left no word; then it is taken
// out here.
func (c *core) failedMail(taken bool, why error) error {
	b, err := c.letterbox()
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

// returnMail makes dead letters of what is in the mailbox of an actor that has ended,
// and returns the ticket of the next message. No sender is at work.
func (c *core) returnMail() (next uint64, err error) {
	b, err := c.letterbox()
	if err == nil && b.head() != b.tail() {
		err = b.open()
	}
	if err != nil {
		return 0, err
	}
	for t := b.head(); t != b.tail(); t++ {
		b.end(t)
	}
	// From now on the mailbox says nothing of this actor.
	last := &posted{taken: b.tail() - c.box.First, waiting: b.tail() - b.head(), refused: b.words[mail.BoxRefused], expired: b.words[mail.BoxExpired], last: true}
	if before := c.meter.posted.Load(); before != nil && before.last {
		last.waiting += before.waiting
	}
	c.meter.posted.Store(last)
	c.recount()
	return b.tail(), nil
}

// returnMail makes dead letters of the mail of all actors of the cohort, which have
// ended. No launch is there.
func (c *cohort) returnMail() error {
	if !c.rt.referred.Load() {
		return nil // nobody could send any
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
