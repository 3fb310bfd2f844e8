// Package actor is the device's half of package ring. Handlers of actors are written
// with it, in the kernel language:
//
//	//quern:actor
//	func count(t kernel.Thread, c *actor.Context, total *int64, in *Order, out *int64) kernel.Action {
//		if t.ThreadIdx.X == 0 {
//			*total += in.Number
//			*out = *total
//			actor.Send(t, c, in.Next, out)
//		}
//		return kernel.Reply
//	}
//
// # For handlers
//
// This is all that a handler needs:
//
//   - [Context] and its methods: what is known of the message. A handler that takes one
//     as its second parameter gets it.
//   - [Ref], [Self], [Send] and [Ended]: other actors, and messages to them.
//   - [Group], [Publish], [Route] and [Pick]: many receivers, or one of many.
//   - [Payload]: data that is too large for a message.
//   - [MaxMessage]: how large messages to actors in Go are, at most.
//
// Everything else that the package exports is the loop's, which calls the handler, and
// its host's: the code that quern gen writes and package ring need it, programs do not.
// It changes without notice, as do the fields of Context, Ref, Group and Payload. What
// follows is about the loop.
//
// # The loop
//
// The loop stays resident on a GPU, takes messages out of a mailbox and calls the
// handler. quern gen compiles it together with each handler that is marked
// //quern:actor.
//
// # Mailboxes
//
// A mailbox is two rings in memory of the host that the device reaches: messages
// in the inbox, replies in the outbox, a slot of each for every position. The
// message with number n (its ticket, which counts from 0 and wraps around at
// 1<<32) lies in slot n modulo Shape.Slots of the inbox, and what became of it in
// the same slot of the outbox.
//
// A slot is made of words of 64 bits: 32 bits of data in the lower half, the tag
// of the ticket, n+1, in the upper half. A word is written and read in one piece,
// so a word with the right tag has the right data, in whatever order the words
// arrive: a reader needs one trip over the bus, and neither side needs a fence.
// The first [InHeader] or [OutHeader] words of a slot are its header, the rest is
// the message or the reply.
//
// # Control
//
// Each actor has [ControlWords] words in the same memory: one that the host
// writes, [Command], and one that the device does, [Left].
//
// # Leaving
//
// Everything that outlives a message is in memory: the state, the rings, and the
// cursor, which is the ticket of the next message. So the loop can leave between
// any two messages and be launched again without losing one. It leaves when the
// host says so, when its launch is bounded and the bound is reached, when a
// handler stops the actor, and when a thread of the handler has failed. A loop
// that leaves for any of these reasons says so in [Left]; one whose threads have
// all failed does not.
package actor
