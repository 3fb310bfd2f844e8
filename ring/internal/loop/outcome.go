package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// settle writes the outcome of a message without a reply, of the given number of words.
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

// empties zeroes the reply of a message for the next one. words includes the
// header.
//
//quern:unchecked
func empties(s Shape, words []uint32, reply, thread, threads uint32) {
	for w := thread; w < s.Out; w += threads {
		if w >= mail.OutHeader {
			words[reply+w] = 0
		}
	}
}

// late reports whether a deadline has passed. 0 means no deadline.
func late[F form](t kernel.Thread, s Shape, f F, sh *Status, deadline uint32, born int64) bool {
	if deadline == 0 {
		return false
	}
	if t.ThreadIdx.X == 0 {
		sh.Late = 0
		if now := uint32((s.Clock + kernel.GlobalTimer() - born) >> mail.DeadlineShift); int32(now-deadline) > 0 {
			sh.Late = 1
		}
	}
	f.sync(t)
	passed := sh.Late != 0
	f.sync(t)
	return passed
}
