package actor

import "quern.dev/kernel"

// inGo reports whether the loop is compiled to Go. There a thread costs as much as
// it does, so that one of them does all that is not the handler's; a block runs
// when it has messages, and nothing is far away. The compiler knows the answer and
// leaves the other loop out.
func inGo() bool { return true }

// nobody is a source that there is not: there are no messages, or no more turns.
const nobody = Post + 1

// serveAlone is Serve for blocks in Go, which handle the messages that are there,
// at most Shape.Messages, and leave. A message has arrived when its header has: the
// host counts no other.
func serveAlone[State, In, Out any](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox, post, host []uint64,
	handle func(kernel.Thread, *Context, *State, *In, *Out) kernel.Action, sh *Status) {
	cells := kernel.Dynamic[Cell[In, Out]](t)
	words := kernel.Dynamic[uint32](t)

	me, first := t.BlockIdx.X+int(s.First), t.ThreadIdx.X == 0
	command := control[me*ControlWords : (me+1)*ControlWords]
	cursor := cursors[me*CursorWords : (me+1)*CursorWords]
	slots := int(s.Slots + (Levels-1)*s.SideSlots)
	in := inbox[me*slots*int(s.InStep) : (me+1)*slots*int(s.InStep)]
	out := outbox[me*slots*int(s.OutStep) : (me+1)*slots*int(s.OutStep)]

	number := int(cursor[Box])
	box := post[number*BoxWords : (number+1)*BoxWords]
	mail := post[int(box[BoxRing]) : int(box[BoxRing])+int(box[BoxSlots])*int(s.InStep)]
	routes := cursor[Routes]
	c := Context{Post: post, Host: host, Control: command, Mailbox: cursor[Box], ID: cursor[Number], Wakes: s.Wakes, Words: words}

	leaving, handled := uint32(0), uint32(0)
	begin, born := int64(0), int64(0) // of the first thread
	if first {
		kernel.StoreRelaxed(&box[BoxAsleep], 0)
		sh.Higher[0], sh.Hint[0], sh.Missing[0], sh.Asked[0] = 1, 0, nobody, 0
		begin = kernel.Clock()
		born = begin
		if relaySaved(&c, cursor, words[s.OutAt:s.OutAt+s.Out-OutHeader]) {
			pick(s, sh, begin-born, command, cursor, box, in, mail, words)
		}
	}
	t.Sync()
	for leaving == 0 {
		source := sh.Missing[0]
		if source == nobody {
			leaving = Bounded
			if sh.Asked[0] != 0 {
				leaving = Asked
			}
			break
		}
		result := uint32(Expired)
		if sh.Late == 0 {
			outcome := uint32(handle(t, &c, &states[me], &cells[0].In, &cells[0].Out))
			if first {
				sh.Outcome[0] = outcome
			}
			t.Sync()
			result = sh.Outcome[0]
		}
		if result == uint32(kernel.Again) {
			leaving = Bounded
			break
		}
		handled++
		forwards := routes != 0 && (result == uint32(kernel.Reply) || result == uint32(kernel.ReplyAndStop))
		stops := result == uint32(kernel.Stop) || result == uint32(kernel.ReplyAndStop)
		last := stops || handled == s.Messages
		if first {
			now := kernel.Clock()
			if source == Post {
				kernel.StoreRelaxed(&box[BoxHead], uint64(sh.Ticket+1))
			} else {
				answer(s, sh, out, words, result, uint32(now-begin), uint32(min(begin-born, 1<<32-1)))
				cursor[source] = sh.Ticket + 1
			}
			begin, sh.Missing[0] = now, nobody
			whole := !forwards || relay(&c, cursor, words[s.OutAt:s.OutAt+s.Out-OutHeader], 0)
			if whole && !last {
				pick(s, sh, begin-born, command, cursor, box, in, mail, words)
			}
		}
		t.Sync()
		if stops {
			leaving = Stopped
		}
	}
	if first {
		kernel.StoreRelaxed(&box[BoxAsleep], 1)
		kernel.StoreRelease(&command[Left], uint64(s.Epoch)<<32|uint64(leaving), kernel.SystemScope)
	}
}

