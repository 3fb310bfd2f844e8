package calls

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"quern.dev/ring/internal/errs"
	"quern.dev/ring/internal/watchdog"
)

// server calls a function with the context of the call and its number.
type server struct {
	calls *Calls
	work  int // calls to make
	made  int
	late  []time.Duration
	call  func(ctx context.Context, n int)
}

func serve(t *testing.T, timeout time.Duration, call func(ctx context.Context, n int)) *server {
	s := &server{call: call}
	s.calls = New(t.Context(), timeout, s.step, func(after time.Duration) { s.late = append(s.late, after) })
	return s
}

// found returns the times after which calls were late.
func (s *server) found() []time.Duration {
	s.calls.mu.Lock() // held by the calls of late
	defer s.calls.mu.Unlock()
	return s.late
}

func (s *server) step() bool {
	if !s.calls.Begin() {
		return false
	}
	defer s.calls.End()
	if s.made == s.work {
		return false
	}
	s.made++
	s.call(s.calls.Start(), s.made)
	return true
}

func TestCallsAreMadeOnceForEachKick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, time.Minute, func(_ context.Context, n int) {
			if n == 2 {
				runtime.Goexit()
			}
		})
		for i := range 4 {
			s.work += i
			s.calls.Kick()
			s.calls.Kick()
			synctest.Wait()
			if s.made != s.work {
				t.Errorf("%d calls, want %d", s.made, s.work)
			}
		}
	})
}

func TestHoldWaitsForTheCallAndPreventsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, time.Minute, func(context.Context, int) { time.Sleep(time.Second) })
		s.work = 3
		s.calls.Kick()
		synctest.Wait()
		begin := time.Now()
		if err := s.calls.Hold(time.Minute, false); err != nil || time.Since(begin) != time.Second {
			t.Errorf("held after %v: %v", time.Since(begin), err)
		}
		if err := s.calls.Hold(time.Minute, false); err != nil {
			t.Error(err)
		}
		s.calls.Release(true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s.made != 1 {
			t.Errorf("%d calls while they are held, want 1", s.made)
		}
		s.calls.Release(true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s.made != 3 || len(s.found()) != 0 {
			t.Errorf("%d calls, %v late, want 3 and none", s.made, s.found())
		}
		s.calls.Close()
		if err := s.calls.Hold(time.Minute, false); !errors.Is(err, errs.ErrClosed) {
			t.Errorf("held after Close: %v", err)
		}
	})
}

func TestACallIsAbandonedIfItIsTheLastAndLate(t *testing.T) {
	for _, last := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			counts, cancelled := false, false
			var s *server
			s = serve(t, time.Minute, func(ctx context.Context, _ int) {
				time.Sleep(10 * time.Second)
				cancelled = ctx.Err() != nil
				s.calls.Do(func() { counts = true })
			})
			s.work = 1
			s.calls.Kick()
			synctest.Wait()
			var late *LateError
			if err := s.calls.Hold(time.Second, last); !errors.As(err, &late) || late.After != time.Second {
				t.Errorf("held: %v", err)
			}
			time.Sleep(20 * time.Second)
			synctest.Wait()
			if counts == last || cancelled != last {
				t.Errorf("last %v: the outcome counts: %v, cancelled: %v", last, counts, cancelled)
			}
			if s.work = 2; last {
				return
			}
			s.calls.Kick() // the hold has failed, so nothing is held
			time.Sleep(20 * time.Second)
			synctest.Wait()
			if s.made != 2 {
				t.Errorf("%d calls, want 2", s.made)
			}
		})
	}
}

func TestACallThatDoesNotReturnIsFoundOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		fresh := 0
		s := serve(t, timeout, func(ctx context.Context, n int) {
			if ctx.Err() == nil {
				fresh++
			}
			if n == 3 {
				<-ctx.Done()
				time.Sleep(10 * timeout)
			}
		})
		s.work = 3
		s.calls.Kick()
		begin := time.Now()
		for len(s.found()) == 0 {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if after := time.Since(begin); after < timeout || after > timeout*5/4 {
			t.Errorf("found after %v", after)
		}
		var late *LateError
		if err := s.calls.Hold(time.Hour, false); !errors.As(err, &late) || late.After != timeout {
			t.Errorf("held although the call is overdue: %v", err)
		}
		time.Sleep(20 * timeout)
		synctest.Wait()
		if err := s.calls.Hold(time.Second, false); err != nil {
			t.Error(err)
		}
		s.work = 4
		s.calls.Release(true)
		time.Sleep(timeout)
		synctest.Wait()
		if fresh != 4 || !slices.Equal(s.found(), []time.Duration{timeout}) {
			t.Errorf("%d calls with a fresh context, late after %v", fresh, s.found())
		}
	})
}

// A check is late if the process had no processor or was stopped.
func TestLateChecksFindNothing(t *testing.T) {
	begun, gate := make(chan bool), make(chan bool)
	s := serve(t, 1000*time.Hour, func(context.Context, int) {
		begun <- true
		<-gate
	})
	s.work = 2
	s.calls.Kick()
	for i, checks := range []int{watchdog.Checks - 1, 1 + watchdog.Checks} { // the first check of a new call starts the timer again
		<-begun
		for range checks {
			s.calls.mu.Lock()
			s.calls.timer.Last = s.calls.timer.Last.Add(-10_000 * time.Hour)
			s.calls.mu.Unlock()
			s.calls.check()
		}
		if len(s.found()) != i {
			t.Errorf("%d late checks: the call is late after %v", checks, s.found())
		}
		gate <- true
	}
}
