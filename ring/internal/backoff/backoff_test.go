package backoff

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitsSpinThenYieldThenSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Wait
		begin := time.Now()
		for w.Spins() {
			w.Pause()
		}
		for w.turns < spins+yields-1 {
			w.Pause()
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("slept %v before its time", took)
		}
		if !w.Pause() || time.Since(begin) != shortSleep {
			t.Errorf("the first sleep took %v, want %v", time.Since(begin), shortSleep)
		}
		for range shortSleeps {
			w.Pause()
		}
		begin = time.Now()
		if w.Pause(); time.Since(begin) != longSleep {
			t.Errorf("a late sleep took %v, want %v", time.Since(begin), longSleep)
		}
	})
}

func TestManyWaitsDoNotSpin(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for _, tt := range []struct {
		name          string
		waiters       int
		spins, sleeps bool
	}{
		{"few", spinners * processors, true, false},
		{"more than may spin", spinners*processors + 1, false, false},
		{"more than may yield", yielders*processors + 1, false, true},
	} {
		var w Wait
		if w.Join(tt.waiters); w.Spins() != tt.spins || w.Sleeps() != tt.sleeps || !w.Joined() {
			t.Errorf("%s: spins %v, sleeps %v, want %v, %v", tt.name, w.Spins(), w.Sleeps(), tt.spins, tt.sleeps)
		}
	}
}
