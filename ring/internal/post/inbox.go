package post

import (
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/internal/rings"
)

// Inbox is the mailbox of a host actor. Actors on the device put messages into its ring, in
// the host's region, and the host takes them out. One goroutine at a time may use it.
type Inbox struct {
	Box
	memory *Memory
	head   uint32
	ring   rings.Inbox
}

// NewInbox makes the mailbox of a host actor whose messages have size bytes, and take step
// words in the ring.
func (p *Memory) NewInbox(step int, size uintptr, owner uint32) (*Inbox, error) {
	box, err := p.newBox(Box{Slots: slotsFor(step), Step: step, host: true}, owner)
	if err != nil {
		return nil, err
	}
	return &Inbox{Box: box, memory: p, ring: rings.Inbox{Step: 8 * uintptr(step), Size: size, Mask: uint64(box.Slots - 1)}}, nil
}

// HandOver gives the mailbox, which is empty and has no owner, to a host actor whose messages
// have size bytes and take as many words in the ring as those before. b must not be used
// after that.
func (b *Inbox) HandOver(size uintptr, owner uint32) (*Inbox, error) {
	next := &Inbox{Box: b.Box, memory: b.memory, head: b.head, ring: b.ring}
	next.ring.Size = size
	return next, b.memory.SetOwner(b.Box, owner)
}

// Collect copies each message to msg and passes it to accept, until accept returns false. It
// returns the number of messages that were accepted and are now out of the ring.
func (b *Inbox) Collect(msg unsafe.Pointer, accept func(h rings.Header) bool) (n int) {
	b.visit(func(words []uint64) {
		for ; n < b.Slots && b.ring.Arrived(uint64(b.head)); n++ {
			b.ring.Message(uint64(b.head), msg)
			if !accept(b.ring.Header(uint64(b.head))) {
				break
			}
			b.head++
		}
		if n > 0 {
			atomic.StoreUint64(&words[b.Bell+1], uint64(b.head))
		}
	})
	return n
}

// Waiting returns the number of messages in the ring.
func (b *Inbox) Waiting() (n int) {
	b.visit(func([]uint64) {
		for n < b.Slots && b.ring.Arrived(uint64(b.head)+uint64(n)) {
			n++
		}
	})
	return n
}

// SetDeadlines replaces the deadline of each message in the ring, a word of its header.
func (b *Inbox) SetDeadlines(replace func(word uint32) uint32) {
	b.visit(func([]uint64) {
		for n := range uint64(b.Slots) {
			t := uint64(b.head) + n
			if !b.ring.Arrived(t) {
				break
			}
			b.ring.SetDeadline(t, replace(b.ring.Header(t).Deadline))
		}
	})
}

// visit calls f with the host's region, in which it places the ring, unless the memory is
// closed.
func (b *Inbox) visit(f func(words []uint64)) {
	p := b.memory
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.closed {
		words := p.host.source.Data()
		b.ring.At = unsafe.Pointer(&words[b.Ring()]) // valid while mu is held; Slots*Step words follow
		f(words)
	}
}
