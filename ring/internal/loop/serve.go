package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
)

const (
	idlePolls = 16  // polls of an empty inbox between readings of the timer, which is slow
	near      = 64  // polls of device memory between polls of the host's memory, which is far
	mailPolls = 128 // polls of an empty post before the loop goes back to the host's messages
)

// A sender that asks waits for the reply, and then asks again. A poll of the host's memory
// in between finds nothing and takes its full time. So the loop pauses after a reply, for
// firstDelay cycles at first. The pause gets shorter by sooner if the first poll after it
// finds a message, and longer by later if the second one does.
const (
	firstDelay = 1200
	mostDelay  = 2400
	sooner     = 16
	later      = 64
)

// While messages come faster than they are handled, the loop skips the host's command and
// the other sources in up to mostHurries polls in a row. It skips them in no poll if the
// last messages took longer than briefly, in cycles.
const (
	mostHurries = 3
	briefly     = 1 << 15
)

// agedAfter is the number of turns with messages between two readings of the timer.
const agedAfter = 64

// mostNeeded is the largest number of polls with one message after which the loop polls
// for several.
const mostNeeded = 256

// outcomeOfNone is not an outcome of any handler.
const outcomeOfNone = 1<<32 - 1

// untouched is a number of messages that is never reached.
const untouched = 1<<32 - 1

// Status is how the threads of a block communicate. The parts for polls exist three times,
// and polls take turns: the first thread clears the next one while others may still read
// the last. The parts for messages exist twice.
type Status struct {
	Missing [3]uint32 // slot of the first message that has not arrived
	Dated   [3]uint32 // 1: some message has a deadline
	Leave   [3]uint32 // why the first thread wants to leave, 0 if it does not want to
	Asked   [3]uint32 // the host's command
	Hint    [3]uint32 // the host's count of messages of side levels
	Higher  [3]uint32 // rank of the highest source above with a message, plus 1
	Lower   [3]uint32 // the same for the highest source below
	Equal   [3]uint32 // the same for the other source of the same rank

	Finished [2]uint32 // threads that have returned from the handler
	Outcome  [2]uint32

	Room, Ticket, Late uint32
	Took               uint32 // cycles that the last messages took
}

// Serve is the loop of one actor on a GPU, run by a block: actor number t.BlockIdx.X of
// the launch, from Shape.First. Its dynamic shared memory has Shape.Batch cells.
func Serve[State, In, Out any](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox, post, host []uint64,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action) {
	serve(t, s, memory{control, cursors, inbox, outbox, post, host}, states, handle, kernel.Shared[Status](t), inBlock{})
}

// ServeWarp is Serve for blocks of at most a warp.
func ServeWarp[State, In, Out any](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox, post, host []uint64,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action) {
	serve(t, s, memory{control, cursors, inbox, outbox, post, host}, states, handle, kernel.Shared[Status](t), inWarp{})
}

