package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
)

// Looks at an empty inbox between readings of the timer, which is slow; looks at
// the post alone between those at the host's memory, which is far; and looks at an
// empty post before the loop waits for messages of the host again.
const (
	looks  = 16
	near   = 64
	linger = 128
)

// Who has asked gets the reply first, and then asks again. A look at the host's
// memory before that finds nothing, and takes its whole time, so the loop waits for
// the asker after a reply: so many cycles at first, sooner and sooner while its first
// look finds a message, and later if it was the second.
const (
	settles     = 1200
	mostSettles = 2400
	sooner      = 16
	later       = 64
)

// While messages come faster than they are handled, the loop does not wait for the
// host's command, and what other sources have, in each look: it leaves out so many of
// these looks at most, and none if the messages of the last took longer, in cycles.
const (
	mostHurries = 3
	briefly     = 1 << 15
)

// agedAfter is the number of turns with messages between readings of the timer.
const agedAfter = 64

// mostNeeded is the largest number of looks with one message after which the loop
// looks for several.
const mostNeeded = 256

// outcomeOfNone is no handler's.
const outcomeOfNone = 1<<32 - 1

// untouched is a number of messages that is never reached.
const untouched = 1<<32 - 1

// Status is what the threads of a block tell each other. Of that of a look there
// are three, used in turn: the first thread clears the next one while others may
// still read the last. Of that of a message there are two.
type Status struct {
	Missing [3]uint32 // slot of the first message that has not arrived
	Dated   [3]uint32 // 1: some message has a deadline
	Leave   [3]uint32 // why the first thread wants to leave, 0 if it does not
	Asked   [3]uint32 // the host's command
	Hint    [3]uint32 // the host's count of messages of side levels
	Higher  [3]uint32 // rank of the highest source above with a message, plus 1
	Lower   [3]uint32 // of the highest below
	Equal   [3]uint32 // of the other one of the same rank

	Finished [2]uint32 // threads that have returned from the handler so far
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

// memory is what the actors of a launch share.
type memory struct {
	control                   []uint64
	cursors                   []uint32
	inbox, outbox, post, host []uint64
}

// serve is Serve.
//
// Three loops are in each other. The innermost one, in handle, has the handler and what
// nearly every message needs. The device fetches instructions far ahead, but not across
// jumps, so what a message seldom needs is outside of it: outcomes other than replies in
// the middle one, and polls of everything in the outer one.
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
		// Perhaps the actor's last handler has not returned yet: what is its is left
		// alone.
		if first {
			kernel.StoreRelease(&a.command[mail.Left], uint64(s.Epoch)<<32|mail.Asked, kernel.SystemScope)
		}
		return
	}
	mailbox := a.cursor[mail.Box]
	c := actor.Context{Mail: mail.Sender{Post: m.post, Host: m.host, Mailbox: mailbox, ID: a.cursor[mail.Number], Wakes: s.Wakes, Words: b.words, Zero: s.Clock - born}}
	o := open(s, m.post, mailbox)
	routes := a.cursor[mail.Routes]
	// A launch may end after one message: if the one before handled a message of the
	// program, messages of actors come first now; otherwise a program that always has a
	// message ready starves them.
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
	w := wordOf(thread, s.Out)
	own := states[number : number+1]
	me := member{thread: thread, last: last, first: first, word: w, born: born, since: since}
	l := loop[F]{form: f, threads: threads, blockMemory: b, actorMemory: a, postbox: o, routes: routes, apart: apart, wanted: wanted, leaving: leaving, served: served,
		sink: a.answers, source: none, burst: 1, to: rank(mail.MiddleLevel) + 1, in: a.mailboxes, out: a.answers,
		sides: true, patience: settles, need: 1}

	for l.leaving == 0 {
		if l.to != 0 {
			l.move(t, s, &me)
		}
		granted := l.grant(s) // glances before a look at the host's memory
		fresh, dated := uint32(0), false
		if granted == 0 {
			far, tries := l.reach(s)
			at := l.aim(s, &me, far)
			tried, quick := l.look(t, s, &me, sh, far, tries, &at)
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
		glances, singles := uint32(0), most
		if granted != 0 {
			v, left := f.glance(t, &l.in[(l.next&l.mask)*s.InStep+min(me.thread, s.In-1)], l.next+1, granted)
			if glances = left; glances == 0 {
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
		b := batch{fresh: fresh, dated: dated, glances: glances, singles: singles}
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
			answer(t, s, &l, &me, &b, sh, &c, &own[0], handle)
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
			l.nears += granted - b.glances
			l.idle, l.served = 0, true
			if l.streak += most - b.singles; l.streak >= l.need {
				l.burst = min(2, s.Batch, l.mask+1)
			}
		}
		l.rest(t, s, &me, sh, b.fresh, uint32(me.begin-me.arrived))
	}
	l.leave(s, &me)
}

// loop is what all threads of the block know alike.
type loop[F form] struct {
	form    F
	threads uint32
	actorMemory
	blockMemory
	postbox

	routes uint32
	apart  bool   // each thread has one word of a message, or none, and no other work in a look
	wanted uint32 // the outcome of most messages

	leaving uint32 // why the loop leaves, 0 if it does not

	// The source that the loop is at.
	source, next, mask, burst uint32
	to                        uint32 // rank of the source to move to, plus 1, or 0
	in, out, sink             []uint64
	ofPost                    uint32
	served                    bool // the last look found a message

	hint                                         uint32
	sides                                        bool
	status, idle, calls, handled, nears, hurries uint32
	patience                                     int32
	again                                        bool // the last look is repeated
	fetched                                      bool // the messages of the next look are on their way
	brief                                        bool // the last messages took little time
	need, streak                                 uint32
}

// member is what one thread of the block knows, and others do not.
type member struct {
	thread uint32
	last   uint32 // counted from the last thread
	first  bool
	word

	// Of the first thread.
	since              int64 // 0 if the timer was not read since the last message
	born               int64
	leave, empty, busy uint32
}

// batch is the messages that one poll has found.
type batch struct {
	fresh            uint32
	dated            bool
	m, until         uint32
	glances, singles uint32

	// What became of the last message.
	unsettled bool // it has not been answered yet
	result    uint32
	whole     bool // no thread has stopped in the handler
}

// aim is what a thread looks at in a poll.
type aim struct {
	role    uint32
	watched uint32 // the source of a watcher
	head    uint32 // its next message
	want    uint32
	from    []uint64
	at      int
}

// blockMemory is the shared memory of the block.
type blockMemory struct {
	words  []uint32
	raw    [][2]uint64
	copied []uint64
}

//quern:unchecked
func memoryOf(t kernel.Thread, s Shape) blockMemory {
	return blockMemory{
		words:  kernel.Dynamic[uint32](t),
		raw:    kernel.Dynamic[[2]uint64](t)[s.RawAt:],
		copied: kernel.Dynamic[uint64](t)[2*s.RawAt:],
	}
}

// actorMemory is where the memory of the actor is.
type actorMemory struct {
	command            []uint64
	cursor             []uint32
	mailboxes, answers []uint64
}

// find returns the memory of the actor of the block.
//
//quern:unchecked
func find(s Shape, m memory, i int) actorMemory {
	command := m.control[i*mail.ControlWords : (i+1)*mail.ControlWords]
	cursor := m.cursors[i*mail.CursorWords : (i+1)*mail.CursorWords]
	slots := s.Slots + (mail.Levels-1)*s.SideSlots
	return actorMemory{
		command:   command,
		cursor:    cursor,
		mailboxes: m.inbox[i*int(slots*s.InStep) : (i+1)*int(slots*s.InStep)],
		answers:   m.outbox[i*int(slots*s.OutStep) : (i+1)*int(slots*s.OutStep)],
	}
}

// prepare initialises the shared memory, and reads the host's command.
//
//quern:unchecked
func prepare(t kernel.Thread, first bool, command []uint64, sh *Status) (born, since int64) {
	born = kernel.GlobalTimer()
	if first {
		sh.Finished, sh.Outcome = [2]uint32{}, [2]uint32{} // the first thread may not return to say what the outcome is
		sh.Missing[0], sh.Dated[0], sh.Leave[0], sh.Took = untouched, 0, 0, 0
		sh.Hint[0], sh.Higher[0], sh.Lower[0], sh.Equal[0] = 0, 0, 0, 0
		sh.Asked[0] = uint32(kernel.LoadRelaxed(&command[mail.Command], kernel.SystemScope))
		since = born
	}
	t.Sync()
	return born, since
}

// postbox is the actor's mailbox for messages of other actors.
type postbox struct {
	box, posts          []uint64
	mailSlots, mailNext uint32
}

//quern:unchecked
func open(s Shape, post []uint64, number uint32) postbox {
	box := post[int(number)*mail.BoxWords : (int(number)+1)*mail.BoxWords]
	slots := uint32(box[mail.BoxSlots])
	posts := post[int(box[mail.BoxRing]) : int(box[mail.BoxRing])+int(slots*s.InStep)]
	next := uint32(box[mail.BoxHead])
	return postbox{box: box, posts: posts, mailSlots: slots, mailNext: next}
}

// clear empties the replies in shared memory.
//
//quern:unchecked
func (b *blockMemory) clear(t kernel.Thread, s Shape, first bool, box []uint64) {
	if first {
		kernel.StoreRelaxed(&box[mail.BoxAsleep], 0)
	}
	for m := range s.Batch {
		reply := m*s.Stride + s.OutAt - mail.OutHeader
		if first { // is read in place of a word of the reply
			b.words[reply+mail.OutHeader-1] = 0
		}
		empties(s, b.words, reply, uint32(t.ThreadIdx.X), uint32(t.BlockDim.X))
	}
	t.Sync()
}

// word is a thread's part in a reply.
type word struct {
	mine                      uint32
	carries                   bool
	ofReply, ofTook, ofWaited uint32
	sinkAt                    uint32

	arrived, begin, ended int64
}

// wordOf returns the part of a thread.
//
// Most replies are one store by each thread, of a word of the slot: one that the
// handler has written, or one of the header, for which it reads a 0 instead. Threads
// that are too many do what the first does.
//
//quern:unchecked
func wordOf(thread, words uint32) word {
	mine := uint32(mail.Outcome)
	if thread < words {
		mine = thread
	}
	carries := mine >= mail.OutHeader
	ofReply, ofTook, ofWaited := uint32(0), uint32(0), uint32(0)
	switch mine {
	case mail.Outcome:
		ofReply = uint32(kernel.Reply)
	case mail.Cycles:
		ofTook = 1<<32 - 1
	case mail.Waited:
		ofWaited = 1<<32 - 1
	}
	return word{mine: mine, carries: carries, ofReply: ofReply, ofTook: ofTook, ofWaited: ofWaited, sinkAt: mine}
}

// none is no source.
const none = mail.Levels + 1

// move goes to the source with rank to - 1.
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
		l.sink, me.sinkAt, l.ofPost = l.out, me.mine, 0
	}
	if me.first {
		l.cursor[mail.AtSource] = l.source
	}
	l.form.sync(t)
}

