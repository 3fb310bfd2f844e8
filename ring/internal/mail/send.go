package mail

import "quern.dev/kernel"

// Sender is an actor that sends messages. Its methods are called in this order: Aim,
// Reserve, and if there is room Head, then the words of the message are written, then Wake.
type Sender struct {
	Post, Host  []uint64 // the memory with the mailboxes, and host memory
	Control     []uint64 // of the actor; only in Go
	Listed      bool     // receivers to wake are listed in Control, which is so in Go; a constant on a GPU
	Mailbox, ID uint32   // of the actor
	Wakes       uint32   // 1: loops of the runtime may have left while actors send to each other

	// Zero is the runtime's time in nanoseconds when the timer was 0: kernel.Clock in Go,
	// kernel.GlobalTimer on a GPU.
	Zero int64

	// Words is the shared memory of the block. The header of the actor's current
	// message begins at word At.
	Words []uint32
	At    uint32

	To Target
}

// Results of an attempt to send.
const (
	RoomTaken  = iota // the sender has a slot
	RoomFull          // there is no free slot
	RoomClosed        // there is none, and there will be none
)

// Target is what a sender remembers of the last mailbox that it sent to, so that it
// need not read that again before it takes a ticket.
type Target struct {
	Box, Actor uint32 // 0 for none
	Tail       uint64 // last known value
	Head       uint32 // the same

	// These do not change while loops run.
	Words, Ring       []uint64 // the mailbox, and its slots
	Slots, Step, Kind uint32

	Owner uint32 // of the mailbox, when the last ticket was taken
}

// Aim makes the mailbox of an actor the target.
func (s *Sender) Aim(box, actor uint32) {
	if s.To.Box == box && s.To.Actor == actor {
		return
	}
	b := s.Post[int(box)*BoxWords : (int(box)+1)*BoxWords]
	memory := s.Post
	if b[BoxKind] == HostBox {
		memory = s.Host
	}
	ring, slots, step := b[BoxRing], uint32(b[BoxSlots]), uint32(b[BoxStep])
	end := ring + uint64(slots)*uint64(step)
	if end > uint64(len(memory)) || ring > end {
		panic("a Ref that names no mailbox")
	}
	s.To = Target{Box: box, Actor: actor, Tail: kernel.LoadRelaxed(&b[BoxTail]), Head: uint32(kernel.LoadRelaxed(&b[BoxHead])),
		Words: b, Ring: memory[ring:end], Slots: slots, Step: step, Kind: uint32(b[BoxKind]), Owner: uint32(kernel.LoadRelaxed(&b[BoxOwner]))}
}

// Slot returns the slot of a ticket of the target.
//
//quern:unchecked
func (s *Sender) Slot(ticket uint32) []uint64 {
	return s.To.Ring[ticket&(s.To.Slots-1)*s.To.Step:]
}

// Reserve takes the next ticket of the target, if it has a free slot. A mailbox that
// was closed just before may take one more message, which then becomes a dead letter.
//
//quern:unchecked
func (s *Sender) Reserve() (ticket, room uint32) {
	b := s.To.Words
	for {
		if s.To.Owner != s.To.Actor || uint32(s.To.Tail)-s.To.Head >= s.To.Slots {
			if room = s.survey(); room != RoomTaken {
				kernel.AtomicAdd(&b[BoxRefused], 1)
				return 0, room
			}
		}
		owner := uint32(kernel.LoadRelaxed(&b[BoxOwner])) // loaded in parallel to the ticket
		// The receiver advances the head after it has read and used a slot, so the
		// sender may write without a fence.
		tail := kernel.AtomicCompareAndSwap(&b[BoxTail], s.To.Tail, s.To.Tail+1)
		if tail == s.To.Tail {
			s.To.Tail, s.To.Owner = tail+1, owner
			return uint32(tail), RoomTaken
		}
		s.To.Tail = tail
	}
}

