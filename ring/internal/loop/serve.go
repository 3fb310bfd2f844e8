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
// the launch, from Shape.First. A message of the source that the loop is at is seen
// in one look, one of another in two. Its dynamic shared memory has Shape.Batch
// cells.
func Serve[State, In, Out any](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox, post, host []uint64,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action) {
	serve(t, s, control, cursors, states, inbox, outbox, post, host, handle, kernel.Shared[Status](t), inBlock{})
}

// ServeWarp is Serve for blocks of at most a warp.
func ServeWarp[State, In, Out any](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox, post, host []uint64,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action) {
	serve(t, s, control, cursors, states, inbox, outbox, post, host, handle, kernel.Shared[Status](t), inWarp{})
}

// serve is Serve. Threads wait for each other, and for what they have written to
// shared memory, by sync. see looks for a message, and for anything else that there is
// to do; where threads are swift, they also glance at the mailbox alone. A thread that has
// returned from the handler tells by finish, and waits. Then replied reports whether all
// have returned with the outcome that is wanted, if that is quick to know; else agree
// returns the outcome of the first, and whether none has stopped in it.
//
// Three loops are in each other. The innermost one has the handler and what nearly
// every message needs; since the device fetches instructions far ahead, but not across
// jumps, what a message seldom needs is outside of it: outcomes other than replies in
// the middle one, and looks at everything in the outer one.
//
//quern:unchecked
func serve[State, In, Out any, F form](t kernel.Thread, s Shape, control []uint64, cursors []uint32, states []State, inbox, outbox, post, host []uint64,
	handle func(kernel.Thread, *actor.Context, *State, *In, *Out) kernel.Action, sh *Status, f F) {
	cells := kernel.Dynamic[Cell[In, Out]](t)
	words := kernel.Dynamic[uint32](t)
	raw, copied := kernel.Dynamic[[2]uint64](t)[s.RawAt:], kernel.Dynamic[uint64](t)[2*s.RawAt:]

	me := t.BlockIdx.X + int(s.First)
	threads, thread, first := uint32(t.BlockDim.X), uint32(t.ThreadIdx.X), t.ThreadIdx.X == 0
	last := threads - 1 - thread // counted from the last thread
	command := control[me*mail.ControlWords : (me+1)*mail.ControlWords]
	cursor := cursors[me*mail.CursorWords : (me+1)*mail.CursorWords]
	slots := s.Slots + (mail.Levels-1)*s.SideSlots
	mailboxes := inbox[me*int(slots*s.InStep) : (me+1)*int(slots*s.InStep)]
	answers := outbox[me*int(slots*s.OutStep) : (me+1)*int(slots*s.OutStep)]

	born, since := kernel.GlobalTimer(), int64(0) // since is the first thread's; 0 if the timer was not read since the last message
	leave, empty := uint32(0), uint32(0)          // of the first thread
	if first {
		sh.Finished, sh.Outcome = [2]uint32{}, [2]uint32{} // the first thread may not return to say what the outcome is
		sh.Missing[0], sh.Dated[0], sh.Leave[0], sh.Took = untouched, 0, 0, 0
		sh.Hint[0], sh.Higher[0], sh.Lower[0], sh.Equal[0] = 0, 0, 0, 0
		sh.Asked[0] = uint32(kernel.LoadRelaxed(&command[mail.Command], kernel.SystemScope))
		since = born
	}
	t.Sync()
	if sh.Asked[0] != 0 {
		// Perhaps the actor's last handler has not returned yet: what is its is left
		// alone.
		if first {
			kernel.StoreRelease(&command[mail.Left], uint64(s.Epoch)<<32|mail.Asked, kernel.SystemScope)
		}
		return
	}

	mailbox := cursor[mail.Box]
	c := actor.Context{Mail: mail.Sender{Post: post, Host: host, Mailbox: mailbox, ID: cursor[mail.Number], Wakes: s.Wakes, Words: words, Zero: s.Clock - born}}
	box := post[int(mailbox)*mail.BoxWords : (int(mailbox)+1)*mail.BoxWords]
	mailSlots := uint32(box[mail.BoxSlots])
	posts := post[int(box[mail.BoxRing]) : int(box[mail.BoxRing])+int(mailSlots*s.InStep)]
	mailNext := uint32(box[mail.BoxHead])
	routes := cursor[mail.Routes]
	// The last look found a message. A launch may end after one: if the one before handled
	// a message of the program, messages of actors come first now; otherwise a program that
	// always has a message ready starves them.
	served := cursor[mail.AtSource] == mail.MiddleLevel
	if first {
		kernel.StoreRelaxed(&box[mail.BoxAsleep], 0)
	}
	for m := range s.Batch {
		reply := m*s.Stride + s.OutAt - mail.OutHeader
		if first { // is read in place of a word of the reply
			words[reply+mail.OutHeader-1] = 0
		}
		empties(s, words, reply, thread, threads)
	}
	t.Sync()

	leaving := uint32(0)
	if cursor[mail.Pending] != 0 {
		if !forwardSaved(t, s, f, sh, &c, post, command, cursor, words) {
			leaving = mail.Asked
		}
	}
	// Each thread has one word of a message, or none, and no other work in a look.
	apart := s.In+mail.Post+2 <= threads
	// Most replies are one store by each thread, of a word of the slot: one that the
	// handler has written, or one of the header, for which it reads a 0 instead. Threads
	// that are too many do what the first does.
	wanted := uint32(outcomeOfNone)
	if routes == 0 && s.Out <= threads && s.Messages == 0 {
		wanted = uint32(kernel.Reply)
	}
	mine := uint32(mail.Outcome)
	if thread < s.Out {
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
	sink, sinkAt, ofPost := answers, mine, uint32(0) // where outcomes go: to the host, or the head of the mailbox
	own := states[me : me+1]

	const none = mail.Levels + 1
	source, next, burst := uint32(none), uint32(0), uint32(1)
	to := rank(mail.MiddleLevel) + 1
	in, out, mask := mailboxes, answers, uint32(0)
	hint, sides := uint32(0), true
	look, idle, calls, handled := uint32(0), uint32(0), uint32(0), uint32(0)
	nears, busy, patience := uint32(0), uint32(0), int32(settles)
	again := false                       // the last look is repeated
	fetched := false                     // the messages of the next look are on their way
	brief := false                       // the last messages took little time
	hurries := uint32(0)                 // looks since one at everything
	need, streak := uint32(1), uint32(0) // looks with a message after which the loop looks for several, and so many so far
	for leaving == 0 {
		if to != 0 {
			if first && source < mail.Levels {
				cursor[source] = next
			}
			served = served && source == none
			source, burst, idle, to = sourceOf(to-1), 1, 0, 0
			fetched = false
			if source == mail.Post {
				in, mask, next = posts, mailSlots-1, mailNext
				sink, sinkAt, ofPost = box, mail.BoxHead, 1<<32-1
			} else {
				from, n := ringAt(s, source), slotsOf(s, source)
				in, out = mailboxes[from*s.InStep:(from+n)*s.InStep], answers[from*s.OutStep:(from+n)*s.OutStep]
				mask, next = n-1, cursor[source]
				sink, sinkAt, ofPost = out, mine, 0
			}
			if first {
				cursor[mail.AtSource] = source
			}
			f.sync(t)
		}
		granted := uint32(0) // glances before a look at the host's memory
		if f.swift() && source == mail.Post && burst == 1 && apart && !again && s.Leaves == 0 && nears < near {
			granted = near - nears
		}
		fresh, dated := uint32(0), false
		if granted == 0 {
			far := source != mail.Post || s.Leaves != 0 || nears >= near
			if fetched && brief && hurries < mostHurries {
				far = false
				hurries++
			}
			tries := uint32(1)
			switch {
			case s.Leaves != 0:
			case !far:
				tries = near - nears
			case source != mail.Post:
				tries = looks
			}
			// One thread looks at the host's command, one at each other source, counted
			// from the last thread, and the first ones at the words of a message.
			role, want, head := uint32(onlooker), next+1, uint32(0)
			watched := uint32(mail.Post + 1) // no source
			if far && last > 0 && last <= mail.Post+1 {
				watched = watches(last-1, source, sides, mailSlots)
			}
			from, at := in, int((next&mask)*s.InStep)
			switch {
			case far && last == 0:
				role, want = listener, hint
				from, at = command, mail.Command
			case watched == mail.Post:
				role, head = watcher, mailNext
				from, at = posts, int((head&(mailSlots-1))*s.InStep)
			case watched < mail.Levels:
				role, head = watcher, cursor[watched]
				from, at = mailboxes, int((ringAt(s, watched)+head&(slotsOf(s, watched)-1))*s.InStep)
			case thread < s.In && burst == 1:
				role = reader
				at += int(thread)
			}
			if role == watcher {
				want = head + 1
			}
			quick := false
			if burst == 1 && apart {
				v, left, alone := f.see(t, far, from, at, role, want, s.In, tries, leave)
				tries -= left
				quick = alone && !again
				switch {
				case quick:
					if role == reader {
						words[thread] = uint32(v)
					}
				case role == listener:
					sh.Asked[look], sh.Hint[look] = uint32(v), uint32(v>>32)
				case role == reader:
					keep(s.Stride, sh, words, v, next, look, 0, thread)
				case role == watcher && uint32(v>>32) == want:
					found(sh, look, source, watched)
				}
			} else {
				tries = 1
				seen := uint64(0)
				if role >= listener {
					seen = kernel.LoadRelaxed(&from[at], kernel.SystemScope)
				}
				if !fetched {
					fetch(t, s, in, raw, next&mask, mask+1, burst)
				}
				kernel.AsyncWait(t, 0)
				f.sync(t)
				unpack(t, s, sh, copied, words, next, look, burst)
				switch {
				case role == listener:
					sh.Asked[look], sh.Hint[look] = uint32(seen), uint32(seen>>32)
				case role == watcher && uint32(seen>>32) == want:
					found(sh, look, source, watched)
				}
			}
			if far && threads <= mail.Post+1 {
				// Threads are too few for one source each.
				for other := threads - 1 + last; other <= mail.Post; other += threads {
					if other := watches(other, source, sides, mailSlots); other == mail.Post {
						if uint32(kernel.LoadRelaxed(&posts[(mailNext&(mailSlots-1))*s.InStep])>>32) == mailNext+1 {
							found(sh, look, source, other)
						}
					} else if other < mail.Levels {
						head := cursor[other]
						at := (ringAt(s, other) + head&(slotsOf(s, other)-1)) * s.InStep
						if uint32(kernel.LoadRelaxed(&mailboxes[at], kernel.SystemScope)>>32) == head+1 {
							found(sh, look, source, other)
						}
					}
				}
			}
			nears += tries
			if far {
				nears, hurries = 0, 0
			}
			idle += tries
			fresh = 1
			if quick {
				if far {
					sides = false
				}
				f.sync(t)
			} else {
				after := look + 1
				if after == 3 {
					after = 0
				}
				if first {
					sh.Leave[look] = leave
					sh.Missing[after], sh.Dated[after], sh.Leave[after], sh.Asked[after] = untouched, 0, 0, 0
					sh.Hint[after], sh.Higher[after], sh.Lower[after], sh.Equal[after] = hint, 0, 0, 0
				}
				f.sync(t)

				fresh = min(burst, sh.Missing[look])
				higher, lower, equal := sh.Higher[look], sh.Lower[look], sh.Equal[look]
				if far {
					others := higher|lower != 0
					sides = sides && others || sh.Hint[look] != hint
					hint = sh.Hint[look]
				}
				switch {
				case higher != 0:
					to = higher
				case fresh != 0 && !again && !(served && equal != 0):
				case equal != 0:
					to = equal
				case lower != 0 && (fresh == 0 || again):
					to = lower
				case fresh == 0 && (source != mail.Post && source != mail.MiddleLevel || source == mail.Post && idle >= linger):
					to = rank(mail.MiddleLevel) + 1
				}
				dated, brief = sh.Dated[look] != 0, sh.Took < briefly
				why := sh.Leave[look]
				switch {
				case sh.Asked[look] != 0:
					leaving = mail.Asked
				case why == mail.Aged, why == mail.Bounded && fresh == 0 && to == 0 && !sides:
					leaving = why
				}
				look, again, fetched = after, false, false
				if leaving != 0 {
					break
				}
				if to != 0 {
					continue
				}
			}
			if fresh == 0 {
				burst = 1
				if first {
					if empty += tries; empty >= looks || s.Leaves != 0 {
						empty = 0
						now := kernel.GlobalTimer()
						if since == 0 {
							since = now
						}
						quiet := now - since
						switch {
						case s.Life != 0 && now-born >= s.Life:
							leave = mail.Aged
						case s.Leaves != 0 && quiet >= s.Idle:
							// Either this loop sees in its next look what others put into its
							// mailboxes, or they see that the loop leaves.
							leave = mail.Bounded
							kernel.StoreRelaxed(&box[mail.BoxAsleep], 1)
							kernel.StoreRelaxed(&command[mail.Left], uint64(s.Epoch)<<32|mail.Bounded, kernel.SystemScope)
							kernel.Fence(kernel.SystemScope)
						case quiet > s.Spin:
							pause(min(s.Nap, uint32(min(quiet>>4, 1<<20))))
						}
					}
				}
				continue
			}
			if fresh == 1 && burst == 1 {
				switch {
				case idle == 1:
					patience = max(patience-sooner, 0)
				case idle == 2:
					patience = min(patience+later, mostSettles)
				}
			}
			idle, served = 0, true
			if first && leave != 0 {
				leave = 0
				kernel.StoreRelaxed(&box[mail.BoxAsleep], 0)
				kernel.StoreRelaxed(&command[mail.Left], 0, kernel.SystemScope)
			}
			if s.Messages != 0 {
				fresh = min(fresh, s.Messages-handled)
			}
			// What comes one by one is taken one by one: copies of several slots that have
			// no messages yet may be kept on the way, and hide them for a while.
			full := burst > 1 && fresh == burst
			switch {
			case full:
				need = 1
			case burst > 1 && fresh == 1:
				need = min(2*need, mostNeeded)
				streak = 0
			default:
				streak++
			}
			if burst = min(2*fresh, s.Batch, mask+1); fresh == 1 && !full && streak < need {
				burst = 1
			}
			if full {
				// There may be more: they come while these are handled.
				f.sync(t)
				fetch(t, s, in, raw, (next+fresh)&mask, mask+1, burst)
				fetched = true
			}
		}

		glances, most := uint32(0), max(need, streak+1)-streak
		singles := most // messages that glances may still find
		if granted != 0 {
			v, left := f.glance(t, &in[(next&mask)*s.InStep+min(thread, s.In-1)], next+1, granted)
			if glances = left; glances == 0 {
				nears += granted
				idle += granted
				if first {
					empty += granted
				}
				continue
			}
			if thread < s.In {
				words[thread] = uint32(v)
			}
			fresh, singles = 1, most-1
			f.sync(t)
		}

		arrived := kernel.Clock()
		begin := arrived
		m := uint32(0) // messages of fresh that have been handled
		for {
			until := fresh
			if dated {
				if late(t, s, f, sh, words[m*s.Stride+mail.Deadline], born) {
					if source == mail.Post {
						if first {
							kernel.StoreRelaxed(&box[mail.BoxExpired], kernel.LoadRelaxed(&box[mail.BoxExpired])+1)
							kernel.StoreRelaxed(&box[mail.BoxHead], uint64(next+1))
						}
					} else {
						settle(out[(next&mask)*s.OutStep:], s.Out, uint64(next+1)<<32, mail.Expired, thread, threads)
					}
					next++
					handled++
					if m++; m == fresh {
						break
					}
					continue
				}
				until = m + 1
			}
			unsettled, result, whole := false, uint32(0), true
			ended := begin
			for {
				at := m * s.Stride
				c.Mail.At = at
				reply := at + s.OutAt - mail.OutHeader + max(mine, mail.OutHeader-1)
				outcome := uint32(handle(t, &c, &own[0], &cells[m].In, &cells[m].Out))
				ended = kernel.Clock()
				f.finish(t, sh, outcome, calls)
				f.sync(t)
				v := words[reply]
				if !f.replied(t, outcome, wanted) {
					result, whole = f.agree(t, sh, outcome, calls)
					if !(whole && wanted == uint32(kernel.Reply) && (result == uint32(kernel.Reply) || result == uint32(kernel.Done) && source == mail.Post)) {
						unsettled = true
						break
					}
				}
				calls++
				if carries {
					words[reply] = 0
				}
				v |= ofReply | uint32(ended-begin)&ofTook | uint32(begin-arrived)&ofWaited
				begin = ended
				ticket := next + 1
				kernel.StoreRelaxed(&sink[(next&mask)*(s.OutStep&^ofPost)+sinkAt], uint64(ticket&^ofPost)<<32|uint64(v&^ofPost|ticket&ofPost), kernel.SystemScope)
				next = ticket
				if m++; m != until {
					continue
				}
				if glances == 0 || singles == 0 {
					break
				}
				v64, left := f.glance(t, &in[(next&mask)*s.InStep+min(thread, s.In-1)], next+1, glances)
				if glances = left; glances == 0 {
					break
				}
				if thread < s.In {
					words[thread] = uint32(v64)
				}
				m = 0
				singles--
				f.sync(t)
			}
			if unsettled {
				calls++
				cycles, waited := uint32(ended-begin), uint32(begin-arrived)
				begin = ended
				reply := m*s.Stride + s.OutAt - mail.OutHeader
				tag, slot := uint64(next+1)<<32, (next&mask)*s.OutStep
				if !whole {
					// Some threads have stopped, perhaps the first: those that are left
					// all do what has to be done.
					if source == mail.Post {
						kernel.StoreRelaxed(&box[mail.BoxHead], uint64(next+1))
					} else {
						settle(out[slot:], s.Out, tag, mail.HandlerFailed, 0, 1)
						kernel.StoreRelaxed(&cursor[source], next+1)
					}
					kernel.AsyncWait(t, 0)
					kernel.StoreRelease(&command[mail.Left], uint64(s.Epoch)<<32|mail.Failed, kernel.SystemScope)
					return
				}
				if result == uint32(kernel.Again) {
					again = true
					empties(s, words, reply, thread, threads)
					if s.Alone != 0 {
						leaving = mail.Bounded
					}
					break
				}
				if source != mail.Post {
					for w := thread; w < s.Out; w += threads {
						v := result
						switch {
						case w >= mail.OutHeader:
							v = words[reply+w]
						case w == mail.Cycles:
							v = cycles
						case w == mail.Waited:
							v = waited
						}
						kernel.StoreRelaxed(&out[slot+w], tag|uint64(v), kernel.SystemScope)
					}
				}
				next++
				handled++
				m++
				if source == mail.Post && first {
					kernel.StoreRelaxed(&box[mail.BoxHead], uint64(next))
				}
				if routes != 0 && (result == uint32(kernel.Reply) || result == uint32(kernel.ReplyAndStop)) {
					if !forward(t, s, f, sh, &c, post, command, cursor, words, reply+mail.OutHeader, 0) {
						leaving = mail.Asked
					}
				}
				empties(s, words, reply, thread, threads)
				if result == uint32(kernel.Stop) || result == uint32(kernel.ReplyAndStop) {
					leaving = mail.Stopped
				}
			}
			if m == fresh || leaving != 0 {
				break
			}
		}
		if source == mail.Post {
			mailNext = next
		}
		if granted != 0 {
			nears += granted - glances
			idle, served = 0, true
			if streak += most - singles; streak >= need {
				burst = min(2, s.Batch, mask+1)
			}
		}
		if leaving == 0 && s.Messages != 0 && handled == s.Messages {
			leaving = mail.Bounded
		}
		if again {
			burst = 1
		}
		if fetched && (again || leaving != 0) {
			kernel.AsyncWait(t, 0)
			fetched = false
		}
		if source != mail.Post && fresh == 1 && s.Leaves == 0 {
			for end := kernel.Clock(); int32(kernel.Clock()-end) < patience; {
			}
		}
		if first {
			empty, since, sh.Took = 0, 0, uint32(begin-arrived)
			if busy++; busy == agedAfter {
				busy = 0
				if s.Life != 0 && kernel.GlobalTimer()-born >= s.Life {
					leave = mail.Aged
				}
			}
		}
	}
	if first {
		if source < mail.Levels {
			cursor[source] = next
		}
		kernel.StoreRelaxed(&box[mail.BoxAsleep], 1)
		kernel.StoreRelease(&command[mail.Left], uint64(s.Epoch)<<32|uint64(leaving), kernel.SystemScope)
	}
}
