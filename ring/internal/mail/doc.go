// Package mail is the memory that actors share with each other and with the host, and the
// code that sends messages through it. Both sides import it: the loop on the device
// (ring/internal/loop), handlers (ring/actor) and the host (ring).
//
// # Rings
//
// A mailbox for messages from the host is two rings in host memory that the device can
// access: messages in the inbox, replies in the outbox, one slot of each per position. The
// message with number n (its ticket, which counts from 0 and wraps around at 1<<32) is in
// slot n modulo the number of slots of the inbox. Its outcome is in the same slot of the
// outbox.
//
// A slot consists of 64-bit words: 32 bits of data in the lower half, the tag n+1 of the
// ticket in the upper half. A word is written and read in one piece, so a word with the
// right tag has the right data, in whatever order the words arrive: a reader needs one
// trip over the bus, and neither side needs a fence. The first [InHeader] or [OutHeader]
// words of a slot are its header; the message or the reply follows.
//
// # Mailboxes in the post memory
//
// Messages from actor to actor go through a ring of the same form in the post memory, or
// in host memory if the receiver is an actor in Go. A [Sender] takes a ticket there with
// an atomic operation.
//
// # Control
//
// Each actor has [ControlWords] words of host memory: [Command], which the host writes,
// and [Left], which the device writes.
package mail
