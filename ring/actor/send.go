package actor

import "quern.dev/kernel"

// What became of an attempt to send.
const (
	roomTaken  = iota // a slot is the sender's
	roomFull          // there is none
	roomClosed        // and there will be none
)

// Target is what a sender knows of the mailbox that it sent to last, so that it need
// not wait for that before it asks for a ticket.
type Target struct {
	Box, Actor uint32 // 0 for none
	Tail       uint64 // as it was last seen
	Head       uint32 // the same

	// What does not change while loops run.
	Words, Ring       []uint64 // the mailbox, and its slots
	Slots, Step, Kind uint32

	Owner uint32 // of the mailbox, when the last ticket was taken
}

// aim makes the mailbox of an actor the target.
func (c *Context) aim(box, actor uint32) {
	if c.To.Box == box && c.To.Actor == actor {
		return
	}
	b := c.Post[int(box)*BoxWords : (int(box)+1)*BoxWords]
	memory := c.Post
	if b[BoxKind] == HostBox {
		memory = c.Host
	}
	ring, slots, step := b[BoxRing], uint32(b[BoxSlots]), uint32(b[BoxStep])
	end := ring + uint64(slots)*uint64(step)
	if end > uint64(len(memory)) || ring > end {
		panic("a Ref that names no mailbox")
	}
	c.To = Target{Box: box, Actor: actor, Tail: kernel.LoadRelaxed(&b[BoxTail]), Head: uint32(kernel.LoadRelaxed(&b[BoxHead])),
		Words: b, Ring: memory[ring:end], Slots: slots, Step: step, Kind: uint32(b[BoxKind]), Owner: uint32(kernel.LoadRelaxed(&b[BoxOwner]))}
}

// slot is where the slot of a ticket of the target begins.
//
//quern:unchecked
func (c *Context) slot(ticket uint32) []uint64 {
	return c.To.Ring[ticket&(c.To.Slots-1)*c.To.Step:]
}

// reserve takes the next ticket of the target, if a slot is free for it. A mailbox
// that has just been closed may take one more message, which is a dead letter then.
//
//quern:unchecked
func reserve(c *Context) (ticket, room uint32) {
	b := c.To.Words
	for {
		if c.To.Owner != c.To.Actor || uint32(c.To.Tail)-c.To.Head >= c.To.Slots {
			if room = survey(c); room != roomTaken {
				kernel.AtomicAdd(&b[BoxRefused], 1)
				return 0, room
			}
		}
		owner := uint32(kernel.LoadRelaxed(&b[BoxOwner])) // comes while the ticket does
		// The receiver has read a slot before it advances the head: it has used what
		// it read. So the sender may write without a fence.
		tail := kernel.AtomicCompareAndSwap(&b[BoxTail], c.To.Tail, c.To.Tail+1)
		if tail == c.To.Tail {
			c.To.Tail, c.To.Owner = tail+1, owner
			return uint32(tail), roomTaken
		}
		c.To.Tail = tail
	}
}

// survey looks at the target's mailbox, whether it takes messages, and has a free slot.
//
//quern:unchecked
func survey(c *Context) (room uint32) {
	b := c.To.Words
	c.To.Owner = uint32(kernel.LoadRelaxed(&b[BoxOwner]))
	if c.To.Owner != c.To.Actor {
		return roomClosed
	}
	c.To.Tail, c.To.Head = kernel.LoadRelaxed(&b[BoxTail]), uint32(kernel.LoadRelaxed(&b[BoxHead]))
	if uint32(c.To.Tail)-c.To.Head >= c.To.Slots && c.To.Kind == HostBox {
		head := kernel.LoadRelaxed(&c.Host[b[BoxBell]+1], kernel.SystemScope)
		kernel.StoreRelaxed(&b[BoxHead], head)
		c.To.Head = uint32(head)
	}
	if uint32(c.To.Tail)-c.To.Head >= c.To.Slots {
		return roomFull
	}
	return roomTaken
}

// head writes the header of a message that the actor sends.
//
//quern:unchecked
func head(c *Context, slot []uint64, tag uint64) {
	h := slot[:InHeader]
	kernel.StoreRelaxed(&h[Urgency], tag|uint64(c.ID<<priorityBits|defaultPriority), kernel.SystemScope)
	kernel.StoreRelaxed(&h[Deadline], tag, kernel.SystemScope)
	kernel.StoreRelaxed(&h[CorrelationLow], tag|uint64(c.Words[c.At+CorrelationLow]), kernel.SystemScope)
	kernel.StoreRelaxed(&h[CorrelationHigh], tag|uint64(c.Words[c.At+CorrelationHigh]), kernel.SystemScope)
}

// wake rings the bell of the target if its receiver has left.
//
//quern:unchecked
func wake(c *Context) {
	if c.Listed {
		list(c)
		return
	}
	if c.Wakes == 0 || c.To.Kind == HostBox {
		return
	}
	// Either the receiver sees the message in its last look, or the sender sees that
	// it has left.
	kernel.Fence(kernel.SystemScope)
	b := c.To.Words
	if kernel.LoadRelaxed(&b[BoxAsleep]) != 0 {
		ring(c)
	}
}

// ring rings the bell of the target.
//
//quern:unchecked
func ring(c *Context) {
	kernel.StoreRelaxed(&c.Host[c.To.Words[BoxBell]], 1, kernel.SystemScope)
	kernel.StoreRelaxed(&c.Host[AnyBell], 1, kernel.SystemScope)
}

// list puts the target on the block's own list of receivers to wake: bells are words
// that all processors share.
//
//quern:unchecked
func list(c *Context) {
	kernel.Fence(kernel.SystemScope) // as in wake
	if c.To.Kind != HostBox && kernel.LoadRelaxed(&c.To.Words[BoxAsleep]) == 0 {
		return
	}
	rung := c.Control[Rung:]
	n, box := rung[0], uint64(c.To.Box)
	for i := range min(n, MostRung) {
		if uint64(uint32(rung[1+i/2]>>(32*(i&1)))) == box {
			return
		}
	}
	switch {
	case n >= MostRung:
		rung[0] = MostRung + 1
		if c.To.Kind != HostBox {
			ring(c)
		}
		return
	case n&1 == 0:
		rung[1+n/2] = box
	default:
		rung[1+n/2] |= box << 32
	}
	rung[0] = n + 1
}
