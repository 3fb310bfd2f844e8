package loop

import (
	"sync/atomic"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
)

// Arguments of the loop's kernel, by position.
const (
	argShape = iota
	argControl
	argCursors
	argStates
	argInbox
	argOutbox
	argPost
	argHost
	argPayload
)

// noSource means that there is no message.
const noSource = mail.Post + 1

// GoLoop is the loop in Go, around a function that handles one message with all threads
// of the block. The function gets one context for each of contexts threads. A launch
// handles the available messages, at most Shape.Messages, and leaves. A message has
// arrived when its header has, because the host counts only such messages.
func GoLoop[State, In, Out any](r *host.Run, contexts int, handle func(r *host.Run, contexts []actor.Context, state *State, in *In, out *Out, action *kernel.Action)) {
	states := host.Slice[State](r, argStates)
	cells := host.Dynamic[Cell[In, Out]](r, 0)
	action := &host.Kept[kernel.Action](r, 0, 1)[0]
	own := host.Kept[actor.Context](r, 0, contexts)
	var b block
	for r.Next() {
		b.enter(r, own)
		for b.source != noSource {
			r.CheckHalt()
			outcome := uint32(mail.Expired)
			if !b.late {
				handle(r, own, &states[b.actor], &cells[0].In, &cells[0].Out, action)
				outcome = uint32(*action)
			}
			if !b.settle(&own[0], outcome) {
				break
			}
		}
		b.leave()
	}
}

// block is the state of a block in Go: what it has read about its actor, and its current message.
type block struct {
	shape           Shape
	actor           int
	command         []uint64
	cursor          []uint32
	in, out         []uint64
	box, mail       []uint64
	words           []uint32 // of the message and its reply
	handled         uint32
	leaving         uint32 // reason why the launch ends
	began, launched int64  // when the handler and the launch began

	source, ticket uint32 // of the message; noSource if there is none
	late           bool   // its deadline has passed
	hint           uint32 // the host's count of messages of side levels
	sides          bool   // levels other than the middle one may have messages
}

// enter begins a launch of a block: it sends the reply that the last launch kept, and
// takes the first message.
func (b *block) enter(r *host.Run, contexts []actor.Context) {
	s := host.Value[Shape](r, argShape)
	me := r.BlockIdx.X + int(s.First)
	slots := int(s.Slots + (mail.Levels-1)*s.SideSlots)
	cursor := host.Slice[uint32](r, argCursors)[me*mail.CursorWords : (me+1)*mail.CursorWords]
	post, inbox, outbox := host.Slice[uint64](r, argPost), host.Slice[uint64](r, argInbox), host.Slice[uint64](r, argOutbox)
	number := int(cursor[mail.Box])
	box := post[number*mail.BoxWords : (number+1)*mail.BoxWords]
	*b = block{
		shape: s, actor: me, cursor: cursor,
		command: host.Slice[uint64](r, argControl)[me*mail.ControlWords : (me+1)*mail.ControlWords],
		in:      inbox[me*slots*int(s.InStep) : (me+1)*slots*int(s.InStep)],
		out:     outbox[me*slots*int(s.OutStep) : (me+1)*slots*int(s.OutStep)],
		box:     box,
		mail:    post[int(box[mail.BoxRing]) : int(box[mail.BoxRing])+int(box[mail.BoxSlots])*int(s.InStep)],
		words:   host.Dynamic[uint32](r, 0)[:s.Stride],
		source:  noSource, sides: true, leaving: mail.Bounded,
	}
	b.began = kernel.Clock()
	b.launched = b.began
	c := actor.Context{Mail: mail.Sender{Post: post, Host: host.Slice[uint64](r, argHost), Control: b.command, Listed: true, Mailbox: cursor[mail.Box], ID: cursor[mail.Number], Wakes: s.Wakes, Words: b.words, Zero: s.Clock - b.launched}}
	for i := range contexts {
		contexts[i] = c
	}
	atomic.StoreUint64(&box[mail.BoxAsleep], 0)
	if b.forwardKept(&contexts[0]) {
		b.take()
	}
}

// leave ends the launch.
func (b *block) leave() {
	atomic.StoreUint64(&b.box[mail.BoxAsleep], 1)
	atomic.StoreUint64(&b.command[mail.Left], uint64(b.shape.Epoch)<<32|uint64(b.leaving))
}

// settle writes the outcome of the message, forwards its reply, and takes the next
// message. It returns false if the launch ends with this message.
func (b *block) settle(c *actor.Context, outcome uint32) bool {
	action := kernel.Action(outcome)
	if action == kernel.Again {
		return false
	}
	b.handled++
	now := kernel.Clock()
	if b.source == mail.Post {
		if outcome == mail.Expired {
			atomic.AddUint64(&b.box[mail.BoxExpired], 1)
		}
		atomic.StoreUint64(&b.box[mail.BoxHead], uint64(b.ticket+1))
	} else {
		b.answer(outcome, uint32(now-b.began), uint32(min(b.began-b.launched, 1<<32-1)))
		b.cursor[b.source] = b.ticket + 1
	}
	b.began, b.source = now, noSource
	stops := action == kernel.Stop || action == kernel.ReplyAndStop
	replied := action == kernel.Reply || action == kernel.ReplyAndStop
	whole := b.cursor[mail.Routes] == 0 || !replied || b.forward(c, 0)
	if stops {
		b.leaving = mail.Stopped
		return false
	}
	if whole && b.handled != b.shape.Messages {
		b.take()
	}
	return true
}

// reply returns the words of the reply.
func (b *block) reply() []uint32 {
	return b.words[b.shape.OutAt : b.shape.OutAt+b.shape.Out-mail.OutHeader]
}

