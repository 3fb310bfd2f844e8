package actor

import "quern.dev/kernel"

// What became of an attempt to send.
const (
	roomTaken  = iota // a slot is the sender's
	roomFull          // there is none
	roomClosed        // and there will be none
)

// reserve takes the next ticket of a mailbox, if a slot is free for it.
func reserve(c *Context, box uint32) (ticket, room uint32) {
	b := c.Post[int(box)*BoxWords : (int(box)+1)*BoxWords]
	slots := uint32(b[BoxSlots])
	for {
		tail := kernel.LoadRelaxed(&b[BoxTail])
		head := kernel.LoadRelaxed(&b[BoxHead])
		if kernel.LoadRelaxed(&b[BoxClosed]) != 0 {
			room = roomClosed
			break
		}
		if uint32(tail)-uint32(head) >= slots && b[BoxKind] == HostBox {
			head = kernel.LoadRelaxed(&c.Host[b[BoxBell]+1], kernel.SystemScope)
			kernel.StoreRelaxed(&b[BoxHead], head)
		}
		if uint32(tail)-uint32(head) >= slots {
			room = roomFull
			break
		}
		// The receiver has read a slot before it advances the head: it has used what
		// it read. So the sender may write without a fence.
		if kernel.AtomicCompareAndSwap(&b[BoxTail], tail, tail+1) == tail {
			return uint32(tail), roomTaken
		}
	}
	kernel.AtomicAdd(&b[BoxRefused], 1)
	return 0, room
}

// slotAt is where the slot of a ticket begins.
func slotAt(c *Context, box, ticket uint32) int {
	b := c.Post[int(box)*BoxWords : (int(box)+1)*BoxWords]
	return int(b[BoxRing] + uint64(ticket&(uint32(b[BoxSlots])-1))*b[BoxStep])
}

// kindOf says where a mailbox is.
func kindOf(c *Context, box uint32) uint64 { return c.Post[int(box)*BoxWords+BoxKind] }

// head writes the header of a message that the actor sends.
func head(c *Context, slot int, tag uint64) {
	h := c.Post[slot : slot+InHeader]
	kernel.StoreRelaxed(&h[Urgency], tag|uint64(c.ID<<priorityBits|defaultPriority))
	kernel.StoreRelaxed(&h[Deadline], tag)
	kernel.StoreRelaxed(&h[CorrelationLow], tag|uint64(c.Words[c.At+CorrelationLow]))
	kernel.StoreRelaxed(&h[CorrelationHigh], tag|uint64(c.Words[c.At+CorrelationHigh]))
}

// headToHost is head for a host actor's mailbox.
func headToHost(c *Context, slot int, tag uint64) {
	h := c.Host[slot : slot+InHeader]
	kernel.StoreRelaxed(&h[Urgency], tag|uint64(c.ID<<priorityBits|defaultPriority), kernel.SystemScope)
	kernel.StoreRelaxed(&h[Deadline], tag, kernel.SystemScope)
	kernel.StoreRelaxed(&h[CorrelationLow], tag|uint64(c.Words[c.At+CorrelationLow]), kernel.SystemScope)
	kernel.StoreRelaxed(&h[CorrelationHigh], tag|uint64(c.Words[c.At+CorrelationHigh]), kernel.SystemScope)
}

// wake rings the bell of a mailbox whose receiver has left.
func wake(c *Context, box uint32) {
	if c.Wakes == 0 {
		return
	}
	// Either the receiver sees the message in its last look, or the sender sees that
	// it has left.
	kernel.Fence(kernel.SystemScope)
	b := c.Post[int(box)*BoxWords : (int(box)+1)*BoxWords]
	if kernel.LoadRelaxed(&b[BoxAsleep]) != 0 {
		kernel.StoreRelaxed(&c.Host[b[BoxBell]], 1, kernel.SystemScope)
		kernel.StoreRelaxed(&c.Host[AnyBell], 1, kernel.SystemScope)
	}
}
