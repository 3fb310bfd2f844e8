package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// Roles of a thread in a poll, by the word that it loads.
const (
	noRole   = iota // none
	reader          // a word of the message
	listener        // the host's command
	watcher         // the first word of another source's next message
)

// rank orders sources: messages of actors rank between the middle level and the level
// below it, except that both take turns.
func rank(source uint32) uint32 {
	if source == mail.Post {
		return 2 * mail.MiddleLevel
	}
	return 2*source + 1
}

// sourceOf returns the source with a rank.
func sourceOf(rank uint32) uint32 {
	if rank == 2*mail.MiddleLevel {
		return mail.Post
	}
	return rank / 2
}

// ringAt returns the first slot of a level's ring among the rings of an actor.
func ringAt(s Shape, level uint32) uint32 {
	switch {
	case level == mail.MiddleLevel:
		return 0
	case level < mail.MiddleLevel:
		return s.Slots + level*s.SideSlots
	}
	return s.Slots + (level-1)*s.SideSlots
}

// slotsOf returns the number of slots of a level's ring.
func slotsOf(s Shape, level uint32) uint32 {
	if level == mail.MiddleLevel {
		return s.Slots
	}
	return s.SideSlots
}

// keep stores word w of the message with a ticket, read from slot number slot of a
// poll, for the handler. If it has not arrived, keep records that.
//
//quern:unchecked
func keep(stride uint32, sh *Status, words []uint32, v uint64, ticket, look, slot, w uint32) {
	if uint32(v>>32) != ticket+1 {
		kernel.AtomicMin(&sh.Missing[look], slot, kernel.BlockScope)
		return
	}
	words[slot*stride+w] = uint32(v)
	if w == mail.Deadline && uint32(v) != 0 {
		kernel.AtomicMax(&sh.Dated[look], 1, kernel.BlockScope)
	}
}

// watches returns source if the loop, which is at source at, must check it for
// messages; otherwise it returns Post+1.
func watches(source, at uint32, sides bool, mailSlots uint32) uint32 {
	switch {
	case source == at, source == mail.Post && mailSlots == 0, source < mail.Levels && source != mail.MiddleLevel && !sides:
		return mail.Post + 1
	}
	return source
}

// found records that another source than the current one has a message.
//
//quern:unchecked
func found(sh *Status, look, at, source uint32) {
	r, here := rank(source), rank(at)
	switch {
	case r/2 > here/2:
		kernel.AtomicMax(&sh.Higher[look], r+1, kernel.BlockScope)
	case r/2 < here/2:
		kernel.AtomicMax(&sh.Lower[look], r+1, kernel.BlockScope)
	default:
		kernel.AtomicMax(&sh.Equal[look], r+1, kernel.BlockScope)
	}
}

// fetch begins to copy burst slots of a ring into the block, from slot number first on.
// The copies may be out of date, which is harmless: they are used only if they have the
// right tags.
//
//quern:unchecked
func fetch(t kernel.Thread, s Shape, ring []uint64, raw [][2]uint64, first, slots, burst uint32) {
	threads, thread := uint32(t.BlockDim.X), uint32(t.ThreadIdx.X)
	from, end := first*s.InStep/2+thread, slots*s.InStep/2
	for i := thread; i < burst*s.InStep/2; i += threads {
		if from >= end {
			from -= end
		}
		kernel.AsyncCopy(t, &raw[i], (*[2]uint64)(ring[2*from:]))
		from += threads
	}
	kernel.AsyncCommit(t)
}

// unpack stores the messages of fetched slots for the handler, and records the first
// one that has not arrived. A thread has the same word of several messages.
//
//quern:unchecked
func unpack(t kernel.Thread, s Shape, sh *Status, raw []uint64, words []uint32, next, look, burst uint32) {
	threads, thread := uint32(t.BlockDim.X), uint32(t.ThreadIdx.X)
	first, turn := uint32(uint64(thread)*uint64(s.Reciprocal)>>32), uint32(1) // slot, and messages per step
	w := thread - first*s.In
	if s.In <= threads {
		turn = uint32(uint64(threads) * uint64(s.Reciprocal) >> 32)
		if first == turn { // there are too many threads
			w = s.In
		}
	} else {
		first, w = 0, thread
	}
	step, stride := turn*s.InStep, turn*s.Stride
	missing := uint32(untouched)
	for ; w < s.In; w += threads {
		from, to, slot, seen := first*s.InStep+w, first*s.Stride+w, first, uint32(0)
		for ; slot+3*turn < burst; slot += 4 * turn { // four at a time, because each load takes long
			v0, v1, v2, v3 := raw[from], raw[from+step], raw[from+2*step], raw[from+3*step]
			words[to], words[to+stride], words[to+2*stride], words[to+3*stride] = uint32(v0), uint32(v1), uint32(v2), uint32(v3)
			tag := next + 1 + slot
			m0, m1, m2, m3 := uint32(v0>>32)^tag, uint32(v1>>32)^(tag+turn), uint32(v2>>32)^(tag+2*turn), uint32(v3>>32)^(tag+3*turn)
			if m0|m1|m2|m3 != 0 && missing > slot {
				missing = slot
				if m0 == 0 {
					missing += turn
					if m1 == 0 {
						missing += turn
						if m2 == 0 {
							missing += turn
						}
					}
				}
			}
			seen |= uint32(v0) | uint32(v1) | uint32(v2) | uint32(v3)
			from, to = from+4*step, to+4*stride
		}
		for ; slot < burst; slot += turn {
			v := raw[from]
			words[to] = uint32(v)
			if uint32(v>>32) != next+1+slot {
				missing = min(missing, slot)
			}
			seen |= uint32(v)
			from, to = from+step, to+stride
		}
		if w == mail.Deadline && seen != 0 {
			kernel.AtomicMax(&sh.Dated[look], 1, kernel.BlockScope)
		}
	}
	if missing != untouched {
		kernel.AtomicMin(&sh.Missing[look], missing, kernel.BlockScope)
	}
}