// pick copies the next message: of the highest level, with those of actors in turn
// with those of the middle level. It notes in Missing where the message is from, in
// Late whether its deadline has passed, so long after the launch, and in Higher
// whether levels other than the middle one may have messages.
func pick(s Shape, sh *Status, since int64, command []uint64, cursor []uint32, box, in, mail []uint64, words []uint32) {
	ordered := kernel.LoadRelaxed(&command[Command], kernel.SystemScope)
	sh.Asked[0] = uint32(ordered)
	if sh.Asked[0] != 0 {
		return
	}
	if hint := uint32(ordered >> 32); hint != sh.Hint[0] {
		sh.Hint[0], sh.Higher[0] = hint, 1
	}
	source, sides := uint32(nobody), uint32(0)
	if sh.Higher[0] != 0 {
		for level := uint32(0); level < Levels; level++ {
			if level == MiddleLevel {
				continue
			}
			next := cursor[level]
			at := (ringAt(s, level) + next&(s.SideSlots-1)) * s.InStep
			if uint32(kernel.LoadRelaxed(&in[at], kernel.SystemScope)>>32) == next+1 {
				source, sides = level, 1
			}
		}
		sh.Higher[0] = sides
	}
	if source == nobody || source < MiddleLevel {
		next := cursor[MiddleLevel]
		middle := uint32(kernel.LoadRelaxed(&in[(next&(s.Slots-1))*s.InStep], kernel.SystemScope)>>32) == next+1
		posted := false
		if slots := uint32(box[BoxSlots]); slots != 0 {
			next := uint32(box[BoxHead])
			posted = uint32(kernel.LoadRelaxed(&mail[(next&(slots-1))*s.InStep])>>32) == next+1
		}
		switch {
		case posted && !(middle && cursor[AtSource] == Post):
			source = Post
		case middle:
			source = MiddleLevel
		}
	}
	if source == nobody {
		return
	}
	ring, at := in, uint32(0)
	if source == Post {
		sh.Ticket = uint32(box[BoxHead])
		ring, at = mail, (sh.Ticket&(uint32(box[BoxSlots])-1))*s.InStep
	} else {
		sh.Ticket = cursor[source]
		at = (ringAt(s, source) + sh.Ticket&(slotsOf(s, source)-1)) * s.InStep
	}
	slot := ring[at : at+s.In]
	cell := words[:s.Stride]
	for w := range slot {
		v := kernel.LoadRelaxed(&slot[w], kernel.SystemScope)
		if uint32(v>>32) != sh.Ticket+1 {
			return // it is about to arrive
		}
		cell[w] = uint32(v)
	}
	reply := cell[s.OutAt : s.OutAt+s.Out-OutHeader]
	for w := range reply {
		reply[w] = 0
	}
	sh.Late, sh.Missing[0] = 0, source
	if deadline := cell[Deadline]; deadline != 0 && int32(uint32((s.Clock+since)>>DeadlineShift)-deadline) > 0 {
		sh.Late = 1
	}
	cursor[AtSource] = source
}

// answer writes what became of a message. What it waited begins with the launch: the
// host knows when it came.
func answer(s Shape, sh *Status, out []uint64, words []uint32, result, took, waited uint32) {
	source := sh.Missing[0]
	at := (ringAt(s, source) + sh.Ticket&(slotsOf(s, source)-1)) * s.OutStep
	slot := out[at : at+s.Out]
	tag := uint64(sh.Ticket+1) << 32
	reply := words[s.OutAt : s.OutAt+s.Out-OutHeader]
	kernel.StoreRelaxed(&slot[Outcome], tag|uint64(result), kernel.SystemScope)
	kernel.StoreRelaxed(&slot[Cycles], tag|uint64(took), kernel.SystemScope)
	kernel.StoreRelaxed(&slot[Waited], tag|uint64(waited), kernel.SystemScope)
	for w := range reply {
		kernel.StoreRelaxed(&slot[OutHeader+w], tag|uint64(reply[w]), kernel.SystemScope)
	}
}

// relay sends a reply to the mailboxes of the actor's routes from number first on.
// If one has no room it keeps the reply for the next launch and returns false.
func relay(c *Context, cursor, reply []uint32, first uint32) bool {
	list := int(cursor[Routes])
	count := uint32(c.Post[list])
	for i := first; i < count; i++ {
		to := c.Post[list+1+int(i)]
		c.aim(uint32(to), uint32(to>>32))
		ticket, room := reserve(c)
		if room == roomFull {
			saved := c.Post[int(cursor[Saved]) : int(cursor[Saved])+len(reply)+1]
			for w := range reply {
				saved[w] = uint64(reply[w])
			}
			saved[len(reply)] = c.Correlation()
			cursor[Pending] = i + 1
			return false
		}
		if room == roomTaken {
			deliver(c, reply, ticket)
		}
	}
	return true
}

// relaySaved goes on with a reply that relay has kept.
func relaySaved(c *Context, cursor, reply []uint32) bool {
	pending := cursor[Pending]
	if pending == 0 {
		return true
	}
	saved := c.Post[int(cursor[Saved]) : int(cursor[Saved])+len(reply)+1]
	for w := range reply {
		reply[w] = uint32(saved[w])
	}
	c.Words[CorrelationLow], c.Words[CorrelationHigh] = uint32(saved[len(reply)]), uint32(saved[len(reply)]>>32)
	cursor[Pending] = 0
	return relay(c, cursor, reply, pending-1)
}

// deliver writes a message into the slot of a ticket of the target.
func deliver(c *Context, words []uint32, ticket uint32) {
	slot, tag := c.slot(ticket), uint64(ticket+1)<<32
	head(c, slot, tag)
	for w := range words {
		kernel.StoreRelaxed(&slot[InHeader+w], tag|uint64(words[w]), kernel.SystemScope)
	}
	wake(c)
}
