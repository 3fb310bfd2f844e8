package actor

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// Context is what a handler knows of its actor and of the message that it handles.
type Context struct {
	Mail mail.Sender // for the loop around the handler
}

// Number is the actor's number in its runtime, from 1.
func (c *Context) Number() uint32 { return c.Mail.ID }

// Sender is the number of the actor that sent the message, 0 if the program did.
func (c *Context) Sender() uint32 { return c.Mail.Words[c.Mail.At+mail.Urgency] >> mail.PriorityBits }

// Priority is the message's, from 0 to 255.
func (c *Context) Priority() uint32 {
	return c.Mail.Words[c.Mail.At+mail.Urgency] & (1<<mail.PriorityBits - 1)
}

// Correlation is the correlation id that the message was sent with. Messages that
// the handler sends have the same.
func (c *Context) Correlation() uint64 {
	return uint64(c.Mail.Words[c.Mail.At+mail.CorrelationHigh])<<32 | uint64(c.Mail.Words[c.Mail.At+mail.CorrelationLow])
}

// Ref names an actor that takes messages of type M to actors on the device. It is
// plain data: it may be part of states and messages. The zero Ref names nobody. That of
// an actor that has ended never names another one.
type Ref[M any] struct {
	Mailbox uint32
	Actor   uint32 // its number
}

// Self is the handler's own actor. M is the type of the messages that it takes.
func Self[M any](c *Context) Ref[M] { return Ref[M]{c.Mail.Mailbox, c.Mail.ID} }

// Send sends a message to an actor, which may be the sender, on the device or on the
// host, and reports whether it has been taken. It is not if the receiver's mailbox is
// full, or the receiver takes no messages any more, which [Ended] tells apart; the
// mailbox counts these.
// Send does not wait. Each thread that calls it sends a message of its own; those of
// one thread arrive in their order.
//
//quern:unchecked
func Send[M any](_ kernel.Thread, c *Context, to Ref[M], msg *M) bool {
	return send(c, to, msg, DefaultPriority, 0)
}

// DefaultPriority is the priority of messages that are sent without one.
const DefaultPriority = mail.DefaultPriority

// SendWith is [Send] of a message with a priority, 0 to 255, and a deadline: within is in
// nanoseconds from now; up to 0 it has passed, and one of more than half an hour is none.
//
// The receiver's handler reads the priority with [Context.Priority]. A host actor takes
// messages with a higher priority first; an actor on the device takes messages of other
// actors in the order in which they came. A message whose deadline has passed before the
// handler gets it is not handled, and counted in the receiver's ring.Info.Expired. A host
// actor makes a dead letter of it.
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

// Ended reports whether an actor takes no messages any more, or to is nobody: to wait
// for room would be in vain.
func Ended[M any](c *Context, to Ref[M]) bool {
	if to.Mailbox == 0 {
		return true
	}
	return uint32(kernel.LoadRelaxed(&c.Mail.Post[int(to.Mailbox)*mail.BoxWords+mail.BoxOwner])) != to.Actor
}

// MaxMessage is the largest size in bytes of a message from an actor on the device to
// one in Go. For others the shared memory of a block is the limit.
const MaxMessage = 4096
