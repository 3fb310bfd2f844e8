package actor

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// Context describes a handler's actor and the message that the handler is called with.
type Context struct {
	Mail mail.Sender // for the loop around the handler
}

// Number returns the actor's number in its runtime, from 1.
func (c *Context) Number() uint32 { return c.Mail.ID }

// Sender returns the lower 24 bits of the number of the sending actor, 0 for the program.
func (c *Context) Sender() uint32 { return c.Mail.Words[c.Mail.At+mail.Urgency] >> mail.PriorityBits }

// Priority returns the message's priority, from 0 to 255.
func (c *Context) Priority() uint32 {
	return c.Mail.Words[c.Mail.At+mail.Urgency] & (1<<mail.PriorityBits - 1)
}

// Correlation returns the correlation ID that the message was sent with. Messages
// that the handler sends have the same one.
func (c *Context) Correlation() uint64 {
	return uint64(c.Mail.Words[c.Mail.At+mail.CorrelationHigh])<<32 | uint64(c.Mail.Words[c.Mail.At+mail.CorrelationLow])
}

// Ref refers to an actor that takes messages of type M. Actors on the device use it. It
// is plain data, so states and messages may contain it. The zero Ref refers to no
// actor. The Ref of an ended actor never refers to another one.
type Ref[M any] struct {
	Mailbox uint32
	Actor   uint32 // the actor's number
}

// Self returns a Ref to the handler's own actor. M is its message type.
func Self[M any](c *Context) Ref[M] { return Ref[M]{c.Mail.Mailbox, c.Mail.ID} }

// Send sends a message to an actor on the device or on the host, possibly the
// sender itself, and reports whether it was accepted. It is not accepted if the
// receiver's mailbox is full or the receiver accepts no more messages; [Ended]
// tells which. The mailbox counts such messages. Send does not wait. Each
// thread that calls it sends its own message. Messages of one thread arrive in
// order.
//
//quern:unchecked
func Send[M any](_ kernel.Thread, c *Context, to Ref[M], msg *M) bool {
	return send(c, to, msg, DefaultPriority, 0)
}

// DefaultPriority is the priority of messages that are sent without a priority.
const DefaultPriority = mail.DefaultPriority

// SendWith is [Send] with a priority, 0 to 255, and a deadline. within is the time until the deadline in
// nanoseconds: zero or less means that it has passed, and more than half an hour means that there is none.
//
// The receiver's handler reads the priority with [Context.Priority]. A host actor takes
// messages with a higher priority first; an actor on the device takes messages of other
// actors in the order of their arrival. A message whose deadline passes before the
// handler gets it is not handled, and is counted in the receiver's ring.Info.Expired. For
// a host actor it also becomes a dead letter.
//
//quern:unchecked
func SendWith[M any](_ kernel.Thread, c *Context, to Ref[M], msg *M, priority uint8, within int64) bool {
	return send(c, to, msg, uint32(priority), c.Mail.Within(within))
}

//quern:unchecked
func send[M any](c *Context, to Ref[M], msg *M, priority, deadline uint32) bool {
	if to.Mailbox == 0 {
		return false
	}
	c.Mail.Aim(to.Mailbox, to.Actor)
	ticket, room := c.Mail.Reserve()
	if room != mail.RoomTaken {
		return false
	}
	slot, tag := c.Mail.Slot(ticket), uint64(ticket+1)<<32
	c.Mail.Head(slot, tag, priority, deadline)
	kernel.PutWords(slot, mail.InHeader, tag, msg, kernel.SystemScope)
	c.Mail.Wake()
	return true
}

// Ended reports whether an actor accepts no more messages, or to refers to no actor.
// Then waiting for room is useless.
func Ended[M any](c *Context, to Ref[M]) bool {
	if to.Mailbox == 0 {
		return true
	}
	return uint32(kernel.LoadRelaxed(&c.Mail.Post[int(to.Mailbox)*mail.BoxWords+mail.BoxOwner])) != to.Actor
}

// MaxMessage is the maximum size in bytes of a message from an actor on the device to
// a host actor. For other messages the shared memory of a block is the limit.
const MaxMessage = 4096
