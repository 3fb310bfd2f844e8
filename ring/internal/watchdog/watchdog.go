// Package watchdog detects work that makes no progress.
//
// A clock alone is not enough: time also passes while a goroutine waits for a processor
// beside thousands of others, or while the process is stopped. So at most an eighth of the
// timeout counts between two checks, however late the second one is, and callers yield to
// waiting goroutines before each check. Work that is found stuck had a chance to run, or
// was running, between each two of eight checks, and had made no progress at the last.
package watchdog

import (
	"runtime"
	"time"
)

// Checks is the minimum number of checks after the first before a Timer runs out.
const Checks = 8

// Timer measures how long something has made no progress. One goroutine at a time may
// use it.
type Timer struct {
	Timeout time.Duration
	Last    time.Time // time of the last check; zero if there was none

	progress uint64 // at the last check
	spent    time.Duration
}

// New returns a timer that has not been checked.
func New(timeout time.Duration) *Timer { return &Timer{Timeout: timeout} }

// Interval returns the time to wait between checks.
func (t *Timer) Interval() time.Duration { return max(t.Timeout/Checks, 1) }

// Check records the progress of the work, and reports whether there has been none for
// longer than the timeout.
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

// Await waits until a channel is closed, at most for the timeout, and reports whether it
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
