// Package actor is the device's half of package ring: the loop that stays
// resident on a GPU, takes messages out of a mailbox and calls an actor's
// handler. It is written in the kernel language; quern gen compiles it together
// with each handler that is marked //quern:actor. Programs use package ring.
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
