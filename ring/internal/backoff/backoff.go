// Package backoff paces a goroutine that polls: it goes from spinning over yielding the
// processor to sleeping.
package backoff

import (
	"runtime"
	"time"
)

// Turns of each kind: spinning takes some tens of microseconds, yielding around a
// millisecond. Sleeps become longer after dozes more turns.
const (
	spins  = 4000
	yields = 8000
	dozes  = 2000

	shortSleep = 50 * time.Microsecond
	longSleep  = time.Millisecond
)

// Goroutines per processor that may spin, and that may yield.
const (
	spinners = 2
	yielders = 64
)

// Wait is one wait. The zero Wait begins with spinning.
type Wait struct {
	turns int
	crowd int // goroutines that wait, as far as that is known
}

// Yielding returns a Wait that begins with yielding.
func Yielding() Wait { return Wait{turns: spins} }

// Join makes the wait one of crowd waits: if there are many, only sleeping leaves
// processor time for the work that they wait for.
func (w *Wait) Join(crowd int) {
	switch w.crowd = crowd; {
	case crowd > yielders*runtime.GOMAXPROCS(0):
		w.turns = spins + yields
	case crowd > spinners*runtime.GOMAXPROCS(0):
		w.turns = spins
	}
}

// Joined reports whether Join was called.
func (w *Wait) Joined() bool { return w.crowd != 0 }

// Pause waits before the next poll. It reports whether that is also the time to check what
// is rare: cancelled contexts, actors that have failed.
func (w *Wait) Pause() bool {
	w.turns++
	switch {
	case w.turns < spins:
		return w.turns&255 == 0
	case w.turns < spins+yields:
		runtime.Gosched()
		return w.turns&15 == 0
	case w.turns < spins+yields+dozes:
		time.Sleep(max(shortSleep, time.Duration(w.crowd)*time.Microsecond))
	default:
		time.Sleep(max(longSleep, time.Duration(w.crowd)*time.Microsecond))
	}
	return true
}

// Spins reports whether pauses do not give the processor away yet.
func (w *Wait) Spins() bool { return w.turns < spins }

// Sleeps reports whether pauses have become sleeps.
func (w *Wait) Sleeps() bool { return w.turns >= spins+yields }
