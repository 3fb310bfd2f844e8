package actor

import "quern.dev/kernel"

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
	if source == Post {
		return 2 * MiddleLevel
	}
	return 2*source + 1
}

// sourceOf is the source with a rank.
func sourceOf(rank uint32) uint32 {
	if rank == 2*MiddleLevel {
		return Post
	}
	return rank / 2
}

// ringAt is the first slot of a level's ring among those of an actor.
func ringAt(s Shape, level uint32) uint32 {
	switch {
	case level == MiddleLevel:
		return 0
	case level < MiddleLevel:
		return s.Slots + level*s.SideSlots
	}
	return s.Slots + (level-1)*s.SideSlots
}

// slotsOf is the number of slots of a level's ring.
func slotsOf(s Shape, level uint32) uint32 {
	if level == MiddleLevel {
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
	if w == Deadline && uint32(v) != 0 {
		kernel.AtomicMax(&sh.Dated[look], 1, kernel.BlockScope)
	}
}

// seeInBlock looks once.
func seeInBlock(_ kernel.Thread, _ bool, from []uint64, at int, role, _, _, _, _ uint32) (v uint64, left uint32, alone bool) {
	if role != onlooker {
		v = kernel.LoadRelaxed(&from[at], kernel.SystemScope)
	}
	return v, 0, false
}

// seeInWarp looks until the message is there whose words the first threads load, or
// anything else, but no more than tries times, and returns how many of these are left.
// alone is true if only the message is there, without a deadline, and the first thread
// does not want to leave.
//
//quern:unchecked
func seeInWarp(t kernel.Thread, far bool, from []uint64, at int, role, want, words, tries, leave uint32) (v uint64, left uint32, alone bool) {
	whole, there := uint32(1)<<words-1, uint32(0)
	for left = tries; ; {
		if far {
			v = kernel.LoadRelaxed(&from[at], kernel.SystemScope)
		} else {
			v = kernel.LoadRelaxed(&from[at])
		}
		hit := uint32(v>>32) == want
		if role == listener {
			hit = !hit || uint32(v) != 0
		}
		there = kernel.Ballot(t, hit && role != onlooker)
		left--
		if there&whole == whole || there&^whole != 0 || left == 0 {
			break
		}
	}
	odd := uint32(t.ThreadIdx.X) == Deadline && uint32(v) != 0 || leave != 0
	alone = kernel.Ballot(t, odd) == 0 && there == whole
	return v, left, alone
}

// watches returns source if the loop, which is at another one, is to look whether
// it has messages, else Post+1.
func watches(source, at uint32, sides bool, mailSlots uint32) uint32 {
	switch {
	case source == at, source == Post && mailSlots == 0, source < Levels && source != MiddleLevel && !sides:
		return Post + 1
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
	at, end := first*s.InStep/2, slots*s.InStep/2
	for i := uint32(t.ThreadIdx.X); i < burst*s.InStep/2; i += uint32(t.BlockDim.X) {
		from := at + i
		if from >= end {
			from -= end
		}
		kernel.AsyncCopy(t, &raw[i], (*[2]uint64)(ring[2*from:]))
	}
	kernel.AsyncCommit(t)
}