// grant returns how many glances come before the next poll, 0 for none.
func (l *loop[F]) grant(s Shape) uint32 {
	granted := uint32(0)
	if l.form.swift() && l.source == mail.Post && l.burst == 1 && l.apart && !l.again && s.Leaves == 0 && l.nears < near {
		granted = near - l.nears
	}
	return granted
}

// reach returns whether the next poll is also of what is far, and how many times it looks
// at most.
//
//quern:unchecked
func (l *loop[F]) reach(s Shape) (far bool, tries uint32) {
	far = l.source != mail.Post || s.Leaves != 0 || l.nears >= near
	if l.fetched && l.brief && l.hurries < mostHurries {
		far = false
		l.hurries++
	}
	tries = uint32(1)
	switch {
	case s.Leaves != 0:
	case !far:
		tries = near - l.nears
	case l.source != mail.Post:
		tries = looks
	}
	return far, tries
}

// aim finds what the thread looks at. One thread looks at the host's command, one at each
// other source, counted from the last thread, and the first ones at the words of a
// message.
//
//quern:unchecked
func (l *loop[F]) aim(s Shape, me *member, far bool) aim {
	role, want, head := uint32(onlooker), l.next+1, uint32(0)
	watched := uint32(mail.Post + 1) // no source
	if far && me.last > 0 && me.last <= mail.Post+1 {
		watched = watches(me.last-1, l.source, l.sides, l.mailSlots)
	}
	from, at := l.in, int((l.next&l.mask)*s.InStep)
	switch {
	case far && me.last == 0:
		role, want = listener, l.hint
		from, at = l.command, mail.Command
	case watched == mail.Post:
		role, head = watcher, l.mailNext
		from, at = l.posts, int((head&(l.mailSlots-1))*s.InStep)
	case watched < mail.Levels:
		role, head = watcher, l.cursor[watched]
		from, at = l.mailboxes, int((ringAt(s, watched)+head&(slotsOf(s, watched)-1))*s.InStep)
	case me.thread < s.In && l.burst == 1:
		role = reader
		at += int(me.thread)
	}
	if role == watcher {
		want = head + 1
	}
	return aim{role, watched, head, want, from, at}
}

