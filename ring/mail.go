package ring

import (
	"unsafe"

	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/rings"
)

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
	types := b.owner.queue.types
	msg := types.blank()
	b.slots.Message(ticket, msg)
	return types.value(msg)
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
