package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// Roles of a thread in a look, by the word that it loads.
const (
	onlooker = iota // none
	reader          // one of the message
	listener        // the host's command
	watcher         // the first of another source's next message
)

// rank orders sources: messages of actors are between those of the middle level
// and of the one below it for nobody's disadvantage.
func rank(source uint32) uint32 {
	if source == mail.Post {
		return 2 * mail.MiddleLevel
	}
	return 2*source + 1
}

// sourceOf is the source with a rank.
func sourceOf(rank uint32) uint32 {
	if rank == 2*mail.MiddleLevel {
		return mail.Post
	}
	return rank / 2
}

// ringAt is the first slot of a level's ring among those of an actor.
func ringAt(s Shape, level uint32) uint32 {
	switch {
	case level == mail.MiddleLevel:
		return 0
	case level < mail.MiddleLevel:
		return s.Slots + level*s.SideSlots
	}
	return s.Slots + (level-1)*s.SideSlots
}

// slotsOf is the number of slots of a level's ring.
func slotsOf(s Shape, level uint32) uint32 {
	if level == mail.MiddleLevel {
		return s.Slots
	}
	return s.SideSlots
}

// keep puts word w of the message with a ticket, read from slot number slot of a
// look, where the handler finds it, or notes that it has not arrived.
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

// watches returns source if the loop, which is at another one, is to look whether
// it has messages, else Post+1.
func watches(source, at uint32, sides bool, mailSlots uint32) uint32 {
	switch {
	case source == at, source == mail.Post && mailSlots == 0, source < mail.Levels && source != mail.MiddleLevel && !sides:
		return mail.Post + 1
	}
	return source
}

// found notes that a source other than that the loop is at has a message.
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

// fetch begins to copy burst slots of a ring of so many, from slot number first on,
// into the block. What is copied is only used if it has the right tags: it need not
// be what is there now.
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

// unpack puts the messages of fetched slots where the handler finds them, or notes the
// first that has not arrived. A thread has the same word of each of several messages.
//
//quern:unchecked
func unpack(t kernel.Thread, s Shape, sh *Status, raw []uint64, words []uint32, next, look, burst uint32) {
	threads, thread := uint32(t.BlockDim.X), uint32(t.ThreadIdx.X)
	first, turn := uint32(uint64(thread)*uint64(s.Reciprocal)>>32), uint32(1) // slot, and messages at a time
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
		for ; slot+3*turn < burst; slot += 4 * turn { // four at a time, since each has to be waited for
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