// look polls once. quick is true if it has found one message, and nothing else to do.
//
//quern:unchecked
func (l *loop[F]) look(t kernel.Thread, s Shape, me *member, sh *Status, far bool, tries uint32, a *aim) (tried uint32, quick bool) {
	if l.burst == 1 && l.apart {
		v, left, alone := l.form.see(t, far, a.from, a.at, a.role, a.want, s.In, tries, me.leave)
		tried = tries - left
		quick = alone && !l.again
		switch {
		case quick:
			if a.role == reader {
				l.words[me.thread] = uint32(v)
			}
		case a.role == listener:
			sh.Asked[l.status], sh.Hint[l.status] = uint32(v), uint32(v>>32)
		case a.role == reader:
			keep(s.Stride, sh, l.words, v, l.next, l.status, 0, me.thread)
		case a.role == watcher && uint32(v>>32) == a.want:
			found(sh, l.status, l.source, a.watched)
		}
	} else {
		tried = 1
		seen := uint64(0)
		if a.role >= listener {
			seen = kernel.LoadRelaxed(&a.from[a.at], kernel.SystemScope)
		}
		if !l.fetched {
			fetch(t, s, l.in, l.raw, l.next&l.mask, l.mask+1, l.burst)
		}
		kernel.AsyncWait(t, 0)
		l.form.sync(t)
		unpack(t, s, sh, l.copied, l.words, l.next, l.status, l.burst)
		switch {
		case a.role == listener:
			sh.Asked[l.status], sh.Hint[l.status] = uint32(seen), uint32(seen>>32)
		case a.role == watcher && uint32(seen>>32) == a.want:
			found(sh, l.status, l.source, a.watched)
		}
	}
	if far && l.threads <= mail.Post+1 {
		l.lookOn(s, me, sh)
	}
	l.nears += tried
	if far {
		l.nears, l.hurries = 0, 0
	}
	l.idle += tried
	return tried, quick
}

