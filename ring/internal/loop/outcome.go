package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// settle writes what became of a message without a reply, of words words.
//
//quern:unchecked
func settle(slot []uint64, words uint32, tag uint64, outcome, thread, threads uint32) {
	for w := thread; w < words; w += threads {
		v := tag
		if w == mail.Outcome {
			v |= uint64(outcome)
		}
		kernel.StoreRelaxed(&slot[w], v, kernel.SystemScope)
	}
}

func finishInWarp(kernel.Thread, *Status, uint32, uint32) {}

func repliedInWarp(t kernel.Thread, outcome, wanted uint32) bool {
	return kernel.Ballot(t, outcome == wanted) == uint32(1<<t.BlockDim.X-1)
}

func repliedInBlock(kernel.Thread, uint32, uint32) bool { return false }

func agreeInWarp(t kernel.Thread, _ *Status, outcome, _ uint32) (result uint32, whole bool) {
	whole = kernel.Ballot(t, true) == uint32(1<<t.BlockDim.X-1)
	return kernel.Shuffle(t, outcome, 0), whole
}

//quern:unchecked
func finishInBlock(t kernel.Thread, sh *Status, outcome, calls uint32) {
	turn := calls & 1
	if t.ThreadIdx.X == 0 {
		sh.Outcome[turn] = outcome
	}
	kernel.AtomicAdd(&sh.Finished[turn], 1, kernel.BlockScope)
}

//quern:unchecked
func agreeInBlock(t kernel.Thread, sh *Status, _, calls uint32) (result uint32, whole bool) {
	turn, threads := calls&1, uint32(t.BlockDim.X)
	return sh.Outcome[turn], sh.Finished[turn] == (calls/2+1)*threads
}

// empties makes the reply of a message, whose words are counted with those of its
// header, zero for the next.
//
//quern:unchecked
func empties(s Shape, words []uint32, reply, thread, threads uint32) {
	for w := thread; w < s.Out; w += threads {
		if w >= mail.OutHeader {
			words[reply+w] = 0
		}
	}
}

// late reports whether a deadline, 0 for none, has passed.
func late(t kernel.Thread, s Shape, sync func(kernel.Thread), sh *Status, deadline uint32, born int64) bool {
	if deadline == 0 {
		return false
	}
	if t.ThreadIdx.X == 0 {
		sh.Late = 0
		if now := uint32((s.Clock + kernel.GlobalTimer() - born) >> mail.DeadlineShift); int32(now-deadline) > 0 {
			sh.Late = 1
		}
	}
	sync(t)
	passed := sh.Late != 0
	sync(t)
	return passed
}
