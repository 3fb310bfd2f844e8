package actor

import "quern.dev/kernel"

// Context is what a handler knows of its actor and of the message that it handles.
// Its fields are the loop's; handlers use the methods and functions of this package.
type Context struct {
	Post, Host  []uint64
	Control     []uint64 // of the actor; in Go only
	Listed      bool     // receivers to wake are listed in Control, as they are in Go; on a GPU a constant
	Mailbox, ID uint32   // of the actor
	Wakes       uint32   // Shape.Wakes

	// The message's header is At words into Words, shared memory of the block.
	Words []uint32
	At    uint32

	To Target
}

// Number is the actor's number in its runtime, from 1.
func (c *Context) Number() uint32 { return c.ID }

// Sender is the number of the actor that sent the message, 0 if the program did.
func (c *Context) Sender() uint32 { return c.Words[c.At+Urgency] >> priorityBits }

// Priority is the message's, from 0 to 255.
func (c *Context) Priority() uint32 { return c.Words[c.At+Urgency] & (1<<priorityBits - 1) }

// Correlation is the correlation id that the message was sent with. Messages that
// the handler sends have the same.
func (c *Context) Correlation() uint64 {
	return uint64(c.Words[c.At+CorrelationHigh])<<32 | uint64(c.Words[c.At+CorrelationLow])
}

// Ref names an actor that takes messages of type M to actors on the device. It is
// plain data: it may be part of states and messages. The zero Ref names nobody. That of
// an actor that has ended never names another one.
type Ref[M any] struct {
	Mailbox uint32
	Actor   uint32 // its number
}

// Self is the handler's own actor. M is the type of the messages that it takes.
func Self[M any](c *Context) Ref[M] { return Ref[M]{c.Mailbox, c.ID} }

// Send sends a message to an actor, which may be the sender, on the device or on the
// host, and reports whether it has been taken. It is not if the receiver's mailbox is
// full, or the receiver takes no messages any more, which [Ended] tells apart; the
// mailbox counts these.
// Send does not wait. Each thread that calls it sends a message of its own; those of
// one thread arrive in their order.
//
//quern:unchecked
func Send[M any](_ kernel.Thread, c *Context, to Ref[M], msg *M) bool {
	if to.Mailbox == 0 {
		return false
	}
	c.aim(to.Mailbox, to.Actor)
	ticket, room := reserve(c)
	if room != roomTaken {
		return false
	}
	slot, tag := c.slot(ticket), uint64(ticket+1)<<32
	head(c, slot, tag)
	kernel.PutWords(slot, InHeader, tag, msg, kernel.SystemScope)
	wake(c)
	return true
}

// Ended reports whether an actor takes no messages any more, or to is nobody: to wait
// for room would be in vain.
func Ended[M any](c *Context, to Ref[M]) bool {
	if to.Mailbox == 0 {
		return true
	}
	return uint32(kernel.LoadRelaxed(&c.Post[int(to.Mailbox)*BoxWords+BoxOwner])) != to.Actor
}
