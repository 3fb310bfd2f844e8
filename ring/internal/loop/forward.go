package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
)

// A list of routes in the post memory is the number of actors, then one word per actor: the mailbox
// in the lower half, the number of the actor in the upper half. The host changes it between launches.

// forward sends a reply, whose words begin at from, to the mailboxes of the actor's
// routes, beginning with route first. It waits for room. If the loop must leave
// before all have the reply, it keeps the reply for the next launch and returns
// false.
func forward[F form](t kernel.Thread, s Shape, f F, sh *Status, c *actor.Context, post, command []uint64, cursor, words []uint32, from, first uint32) bool {
	list := int(cursor[mail.Routes])
	count := uint32(post[list])
	size := s.Out - mail.OutHeader
	for i := first; i < count; i++ {
		to := post[list+1+int(i)]
		box := uint32(to)
		for {
			if t.ThreadIdx.X == 0 {
				c.Mail.Aim(box, uint32(to>>32))
				sh.Ticket, sh.Room = c.Mail.Reserve()
				if sh.Room == mail.RoomFull && (s.Alone != 0 || uint32(kernel.LoadRelaxed(&command[mail.Command], kernel.SystemScope)) != 0) {
					sh.Room = mail.RoomFull + roomAsked
				}
			}
			f.sync(t)
			ticket, room := sh.Ticket, sh.Room
			f.sync(t)
			if room == mail.RoomTaken {
				put(t, f, c, post, words[from:from+size], box, ticket, s.Wakes)
			}
			if room == mail.RoomFull+roomAsked {
				save(t, c, cursor, words[from:from+size], i)
				f.sync(t)
				return false
			}
			if room != mail.RoomFull {
				break
			}
		}
	}
	f.sync(t) // now the words may be overwritten
	return true
}

// roomAsked is added to roomFull when the loop must leave.
const roomAsked = 0x10

// put writes a message whose words are in shared memory.
func put[F form](t kernel.Thread, f F, c *actor.Context, post []uint64, words []uint32, box, ticket, wakes uint32) {
	b := post[int(box)*mail.BoxWords : (int(box)+1)*mail.BoxWords]
	slot, tag := int(b[mail.BoxRing]+uint64(ticket&(uint32(b[mail.BoxSlots])-1))*b[mail.BoxStep]), uint64(ticket+1)<<32
	first := t.ThreadIdx.X == 0
	memory := post
	if b[mail.BoxKind] == mail.HostBox {
		memory = c.Mail.Host
	}
	if first {
		c.Mail.Head(memory[slot:], tag, mail.DefaultPriority, 0)
	}
	for w := t.ThreadIdx.X; w < len(words); w += t.BlockDim.X {
		kernel.StoreRelaxed(&memory[slot+mail.InHeader+w], tag|uint64(words[w]), kernel.SystemScope)
	}
	if wakes != 0 {
		kernel.Fence(kernel.SystemScope)
		f.sync(t)
		if first {
			c.Mail.Wake()
		}
	}
}

// save keeps a reply for the routes from first
// on.
func save(t kernel.Thread, c *actor.Context, cursor, words []uint32, first uint32) {
	for w := t.ThreadIdx.X; w < len(words); w += t.BlockDim.X {
		c.Mail.Post[int(cursor[mail.Saved])+w] = uint64(words[w])
	}
	if t.ThreadIdx.X == 0 {
		c.Mail.Post[int(cursor[mail.Saved])+len(words)] = c.Correlation()
		cursor[mail.Pending] = first + 1
	}
}

// forwardSaved sends the reply that the last launch has kept. If it has to keep the
// reply again, it returns false.
func forwardSaved[F form](t kernel.Thread, s Shape, f F, sh *Status, c *actor.Context, post, command []uint64, cursor, words []uint32) bool {
	first := cursor[mail.Pending] - 1
	correlation := post[int(cursor[mail.Saved])+int(s.Out-mail.OutHeader)]
	if t.ThreadIdx.X == 0 {
		words[mail.CorrelationLow], words[mail.CorrelationHigh] = uint32(correlation), uint32(correlation>>32)
	}
	for w := uint32(t.ThreadIdx.X); w < s.Out-mail.OutHeader; w += uint32(t.BlockDim.X) {
		words[s.OutAt+w] = uint32(post[int(cursor[mail.Saved])+int(w)])
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		cursor[mail.Pending] = 0
	}
	t.Sync()
	done := forward(t, s, f, sh, c, post, command, cursor, words, s.OutAt, first)
	empties(s, words, s.OutAt-mail.OutHeader, uint32(t.ThreadIdx.X), uint32(t.BlockDim.X))
	return done
}