// grant returns how many peeks come before the next poll of the host's memory, 0 for none.
func (l *loop[F]) grant(s Shape) uint32 {
	granted := uint32(0)
	if l.form.swift() && l.source == mail.Post && l.burst == 1 && l.apart && !l.again && s.Leaves == 0 && l.nears < near {
		granted = near - l.nears
	}
	return granted
}

// reach returns whether the next poll includes the host's memory and the other sources, and
// the maximum number of tries.
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
		tries = idlePolls
	}
	return far, tries
}

// aim is what a thread reads in a poll.
type aim struct {
	role    uint32
	watched uint32 // the source that a watcher reads
	head    uint32 // the ticket of its next message
	want    uint32
	from    []uint64
	at      int
}

// aim determines what the thread reads. One thread reads the host's command, one each
// other source, counted from the last thread, and the first threads read the words of a
// message.
//
//quern:unchecked
func (l *loop[F]) aim(s Shape, me *member, far bool) aim {
	role, want, head := uint32(noRole), l.next+1, uint32(0)
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

// poll polls once. quick means that it has found one message and nothing else to do.
//
//quern:unchecked
func (l *loop[F]) poll(t kernel.Thread, s Shape, me *member, sh *Status, far bool, tries uint32, a *aim) (tried uint32, quick bool) {
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
		l.pollOthers(s, me, sh)
	}
	l.nears += tried
	if far {
		l.nears, l.hurries = 0, 0
	}
	l.idle += tried
	return tried, quick
}

// pollOthers polls the remaining sources if there are fewer threads than sources.
//
//quern:unchecked
func (l *loop[F]) pollOthers(s Shape, me *member, sh *Status) {
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

// judge evaluates what the threads have read in a poll: whether to leave, whether to move
// to another source, and how many messages there are.
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
	case fresh == 0 && (l.source != mail.Post && l.source != mail.MiddleLevel || l.source == mail.Post && l.idle >= mailPolls):
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

// wait ends a poll without a message. From time to time the first thread reads the
// timer, and decides whether to leave or to sleep.
//
//quern:unchecked
func (l *loop[F]) wait(s Shape, me *member, tries uint32) {
	l.burst = 1
	if me.first {
		if me.empty += tries; me.empty >= idlePolls || s.Leaves != 0 {
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
				// Either this loop sees in its next poll what others put into its
				// mailboxes, or they see that the loop leaves.
				me.leave = mail.Bounded
				kernel.StoreRelaxed(&l.box[mail.BoxAsleep], 1)
				kernel.StoreRelaxed(&l.command[mail.Left], uint64(s.Epoch)<<32|mail.Bounded, kernel.SystemScope)
				kernel.Fence(kernel.SystemScope)
			case quiet > s.Spin:
				pause(min(s.MaxPause, uint32(min(quiet>>4, 1<<20))))
			}
		}
	}
}

// received adapts the delay, and cancels a decision to leave, because a poll has found messages.
//
//quern:unchecked
func (l *loop[F]) received(s Shape, me *member, fresh uint32) {
	if fresh == 1 && l.burst == 1 {
		switch {
		case l.idle == 1:
			l.delay = max(l.delay-sooner, 0)
		case l.idle == 2:
			l.delay = min(l.delay+later, mostDelay)
		}
	}
	l.idle, l.served = 0, true
	if me.first && me.leave != 0 {
		me.leave = 0
		kernel.StoreRelaxed(&l.box[mail.BoxAsleep], 0)
		kernel.StoreRelaxed(&l.command[mail.Left], 0, kernel.SystemScope)
	}
}

// grow decides how many messages the next poll is for. It begins to copy those that are
// likely to be there, after the fresh ones that this poll has found.
//
//quern:unchecked
func (l *loop[F]) grow(t kernel.Thread, s Shape, fresh uint32) {
	// If messages come one by one, they are taken one by one: copies of slots without
	// messages may be cached on the way, and hide the messages for a while.
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
	// There may be more: they arrive while these are handled. In an actor that runs alone,
	// only its own handler adds to its mailbox, and would write slots while they are copied.
	if full && s.Alone&l.ofPost == 0 {
		l.form.sync(t)
		fetch(t, s, l.in, l.raw, (l.next+fresh)&l.mask, l.mask+1, l.burst)
		l.fetched = true
	}
}
