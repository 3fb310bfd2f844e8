// Package backoff paces a goroutine that polls: it first spins, then yields the
// processor, and then sleeps.
package backoff

import (
	"runtime"
	"time"
)

// Number of turns of each kind. Spinning takes some tens of microseconds, and
// yielding about a millisecond. Sleeps become longer after shortSleeps more turns.
const (
	spins       = 4000
	yields      = 8000
	shortSleeps = 2000

	shortSleep = 50 * time.Microsecond
	longSleep  = time.Millisecond
)

// The numbers of goroutines per processor that may spin and yield.
const (
	spinners = 2
	yielders = 64
)

// Wait is one wait. The zero Wait begins with spinning.
type Wait struct {
	turns   int
	waiters int // goroutines that are waiting, as far as known
}

// Yielding returns a Wait that begins with yielding.
func Yielding() Wait { return Wait{turns: spins} }

// Join makes w one of a number of waits. If there are many, only sleeping leaves
// processor time for the work that they wait for.
func (w *Wait) Join(waiters int) {
	switch w.waiters = waiters; {
	case waiters > yielders*runtime.GOMAXPROCS(0):
		w.turns = spins + yields
	case waiters > spinners*runtime.GOMAXPROCS(0):
		w.turns = spins
	}
}

// Joined reports whether Join was called.
func (w *Wait) Joined() bool { return w.waiters != 0 }

// Pause waits before the next poll. It reports whether to check for rare events as well:
// cancelled contexts and failed actors.
func (w *Wait) Pause() bool {
	w.turns++
	switch {
	case w.turns < spins:
		return w.turns&255 == 0
	case w.turns < spins+yields:
		runtime.Gosched()
		return w.turns&15 == 0
	case w.turns < spins+yields+shortSleeps:
		time.Sleep(max(shortSleep, time.Duration(w.waiters)*time.Microsecond))
	default:
		time.Sleep(max(longSleep, time.Duration(w.waiters)*time.Microsecond))
	}
	return true
}

// Spins reports whether pauses still keep the processor.
func (w *Wait) Spins() bool { return w.turns < spins }

// Sleeps reports whether pauses have become sleeps.
func (w *Wait) Sleeps() bool { return w.turns >= spins+yields }
