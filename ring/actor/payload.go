package actor

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// Payload is a reference to elements of type T in the payload memory of a runtime. It
// is plain data, for messages, replies and states. The zero value refers to no
// payload. The program makes payloads with ring.NewPayload.
//
// A handler accesses the elements through Open. The message that contains the
// reference holds the payload until the handler has returned. Before an actor keeps a
// reference in its state, sends it to another actor, or replies with it, it retains
// the payload. The new owner of the reference then releases it: the actor that kept
// it, the actor that received it, or the program with ring.TakePayload.
type Payload[T any] struct {
	Entry      uint32 // word in the post memory
	Generation uint32 // of the entry; 0 only in the zero value
	Offset     uint32 // in the payload memory, elements
	Length     uint32 // elements
}

// Len returns the number of elements.
func (p Payload[T]) Len() int { return int(p.Length) }

// Slice returns a reference to the elements lo to hi-1 of p. The range is checked
// when the result is opened or sent.
func (p Payload[T]) Slice(lo, hi int) Payload[T] {
	return Payload[T]{p.Entry, p.Generation, p.Offset + uint32(lo), uint32(hi - lo)}
}

// Open returns the elements of the payload. data is the payload memory that the handler
// gets. Each thread that uses the elements opens the payload itself. Everything that
// the host and other actors wrote before the message was sent is visible. If the
// payload was released, or the reference is invalid, the handler fails.
func (p Payload[T]) Open(c *Context, data []T) []T {
	requireHeld(c.Mail.Post, p.Entry, p.Generation)
	extent := c.Mail.Post[p.Entry+mail.PayloadRange]
	first, n := uint32(extent), uint32(extent>>32)
	if p.Offset < first || p.Length > n || p.Offset-first > n-p.Length {
		panic("reference to elements that are not of its payload")
	}
	return data[int(p.Offset) : int(p.Offset)+int(p.Length)]
}

// Retain gives the calling actor a hold on the payload, which [Payload.Release] ends.
// One thread of the block calls it, before the reference is sent or replied with, and
// after the threads that have written elements have called t.Sync. Then the new owner
// of the reference sees these elements. If the payload was released, the handler fails.
func (p Payload[T]) Retain(c *Context) {
	requireHeld(c.Mail.Post, p.Entry, p.Generation)
	kernel.Fence(kernel.SystemScope)
	kernel.AtomicAdd(&c.Mail.Post[p.Entry+mail.PayloadActors], 1, kernel.DeviceScope)
}

// Release ends a hold of an actor. One thread of the block calls it, after all threads have
// finished with the elements. If there are more releases than holds, the handler fails.
func (p Payload[T]) Release(c *Context) {
	requireHeld(c.Mail.Post, p.Entry, p.Generation)
	kernel.Fence(kernel.SystemScope)
	held := uint32(kernel.AtomicSub(&c.Mail.Post[p.Entry+mail.PayloadActors], 1, kernel.DeviceScope))
	kernel.Fence(kernel.SystemScope) // either the new holder sees that this hold is gone, or the new hold is seen here
	if taken := uint32(kernel.LoadAcquire(&c.Mail.Post[p.Entry+mail.PayloadHost], kernel.SystemScope)) >> 1; held <= taken {
		kernel.AtomicAdd(&c.Mail.Post[p.Entry+mail.PayloadActors], 1, kernel.DeviceScope)
		panic("payload released more often than retained")
	}
}

// requireHeld ends the handler if the payload of an entry has no holds.
func requireHeld(post []uint64, entry, generation uint32) {
	if generation == 0 {
		panic("reference to no payload")
	}
	host := kernel.LoadAcquire(&post[entry+mail.PayloadHost], kernel.SystemScope)
	if uint32(host>>32) != generation {
		panic("payload was released")
	}
	if host&1 == 0 {
		actors := kernel.LoadAcquire(&post[entry+mail.PayloadActors], kernel.DeviceScope)
		if uint32(actors) <= uint32(host)>>1 {
			panic("payload was released")
		}
	}
}