// take copies the next message: from the highest level. Messages of actors and messages
// of the middle level take turns.
func (b *block) take() {
	ordered := atomic.LoadUint64(&b.command[mail.Command])
	if uint32(ordered) != 0 {
		b.leaving = mail.Asked
		return
	}
	if hint := uint32(ordered >> 32); hint != b.hint {
		b.hint, b.sides = hint, true
	}
	source := b.next()
	if source == noSource {
		return
	}
	ring, slots := b.in, uint32(0)
	first := uint32(0)
	if source == mail.Post {
		b.ticket, ring, slots = uint32(b.box[mail.BoxHead]), b.mail, uint32(b.box[mail.BoxSlots])
	} else {
		b.ticket, first, slots = b.cursor[source], ringAt(b.shape, source), slotsOf(b.shape, source)
	}
	at := (first + b.ticket&(slots-1)) * b.shape.InStep
	slot := ring[at : at+b.shape.In]
	for w := range slot {
		v := atomic.LoadUint64(&slot[w])
		if uint32(v>>32) != b.ticket+1 {
			return // it is about to arrive
		}
		b.words[w] = uint32(v)
	}
	clear(b.reply())
	b.source, b.late = source, false
	if deadline := b.words[mail.Deadline]; deadline != 0 {
		b.late = int32(uint32((b.shape.Clock+b.began-b.launched)>>mail.DeadlineShift)-deadline) > 0
	}
	b.cursor[mail.AtSource] = source
}

// next returns the source of the next message.
func (b *block) next() uint32 {
	source := uint32(noSource)
	if b.sides {
		for level := range uint32(mail.Levels) {
			if level != mail.MiddleLevel && b.arrived(level) {
				source = level
			}
		}
		b.sides = source != noSource
	}
	if source != noSource && source > mail.MiddleLevel {
		return source
	}
	middle, posted := b.arrived(mail.MiddleLevel), false
	if slots := uint32(b.box[mail.BoxSlots]); slots != 0 {
		head := uint32(b.box[mail.BoxHead])
		posted = uint32(atomic.LoadUint64(&b.mail[(head&(slots-1))*b.shape.InStep])>>32) == head+1
	}
	switch {
	case posted && !(middle && b.cursor[mail.AtSource] == mail.Post):
		return mail.Post
	case middle:
		return mail.MiddleLevel
	}
	return source
}

// arrived reports whether the next message of a level has arrived.
func (b *block) arrived(level uint32) bool {
	next := b.cursor[level]
	at := (ringAt(b.shape, level) + next&(slotsOf(b.shape, level)-1)) * b.shape.InStep
	return uint32(atomic.LoadUint64(&b.in[at])>>32) == next+1
}

// answer writes the outcome of a message. The time that it waited begins with the
// launch, because the host knows when the message came.
func (b *block) answer(outcome, took, waited uint32) {
	s := &b.shape
	at := (ringAt(*s, b.source) + b.ticket&(slotsOf(*s, b.source)-1)) * s.OutStep
	slot, tag := b.out[at:at+s.Out], uint64(b.ticket+1)<<32
	kernel.StoreRelaxed(&slot[mail.Outcome], tag|uint64(outcome))
	kernel.StoreRelaxed(&slot[mail.Cycles], tag|uint64(took))
	kernel.StoreRelaxed(&slot[mail.Waited], tag|uint64(waited))
	for w, v := range b.reply() {
		kernel.StoreRelaxed(&slot[mail.OutHeader+w], tag|uint64(v))
	}
}

// forward sends the reply to the mailboxes of the actor's routes from first on. If one
// has no room, it keeps the reply for the next launch and returns false.
func (b *block) forward(c *actor.Context, first uint32) bool {
	list := int(b.cursor[mail.Routes])
	for i := first; i < uint32(c.Mail.Post[list]); i++ {
		to := c.Mail.Post[list+1+int(i)]
		c.Mail.Aim(uint32(to), uint32(to>>32))
		ticket, room := c.Mail.Reserve()
		switch room {
		case mail.RoomFull:
			b.keep(c, i)
			return false
		case mail.RoomTaken:
			slot, tag := c.Mail.Slot(ticket), uint64(ticket+1)<<32
			c.Mail.Head(slot, tag, mail.DefaultPriority, 0)
			for w, v := range b.reply() {
				kernel.StoreRelaxed(&slot[mail.InHeader+w], tag|uint64(v))
			}
			c.Mail.Wake()
		}
	}
	return true
}

// kept returns where the reply is kept, followed by the correlation of its message.
func (b *block) kept(c *actor.Context) []uint64 {
	return c.Mail.Post[int(b.cursor[mail.Saved]):][:len(b.reply())+1]
}

// keep keeps the reply for the routes from number first on.
func (b *block) keep(c *actor.Context, first uint32) {
	kept := b.kept(c)
	for w, v := range b.reply() {
		kept[w] = uint64(v)
	}
	kept[len(kept)-1] = c.Correlation()
	b.cursor[mail.Pending] = first + 1
}

// forwardKept continues to forward a reply that was kept.
func (b *block) forwardKept(c *actor.Context) bool {
	pending := b.cursor[mail.Pending]
	if pending == 0 {
		return true
	}
	kept, reply := b.kept(c), b.reply()
	for w := range reply {
		reply[w] = uint32(kept[w])
	}
	correlation := kept[len(kept)-1]
	c.Mail.Words[mail.CorrelationLow], c.Mail.Words[mail.CorrelationHigh] = uint32(correlation), uint32(correlation>>32)
	b.cursor[mail.Pending] = 0
	return b.forward(c, pending-1)
}

// PayloadMemory returns the payload memory of the launch.
func PayloadMemory[T any](r *host.Run) []T { return host.Slice[T](r, argPayload) }
