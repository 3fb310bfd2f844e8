package ring

import (
	"runtime"
	"time"
)

// A vigil finds out whether something that others do takes too long. Whoever keeps
// it looks from time to time.
//
// The clock alone does not tell. Time passes, too, while a goroutine waits for a
// processor beside thousands of others, or while the process is stopped. So two
// things are asked for: no more than an eighth of the patience counts between one
// look and the next, however late that comes, and before a look the watcher lets
// those run that wait for a processor. What has taken too long has had a turn, or
// was at work, between each two of eight looks, and was as far at the last of them
// as at the first.
type vigil struct {
	patience time.Duration

	last  time.Time // look; zero if there was none
	far   uint64    // how far it was then
	spent time.Duration
}

// looks is the least number of them after the first before a vigil has taken its
// patience.
const looks = 8

// pause is how long to wait between looks.
func (v *vigil) pause() time.Duration { return max(v.patience/looks, 1) }

// look takes note of how far things are, and reports whether they were there for
// longer than there is patience.
func (v *vigil) look(now time.Time, far uint64) bool {
	if v.last.IsZero() || far != v.far {
		v.last, v.far, v.spent = now, far, 0
		return false
	}
	v.spent += min(now.Sub(v.last), v.pause())
	v.last = now
	return v.spent >= v.patience
}

// rest ends the vigil until the next look.
func (v *vigil) rest() { v.last = time.Time{} }

// await waits until a channel is closed, or for as long as there is patience. It
// reports whether the channel is closed.
func (v *vigil) await(done <-chan struct{}) bool {
	timer := time.NewTimer(v.pause())
	defer timer.Stop()
	for v.look(time.Now(), 0); ; timer.Reset(v.pause()) {
		select {
		case <-done:
			return true
		case <-timer.C:
		}
		runtime.Gosched()
		if v.look(time.Now(), 0) {
			return false
		}
	}
}