// survey checks whether the target's mailbox accepts messages and has a free slot.
//
//quern:unchecked
func (s *Sender) survey() (room uint32) {
	b := s.To.Words
	s.To.Owner = uint32(kernel.LoadRelaxed(&b[BoxOwner]))
	if s.To.Owner != s.To.Actor {
		return RoomClosed
	}
	s.To.Tail, s.To.Head = kernel.LoadRelaxed(&b[BoxTail]), uint32(kernel.LoadRelaxed(&b[BoxHead]))
	if uint32(s.To.Tail)-s.To.Head >= s.To.Slots && s.To.Kind == HostBox {
		head := kernel.LoadRelaxed(&s.Host[b[BoxBell]+1], kernel.SystemScope)
		kernel.StoreRelaxed(&b[BoxHead], head)
		s.To.Head = uint32(head)
	}
	if uint32(s.To.Tail)-s.To.Head >= s.To.Slots {
		return RoomFull
	}
	return RoomTaken
}

// Within returns the deadline of a message that must be handled within the given
// nanoseconds, as a word of its header; 0 means none.
func (s *Sender) Within(ns int64) uint32 {
	if ns > FarAhead {
		return 0
	}
	now := s.Zero
	if s.Listed {
		now += kernel.Clock()
	} else {
		now += kernel.GlobalTimer()
	}
	return max(1, uint32((now+max(ns, -FarAhead))>>DeadlineShift))
}

// Head writes the header of a message that the actor sends.
//
//quern:unchecked
func (s *Sender) Head(slot []uint64, tag uint64, priority, deadline uint32) {
	h := slot[:InHeader]
	kernel.StoreRelaxed(&h[Urgency], tag|uint64(s.ID<<PriorityBits|priority), kernel.SystemScope)
	kernel.StoreRelaxed(&h[Deadline], tag|uint64(deadline), kernel.SystemScope)
	kernel.StoreRelaxed(&h[CorrelationLow], tag|uint64(s.Words[s.At+CorrelationLow]), kernel.SystemScope)
	kernel.StoreRelaxed(&h[CorrelationHigh], tag|uint64(s.Words[s.At+CorrelationHigh]), kernel.SystemScope)
}

// Wake rings the bell of the target if its receiver has left.
//
//quern:unchecked
func (s *Sender) Wake() {
	if s.Listed {
		s.list()
		return
	}
	if s.Wakes == 0 || s.To.Kind == HostBox {
		return
	}
	// Either the receiver sees the message in its last poll, or the sender sees that
	// it has left.
	kernel.Fence(kernel.SystemScope)
	b := s.To.Words
	if kernel.LoadRelaxed(&b[BoxAsleep]) != 0 {
		s.ring()
	}
}

// ring rings the bell of the target.
//
//quern:unchecked
func (s *Sender) ring() {
	kernel.StoreRelaxed(&s.Host[s.To.Words[BoxBell]], 1, kernel.SystemScope)
	kernel.StoreRelaxed(&s.Host[AnyBell], 1, kernel.SystemScope)
}

// list adds the target to the block's own list of receivers to wake, because bells
// are words that all processors share.
//
//quern:unchecked
func (s *Sender) list() {
	kernel.Fence(kernel.SystemScope) // as in Wake
	if s.To.Kind != HostBox && kernel.LoadRelaxed(&s.To.Words[BoxAsleep]) == 0 {
		return
	}
	rung := s.Control[Rung:]
	n, box := rung[0], uint64(s.To.Box)
	for i := range min(n, MostRung) {
		if uint64(uint32(rung[1+i/2]>>(32*(i&1)))) == box {
			return
		}
	}
	switch {
	case n >= MostRung:
		rung[0] = MostRung + 1
		if s.To.Kind != HostBox {
			s.ring()
		}
		return
	case n&1 == 0:
		rung[1+n/2] = box
	default:
		rung[1+n/2] |= box << 32
	}
	rung[0] = n + 1
}
