package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// form is how the threads of a block work together: [inWarp] or [inBlock]. It is a type
// parameter, so that the compiler knows which.
type form interface {
	// swift reports whether peek is worth calling.
	swift() bool

	// sync waits for the other threads, and for what they have written to shared memory.
	sync(t kernel.Thread)

	// see polls for a message and for anything else to do. The first threads load the
	// words of the message. It polls at most tries times, and returns how many tries are
	// left. alone means that only the message is there, without a deadline, and that the
	// first thread does not want to leave.
	see(t kernel.Thread, far bool, from []uint64, at int, role, want, words, tries, leave uint32) (v uint64, left uint32, alone bool)

	// peek polls for a message without a deadline. Each thread polls one word. It polls
	// fewer than tries times, and returns how many tries are left, or 0 if the message is
	// not there.
	peek(t kernel.Thread, word *uint64, want, tries uint32) (v uint64, left uint32)

	// finish records that the thread has returned from the handler. calls is the number
	// of earlier calls of the handler.
	finish(t kernel.Thread, sh *Status, outcome, calls uint32)

	// replied reports whether all threads have returned with the wanted outcome, if that
	// can be determined quickly. It follows finish and sync.
	replied(t kernel.Thread, outcome, wanted uint32) bool

	// agree returns the outcome of the first thread, and whether all threads have
	// returned from the handler.
	agree(t kernel.Thread, sh *Status, outcome, calls uint32) (result uint32, whole bool)
}

// inWarp is the form of a block of at most a warp.
type inWarp struct{}

func (inWarp) swift() bool { return true }

func (inWarp) sync(t kernel.Thread) { t.SyncWarp() }

//quern:unchecked
func (inWarp) see(t kernel.Thread, far bool, from []uint64, at int, role, want, words, tries, leave uint32) (v uint64, left uint32, alone bool) {
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
		there = kernel.Ballot(t, hit && role != noRole)
		left--
		if there&whole == whole || there&^whole != 0 || left == 0 {
			break
		}
	}
	odd := uint32(t.ThreadIdx.X) == mail.Deadline && uint32(v) != 0 || leave != 0
	alone = kernel.Ballot(t, odd) == 0 && there == whole
	return v, left, alone
}

//quern:unchecked
func (inWarp) peek(t kernel.Thread, word *uint64, want, tries uint32) (v uint64, left uint32) {
	all := uint32(1<<t.BlockDim.X - 1)
	empty := uint32(0) // bits that must be 0
	if t.ThreadIdx.X == mail.Deadline {
		empty = 1<<32 - 1
	}
	for left = tries; ; {
		v = kernel.LoadRelaxed(word)
		if kernel.Ballot(t, uint32(v>>32)^want|uint32(v)&empty == 0) == all {
			break
		}
		if left--; left == 0 {
			break
		}
	}
	return v, left
}

func (inWarp) finish(kernel.Thread, *Status, uint32, uint32) {}

func (inWarp) replied(t kernel.Thread, outcome, wanted uint32) bool {
	return kernel.Ballot(t, outcome == wanted) == uint32(1<<t.BlockDim.X-1)
}

func (inWarp) agree(t kernel.Thread, _ *Status, outcome, _ uint32) (result uint32, whole bool) {
	whole = kernel.Ballot(t, true) == uint32(1<<t.BlockDim.X-1)
	return kernel.Shuffle(t, outcome, 0), whole
}

// inBlock is the form of a block of several warps.
type inBlock struct{}

func (inBlock) swift() bool { return false }

func (inBlock) sync(t kernel.Thread) { t.Sync() }

// see polls once.
func (inBlock) see(_ kernel.Thread, _ bool, from []uint64, at int, role, _, _, _, _ uint32) (v uint64, left uint32, alone bool) {
	if role != noRole {
		v = kernel.LoadRelaxed(&from[at], kernel.SystemScope)
	}
	return v, 0, false
}

func (inBlock) peek(kernel.Thread, *uint64, uint32, uint32) (v uint64, left uint32) { return 0, 0 }

//quern:unchecked
func (inBlock) finish(t kernel.Thread, sh *Status, outcome, calls uint32) {
	turn := calls & 1
	if t.ThreadIdx.X == 0 {
		sh.Outcome[turn] = outcome
	}
	kernel.AtomicAdd(&sh.Finished[turn], 1, kernel.BlockScope)
}

func (inBlock) replied(kernel.Thread, uint32, uint32) bool { return false }

//quern:unchecked
func (inBlock) agree(t kernel.Thread, sh *Status, _, calls uint32) (result uint32, whole bool) {
	turn, threads := calls&1, uint32(t.BlockDim.X)
	return sh.Outcome[turn], sh.Finished[turn] == (calls/2+1)*threads
}