// lookOn looks at the sources that are left if the threads are too few for one each.
//
//quern:unchecked
func (l *loop[F]) lookOn(s Shape, me *member, sh *Status) {
	for other := l.threads - 1 + me.last; other <= mail.Post; other += l.threads {
		if other := watches(other, l.source, l.sides, l.mailSlots); other == mail.Post {
			if uint32(kernel.LoadRelaxed(&l.posts[(l.mailNext&(l.mailSlots-1))*s.InStep])>>32) == l.mailNext+1 {
				found(sh, l.status, l.source, other)
			}
		} else if other < mail.Levels {
			head := l.cursor[other]
			at := (ringAt(s, other) + head&(slotsOf(s, other)-1)) * s.InStep
			if uint32(kernel.LoadRelaxed(&l.mailboxes[at], kernel.SystemScope)>>32) == head+1 {
				found(sh, l.status, l.source, other)
			}
		}
	}
}

// judge decides what follows from what the threads have seen: to leave, to move to
// another source, or to take some messages.
//
//quern:unchecked
func (l *loop[F]) judge(t kernel.Thread, me *member, sh *Status, far bool) (fresh uint32, dated bool) {
	after := l.status + 1
	if after == 3 {
		after = 0
	}
	if me.first {
		sh.Leave[l.status] = me.leave
		sh.Missing[after], sh.Dated[after], sh.Leave[after], sh.Asked[after] = untouched, 0, 0, 0
		sh.Hint[after], sh.Higher[after], sh.Lower[after], sh.Equal[after] = l.hint, 0, 0, 0
	}
	l.form.sync(t)

	fresh = min(l.burst, sh.Missing[l.status])
	higher, lower, equal := sh.Higher[l.status], sh.Lower[l.status], sh.Equal[l.status]
	if far {
		others := higher|lower != 0
		l.sides = l.sides && others || sh.Hint[l.status] != l.hint
		l.hint = sh.Hint[l.status]
	}
	switch {
	case higher != 0:
		l.to = higher
	case fresh != 0 && !l.again && !(l.served && equal != 0):
	case equal != 0:
		l.to = equal
	case lower != 0 && (fresh == 0 || l.again):
		l.to = lower
	case fresh == 0 && (l.source != mail.Post && l.source != mail.MiddleLevel || l.source == mail.Post && l.idle >= linger):
		l.to = rank(mail.MiddleLevel) + 1
	}
	dated, l.brief = sh.Dated[l.status] != 0, sh.Took < briefly
	why := sh.Leave[l.status]
	switch {
	case sh.Asked[l.status] != 0:
		l.leaving = mail.Asked
	case why == mail.Aged, why == mail.Bounded && fresh == 0 && l.to == 0 && !l.sides:
		l.leaving = why
	}
	l.status, l.again, l.fetched = after, false, false
	return fresh, dated
}