// serve is Serve. Each turn of the loop has these steps:
//
//   - move: go to another source, if the last poll has found one that comes first
//   - poll and judge: look at every source and at the host's command, and decide what follows;
//     wait if there is nothing. Between two polls of the host's memory, a warp peeks at the
//     mailbox alone
//   - received and grow: decide how many messages the next poll is for
//   - handleMessages: call the handler and write replies; settle, postpone, expire and fail
//     are for messages with another outcome
//   - rest: prepare the next turn
//
// and leave follows the last one. The compiler inlines all steps and keeps the fields of
// loop, member and batch in registers.
//
// There are three nested loops. The innermost one, in handleMessages, has the handler and
// what nearly every message needs. The device fetches instructions far ahead, but not across
// jumps. So what few messages need is outside of it: other outcomes in the middle loop, and
// polls of all sources in the outer one.
//
// State that all threads share, and that the compiler must know to be uniform because barriers
// depend on it, is in loop and batch. State that differs between threads is in member.
//
//quern:unchecked
func serve[State, In, Out any, F form](t kernel.Thread, s Shape, m memory, states []State,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action, sh *Status, f F) {
	b := memoryOf(t, s)
	number := t.BlockIdx.X + int(s.First)
	threads, thread := uint32(t.BlockDim.X), uint32(t.ThreadIdx.X)
	first := t.ThreadIdx.X == 0
	last := threads - 1 - thread
	a := find(s, m, number)
	born, since := prepare(t, first, a.command, sh)
	if sh.Asked[0] != 0 {
		// The actor's last handler may still be running, so nothing of the actor is read or written.
		if first {
			kernel.StoreRelease(&a.command[mail.Left], uint64(s.Epoch)<<32|mail.Asked, kernel.SystemScope)
		}
		return
	}
	mailbox := a.cursor[mail.Box]
	c := actor.Context{Mail: mail.Sender{Post: m.post, Host: m.host, Mailbox: mailbox, ID: a.cursor[mail.Number], Wakes: s.Wakes, Words: b.words, Zero: s.Clock - born}}
	o := open(s, m.post, mailbox)
	routes := a.cursor[mail.Routes]
	// A launch may end after one message. If the previous launch handled a message of
	// the program, messages of actors come first now; otherwise a program that always
	// has a message ready would starve them.
	served := a.cursor[mail.AtSource] == mail.MiddleLevel
	b.clear(t, s, first, o.box)
	leaving := uint32(0)
	if a.cursor[mail.Pending] != 0 {
		if !forwardSaved(t, s, f, sh, &c, m.post, a.command, a.cursor, b.words) {
			leaving = mail.Asked
		}
	}
	apart := s.In+mail.Post+2 <= threads
	wanted := uint32(outcomeOfNone)
	if routes == 0 && s.Out <= threads && s.Messages == 0 {
		wanted = uint32(kernel.Reply)
	}
	w := wordOf(thread, s)
	own := states[number : number+1]
	me := member{thread: thread, last: last, first: first, word: w, born: born, since: since}
	l := loop[F]{form: f, threads: threads, blockMemory: b, actorMemory: a, postbox: o, routes: routes, apart: apart, wanted: wanted, leaving: leaving, served: served,
		sink: a.answers, source: none, burst: 1, to: rank(mail.MiddleLevel) + 1, in: a.mailboxes, out: a.answers,
		sides: true, delay: firstDelay, need: 1}

	for l.leaving == 0 {
		if l.to != 0 {
			l.move(t, s, &me)
		}
		granted := l.grant(s)
		fresh, dated := uint32(0), false
		if granted == 0 {
			far, tries := l.reach(s)
			at := l.aim(s, &me, far)
			tried, quick := l.poll(t, s, &me, sh, far, tries, &at)
			fresh = 1
			if quick {
				if far {
					l.sides = false
				}
				f.sync(t)
			} else {
				fresh, dated = l.judge(t, &me, sh, far)
				if l.leaving != 0 {
					break
				}
				if l.to != 0 {
					continue
				}
			}
			if fresh == 0 {
				l.wait(s, &me, tried)
				continue
			}
			l.received(s, &me, fresh)
			if s.Messages != 0 {
				fresh = min(fresh, s.Messages-l.handled)
			}
			l.grow(t, s, fresh)
		}
		most := max(l.need, l.streak+1) - l.streak
		peeks, singles := uint32(0), most
		if granted != 0 {
			v, left := f.peek(t, &l.in[(l.next&l.mask)*s.InStep+min(me.thread, s.In-1)], l.next+1, granted)
			if peeks = left; peeks == 0 {
				l.nears += granted
				l.idle += granted
				if me.first {
					me.empty += granted
				}
				continue
			}
			if me.thread < s.In {
				l.words[me.thread] = uint32(v)
			}
			fresh, singles = 1, most-1
			f.sync(t)
		}

		arrived := kernel.Clock()
		me.arrived, me.begin = arrived, arrived
		b := batch{fresh: fresh, dated: dated, peeks: peeks, singles: singles}
		for {
			b.until = b.fresh
			if b.dated {
				if late(t, s, f, sh, l.words[b.m*s.Stride+mail.Deadline], me.born) {
					l.expire(s, &me)
					if b.m++; b.m == b.fresh {
						break
					}
					continue
				}
				b.until = b.m + 1
			}
			b.unsettled, b.result, b.whole = false, 0, true
			me.ended = me.begin
			handleMessages(t, s, &l, &me, &b, sh, &c, &own[0], handle)
			if b.unsettled {
				l.calls++
				cycles, waited := uint32(me.ended-me.begin), uint32(me.begin-me.arrived)
				me.begin = me.ended
				reply := b.m*s.Stride + s.OutAt - mail.OutHeader
				tag, slot := uint64(l.next+1)<<32, (l.next&l.mask)*s.OutStep
				if !b.whole {
					l.fail(t, s, tag, slot)
					return
				}
				if b.result == uint32(kernel.Again) {
					l.postpone(s, &me, reply)
					break
				}
				l.settle(s, &me, b.result, cycles, waited, reply, tag, slot)
				b.m++
				if l.routes != 0 && (b.result == uint32(kernel.Reply) || b.result == uint32(kernel.ReplyAndStop)) {
					if !forward(t, s, f, sh, &c, m.post, l.command, l.cursor, l.words, reply+mail.OutHeader, 0) {
						l.leaving = mail.Asked
					}
				}
				empties(s, l.words, reply, me.thread, l.threads)
				if b.result == uint32(kernel.Stop) || b.result == uint32(kernel.ReplyAndStop) {
					l.leaving = mail.Stopped
				}
			}
			if b.m == b.fresh || l.leaving != 0 {
				break
			}
		}
		if l.source == mail.Post {
			l.mailNext = l.next
		}
		if granted != 0 {
			l.nears += granted - b.peeks
			l.idle, l.served = 0, true
			if l.streak += most - b.singles; l.streak >= l.need {
				l.burst = min(2, s.Batch, l.mask+1)
			}
		}
		l.rest(t, s, &me, sh, b.fresh, uint32(me.begin-me.arrived))
	}
	l.leave(s, &me)
}

