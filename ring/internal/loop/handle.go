package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
)

// handleMessages calls the handler with the messages of b, and writes their replies. It
// returns before message b.until, or with b.unsettled if the outcome of a message is not the
// wanted one. After the last message a warp peeks for another one.
//
//quern:unchecked
func handleMessages[State, In, Out any, F form](t kernel.Thread, s Shape, l *loop[F], me *member, b *batch, sh *Status, c *actor.Context, state *State,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action) {
	cells := kernel.Dynamic[Cell[In, Out]](t)
	for {
		reply, word, outcome, odd := uint32(0), uint32(0), uint32(0), false
		for { // for most messages; rare cases are outside of this loop
			at := b.m * s.Stride
			reply = at + me.at
			c.Mail.At = at
			outcome = uint32(handle(t, c, state, &cells[b.m].In, &cells[b.m].Out))
			me.ended = kernel.Clock()
			l.form.finish(t, sh, outcome, l.calls)
			l.form.sync(t)
			word = l.words[reply]
			if odd = !l.form.replied(t, outcome, l.wanted); odd {
				break
			}
			l.write(s, me, reply, word)
			if b.m++; b.m == b.until {
				break
			}
		}
		if odd {
			b.result, b.whole = l.form.agree(t, sh, outcome, l.calls)
			if !(b.whole && l.wanted == uint32(kernel.Reply) && (b.result == uint32(kernel.Reply) || b.result == uint32(kernel.Done) && l.source == mail.Post)) {
				b.unsettled = true
				break
			}
			l.write(s, me, reply, word)
			if b.m++; b.m != b.until {
				continue
			}
		}
		if b.peeks == 0 || b.singles == 0 {
			break
		}
		v64, left := l.form.peek(t, &l.in[(l.next&l.mask)*s.InStep+min(me.thread, s.In-1)], l.next+1, b.peeks)
		if b.peeks = left; b.peeks == 0 {
			break
		}
		if me.thread < s.In {
			l.words[me.thread] = uint32(v64)
		}
		b.m = 0
		b.singles--
		l.form.sync(t)
	}
}

// write writes the thread's word of the reply to the message at hand, which has the wanted
// outcome.
//
//quern:unchecked
func (l *loop[F]) write(s Shape, me *member, reply, word uint32) {
	l.calls++
	if me.carries {
		l.words[reply] = 0
	}
	word |= me.ofReply | uint32(me.ended-me.begin)&me.ofTook | uint32(me.begin-me.arrived)&me.ofWaited
	me.begin = me.ended
	ticket := l.next + 1
	kernel.StoreRelaxed(&l.sink[(l.next&l.mask)*(s.OutStep&^l.ofPost)+me.sinkAt], uint64(ticket&^l.ofPost)<<32|uint64(word&^l.ofPost|ticket&l.ofPost), kernel.SystemScope)
	l.next = ticket
}

// expire drops a message whose deadline has passed.
//
//quern:unchecked
func (l *loop[F]) expire(s Shape, me *member) {
	if l.source == mail.Post {
		if me.first {
			kernel.StoreRelaxed(&l.box[mail.BoxExpired], kernel.LoadRelaxed(&l.box[mail.BoxExpired])+1)
			kernel.StoreRelaxed(&l.box[mail.BoxHead], uint64(l.next+1))
		}
	} else {
		settle(l.out[(l.next&l.mask)*s.OutStep:], s.Out, uint64(l.next+1)<<32, mail.Expired, me.thread, l.threads)
	}
	l.next++
	l.handled++
}

// settle writes the outcome of a message that handleMessages has left, with the reply whose
// words begin at reply.
//
//quern:unchecked
func (l *loop[F]) settle(s Shape, me *member, result, cycles, waited, reply uint32, tag uint64, slot uint32) {
	if l.source != mail.Post {
		for w := me.thread; w < s.Out; w += l.threads {
			v := result
			switch {
			case w >= mail.OutHeader:
				v = l.words[reply+w]
			case w == mail.Cycles:
				v = cycles
			case w == mail.Waited:
				v = waited
			}
			kernel.StoreRelaxed(&l.out[slot+w], tag|uint64(v), kernel.SystemScope)
		}
	}
	l.next++
	l.handled++
	if l.source == mail.Post && me.first {
		kernel.StoreRelaxed(&l.box[mail.BoxHead], uint64(l.next))
	}
}

// postpone keeps a message for which the handler has returned kernel.Again.
//
//quern:unchecked
func (l *loop[F]) postpone(s Shape, me *member, reply uint32) {
	l.again = true
	empties(s, l.words, reply, me.thread, l.threads)
	if s.Alone != 0 {
		l.leaving = mail.Bounded
	}
}

// fail leaves the loop after some threads have stopped in the handler. The first may be among
// them, so all others do its work.
//
//quern:unchecked
func (l *loop[F]) fail(t kernel.Thread, s Shape, tag uint64, slot uint32) {
	if l.source == mail.Post {
		kernel.StoreRelaxed(&l.box[mail.BoxHead], uint64(l.next+1))
	} else {
		settle(l.out[slot:], s.Out, tag, mail.HandlerFailed, 0, 1)
		kernel.StoreRelaxed(&l.cursor[l.source], l.next+1)
	}
	kernel.AsyncWait(t, 0)
	kernel.StoreRelease(&l.command[mail.Left], uint64(s.Epoch)<<32|mail.Failed, kernel.SystemScope)
}
