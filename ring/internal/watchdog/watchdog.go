// Package watchdog detects work that makes no progress.
//
// The clock alone does not tell. Time also passes while a goroutine waits for a processor
// beside thousands of others, or while the process is stopped. So at most an eighth of the
// timeout counts between two checks, however late the second one comes, and whoever checks
// first lets goroutines run that wait for a processor. Work that is found stuck had a turn,
// or was running, between each two of eight checks, and had made no progress at the last.
package watchdog

import (
	"runtime"
	"time"
)

// Checks is the least number of checks after the first before a Timer has run out.
const Checks = 8

// Timer measures how long something makes no progress. It is used by one goroutine at a
// time.
type Timer struct {
	Timeout time.Duration
	Last    time.Time // check; zero if there was none

	progress uint64 // at the last check
	spent    time.Duration
}

// New returns a timer that has not been checked.
func New(timeout time.Duration) *Timer { return &Timer{Timeout: timeout} }

// Interval is how long to wait between checks.
func (t *Timer) Interval() time.Duration { return max(t.Timeout/Checks, 1) }

// Check notes how far the work is, and reports whether it has made no progress for longer
// than the timeout.
func (t *Timer) Check(now time.Time, progress uint64) bool {
	if t.Last.IsZero() || progress != t.progress {
		t.Last, t.progress, t.spent = now, progress, 0
		return false
	}
	t.spent += min(now.Sub(t.Last), t.Interval())
	t.Last = now
	return t.spent >= t.Timeout
}

// Halfway reports whether half of the timeout has passed without progress.
func (t *Timer) Halfway() bool { return t.spent >= t.Timeout/2 }

// Stop stops the timer until the next check.
func (t *Timer) Stop() { t.Last = time.Time{} }

// Await waits until a channel is closed, for the timeout at most, and reports whether it
// is closed.
func (t *Timer) Await(done <-chan struct{}) bool {
	timer := time.NewTimer(t.Interval())
	defer timer.Stop()
	for t.Check(time.Now(), 0); ; timer.Reset(t.Interval()) {
		select {
		case <-done:
			return true
		case <-timer.C:
		}
		runtime.Gosched()
		if t.Check(time.Now(), 0) {
			return false
		}
	}
}
