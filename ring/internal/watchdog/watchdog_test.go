package watchdog

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTimersCountChecksAndNotTheClock(t *testing.T) {
	type look struct {
		after time.Duration // the look before
		far   uint64
	}
	times := func(n int, l look) (list []look) {
		for range n {
			list = append(list, l)
		}
		return list
	}
	for _, tt := range []struct {
		name  string
		looks []look
		found int // the look that finds it, 0 if none does
	}{
		{"looks that come on time", times(10, look{time.Second, 1}), 9},
		{"looks that come twice as often", times(20, look{time.Second / 2, 1}), 17},
		{"one look that comes late", []look{{0, 1}, {time.Hour, 1}, {time.Second, 1}}, 0},
		{"looks that all come late", times(10, look{time.Hour, 1}), 9},
		{"something is done between all looks", []look{{0, 1}, {7 * time.Second, 2}, {7 * time.Second, 3}, {time.Hour, 4}, {time.Hour, 5}}, 0},
		{"something is done once", append(times(8, look{time.Second, 1}), times(9, look{time.Second, 2})...), 17},
	} {
		v, now, found := New(8*time.Second), time.Now(), 0
		for i, l := range tt.looks {
			now = now.Add(l.after)
			if v.Check(now, l.far) && found == 0 {
				found = i + 1
			}
		}
		if found != tt.found {
			t.Errorf("%s: look %d finds it, want %d", tt.name, found, tt.found)
		}
	}
}

func TestStoppedTimersStartAgain(t *testing.T) {
	v, now := New(8), time.Now()
	for range 3 {
		for range Checks {
			if now = now.Add(1); v.Check(now, 1) {
				t.Fatal("found after a rest that was too short ago")
			}
		}
		v.Stop()
	}
}

func TestTimersAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			after time.Duration // that the channel is closed
			took  time.Duration
			done  bool
		}{{0, 0, true}, {3 * time.Second, 3 * time.Second, true}, {time.Hour, 8 * time.Second, false}} {
			done := make(chan struct{})
			time.AfterFunc(tt.after, func() { close(done) })
			v, begin := New(8*time.Second), time.Now()
			if got := v.Await(done); got != tt.done || time.Since(begin) != tt.took {
				t.Errorf("%v for a channel that is closed after %v: %v, want %v after %v", got, tt.after, time.Since(begin), tt.done, tt.took)
			}
			<-done
		}
	})
}