// loop is the state that is the same in all threads of the block.
type loop[F form] struct {
	form    F
	threads uint32
	actorMemory
	blockMemory
	postbox

	routes uint32 // of the actor's replies, 0 if there are none
	apart  bool   // there are enough threads for one word each in a poll
	wanted uint32 // the outcome that handleMessages expects

	leaving uint32 // reason why the loop leaves, 0 while it continues

	// The current source.
	source  uint32
	next    uint32   // ticket of the next message
	mask    uint32   // number of slots minus 1
	burst   uint32   // slots in the next poll
	to      uint32   // rank of the source to move to, plus 1; 0 to stay
	in, out []uint64 // the slots of messages and of replies
	sink    []uint64 // where outcomes go: out, or the head of the mailbox in the post memory
	ofPost  uint32   // all ones if the source is the post, else 0
	served  bool     // the last poll found a message

	// Polls.
	status  uint32 // the part of Status for the next poll
	hint    uint32 // the host's last count of messages of side levels
	sides   bool   // side levels may have messages
	idle    uint32 // polls without a message
	nears   uint32 // polls since the last one of the host's memory
	hurries uint32 // polls since the last one of all sources
	again   bool   // the handler has postponed the message
	fetched bool   // the slots of the next poll are being copied
	brief   bool   // the last messages took little time
	need    uint32 // polls with one message after which the loop polls for several
	streak  uint32 // number of such polls so far
	delay   int32  // cycles between a reply and the next poll

	calls   uint32 // calls of the handler
	handled uint32 // messages handled
}

// member is the state that differs between the threads of the block.
type member struct {
	thread uint32
	last   uint32 // the thread's number, counted from the last one
	first  bool   // it is thread 0
	word

	born int64 // when the loop began

	// Used by the first thread.
	since int64  // when the loop became idle; 0 if the timer has not been read since the last message
	leave uint32 // reason why it wants to leave, 0 if it does not want to
	empty uint32 // polls without a message since the timer was read
	busy  uint32 // turns with messages since the timer was read
}

// batch is the messages of one turn.
type batch struct {
	fresh   uint32 // number of messages
	dated   bool   // some message has a deadline
	m       uint32 // index of the current message
	until   uint32 // handleMessages stops before this one
	peeks   uint32 // number of times that it may still peek for another message
	singles uint32 // number of messages that it may still find by peeking

	// Outcome of the current message.
	unsettled bool // it is not the wanted outcome
	result    uint32
	whole     bool // no thread has stopped in the handler
}

// none means no source.
const none = mail.Levels + 1

// move goes to the source with rank l.to-1.
//
//quern:unchecked
func (l *loop[F]) move(t kernel.Thread, s Shape, me *member) {
	if me.first && l.source < mail.Levels {
		l.cursor[l.source] = l.next
	}
	l.served = l.served && l.source == none
	l.source, l.burst, l.idle, l.to = sourceOf(l.to-1), 1, 0, 0
	l.fetched = false
	if l.source == mail.Post {
		l.in, l.mask, l.next = l.posts, l.mailSlots-1, l.mailNext
		l.sink, me.sinkAt, l.ofPost = l.box, mail.BoxHead, 1<<32-1
	} else {
		from, n := ringAt(s, l.source), slotsOf(s, l.source)
		l.in, l.out = l.mailboxes[from*s.InStep:(from+n)*s.InStep], l.answers[from*s.OutStep:(from+n)*s.OutStep]
		l.mask, l.next = n-1, l.cursor[l.source]
		l.sink, me.sinkAt, l.ofPost = l.out, mineOf(me.thread, s), 0
	}
	if me.first {
		l.cursor[mail.AtSource] = l.source
	}
	l.form.sync(t)
}

// rest ends a turn that found fresh messages and took took cycles for them.
//
//quern:unchecked
func (l *loop[F]) rest(t kernel.Thread, s Shape, me *member, sh *Status, fresh, took uint32) {
	if l.leaving == 0 && s.Messages != 0 && l.handled == s.Messages {
		l.leaving = mail.Bounded
	}
	if l.again {
		l.burst = 1
	}
	if l.fetched && (l.again || l.leaving != 0) {
		kernel.AsyncWait(t, 0)
		l.fetched = false
	}
	if l.source != mail.Post && fresh == 1 && s.Leaves == 0 {
		for end := kernel.Clock(); int32(kernel.Clock()-end) < l.delay; {
		}
	}
	if me.first {
		me.empty, me.since, sh.Took = 0, 0, took
		if me.busy++; me.busy == agedAfter {
			me.busy = 0
			if s.Life != 0 && kernel.GlobalTimer()-me.born >= s.Life {
				me.leave = mail.Aged
			}
		}
	}
}

// leave tells the host why the loop leaves.
//
//quern:unchecked
func (l *loop[F]) leave(s Shape, me *member) {
	if me.first {
		if l.source < mail.Levels {
			l.cursor[l.source] = l.next
		}
		kernel.StoreRelaxed(&l.box[mail.BoxAsleep], 1)
		kernel.StoreRelease(&l.command[mail.Left], uint64(s.Epoch)<<32|uint64(l.leaving), kernel.SystemScope)
	}
}