// wait is what a poll without a message ends with.
//
//quern:unchecked
func (l *loop[F]) wait(s Shape, me *member, tries uint32) {
	l.burst = 1
	if me.first {
		if me.empty += tries; me.empty >= looks || s.Leaves != 0 {
			me.empty = 0
			now := kernel.GlobalTimer()
			if me.since == 0 {
				me.since = now
			}
			quiet := now - me.since
			switch {
			case s.Life != 0 && now-me.born >= s.Life:
				me.leave = mail.Aged
			case s.Leaves != 0 && quiet >= s.Idle:
				// Either this loop sees in its next look what others put into its
				// mailboxes, or they see that the loop leaves.
				me.leave = mail.Bounded
				kernel.StoreRelaxed(&l.box[mail.BoxAsleep], 1)
				kernel.StoreRelaxed(&l.command[mail.Left], uint64(s.Epoch)<<32|mail.Bounded, kernel.SystemScope)
				kernel.Fence(kernel.SystemScope)
			case quiet > s.Spin:
				pause(min(s.Nap, uint32(min(quiet>>4, 1<<20))))
			}
		}
	}
}

// received notes that a poll has found messages.
//
//quern:unchecked
func (l *loop[F]) received(s Shape, me *member, fresh uint32) {
	if fresh == 1 && l.burst == 1 {
		switch {
		case l.idle == 1:
			l.patience = max(l.patience-sooner, 0)
		case l.idle == 2:
			l.patience = min(l.patience+later, mostSettles)
		}
	}
	l.idle, l.served = 0, true
	if me.first && me.leave != 0 {
		me.leave = 0
		kernel.StoreRelaxed(&l.box[mail.BoxAsleep], 0)
		kernel.StoreRelaxed(&l.command[mail.Left], 0, kernel.SystemScope)
	}
}

// grow decides how many messages the next poll is for, of which fresh come first. It
// begins to copy those that are likely to be there.
//
//quern:unchecked
func (l *loop[F]) grow(t kernel.Thread, s Shape, fresh uint32) {
	// What comes one by one is taken one by one: copies of several slots that have
	// no messages yet may be kept on the way, and hide them for a while.
	full := l.burst > 1 && fresh == l.burst
	switch {
	case full:
		l.need = 1
	case l.burst > 1 && fresh == 1:
		l.need = min(2*l.need, mostNeeded)
		l.streak = 0
	default:
		l.streak++
	}
	if l.burst = min(2*fresh, s.Batch, l.mask+1); fresh == 1 && !full && l.streak < l.need {
		l.burst = 1
	}
	if full {
		// There may be more: they come while these are handled.
		l.form.sync(t)
		fetch(t, s, l.in, l.raw, (l.next+fresh)&l.mask, l.mask+1, l.burst)
		l.fetched = true
	}
}

// answer calls the handler with messages, and writes their replies. It ends after message
// b.until-1 if no other message follows soon, and before if the outcome of a message is not
// as most are.
//
//quern:unchecked
func answer[State, In, Out any, F form](t kernel.Thread, s Shape, l *loop[F], me *member, b *batch, sh *Status, c *actor.Context, state *State,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action) {
	cells := kernel.Dynamic[Cell[In, Out]](t)
	for {
		at := b.m * s.Stride
		reply := at + s.OutAt - mail.OutHeader + max(me.mine, mail.OutHeader-1)
		c.Mail.At = at
		outcome := uint32(handle(t, c, state, &cells[b.m].In, &cells[b.m].Out))
		me.ended = kernel.Clock()
		l.form.finish(t, sh, outcome, l.calls)
		l.form.sync(t)
		word := l.words[reply]
		if !l.form.replied(t, outcome, l.wanted) {
			b.result, b.whole = l.form.agree(t, sh, outcome, l.calls)
			if !(b.whole && l.wanted == uint32(kernel.Reply) && (b.result == uint32(kernel.Reply) || b.result == uint32(kernel.Done) && l.source == mail.Post)) {
				b.unsettled = true
				break
			}
		}
		l.calls++
		if me.carries {
			l.words[reply] = 0
		}
		word |= me.ofReply | uint32(me.ended-me.begin)&me.ofTook | uint32(me.begin-me.arrived)&me.ofWaited
		me.begin = me.ended
		ticket := l.next + 1
		kernel.StoreRelaxed(&l.sink[(l.next&l.mask)*(s.OutStep&^l.ofPost)+me.sinkAt], uint64(ticket&^l.ofPost)<<32|uint64(word&^l.ofPost|ticket&l.ofPost), kernel.SystemScope)
		l.next = ticket
		if b.m++; b.m != b.until {
			continue
		}
		if b.glances == 0 || b.singles == 0 {
			break
		}
		v64, left := l.form.glance(t, &l.in[(l.next&l.mask)*s.InStep+min(me.thread, s.In-1)], l.next+1, b.glances)
		if b.glances = left; b.glances == 0 {
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

// expire settles a message whose deadline has passed.
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

// fail leaves after some threads have stopped in the handler, perhaps the first: those
// that are left all do what has to be done.
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

// postpone keeps a message that the handler wants later.
//
//quern:unchecked
func (l *loop[F]) postpone(s Shape, me *member, reply uint32) {
	l.again = true
	empties(s, l.words, reply, me.thread, l.threads)
	if s.Alone != 0 {
		l.leaving = mail.Bounded
	}
}

// settle writes the outcome of a message, with what is in reply.
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

// rest is what follows the messages of a poll.
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
		for end := kernel.Clock(); int32(kernel.Clock()-end) < l.patience; {
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

// leave tells the host why the loop has left.
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
