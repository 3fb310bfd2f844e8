package render

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestAPageIsMadeAsLongAsARequestWantsIt(t *testing.T) {
	reason := errors.New("the client has left")
	id := pageID{level: 1}
	for _, test := range []struct {
		name          string
		maker, waiter bool // which request ends
		stopped       bool
	}{
		{"both stay", false, false, false},
		{"the one that makes it leaves", true, false, false},
		{"the one that waits leaves", false, true, false},
		{"both leave", true, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPages(1)
				first, leaveFirst := context.WithCancelCause(t.Context())
				second, leaveSecond := context.WithCancelCause(t.Context())
				defer leaveFirst(nil)
				defer leaveSecond(nil)
				finish := make(chan struct{})
				stopped := false
				fill := func(ctx context.Context, slot int) error {
					select {
					case <-finish:
						return nil
					case <-ctx.Done():
						stopped = true
						return context.Cause(ctx)
					}
				}
				var wg sync.WaitGroup
				var pages [2]*page
				var errs [2]error
				wg.Go(func() { pages[0], errs[0] = p.pin(first, id, fill) })
				synctest.Wait()
				wg.Go(func() { pages[1], errs[1] = p.pin(second, id, fill) })
				synctest.Wait()
				if test.maker {
					leaveFirst(reason)
				}
				if test.waiter {
					leaveSecond(reason)
				}
				synctest.Wait()
				close(finish)
				wg.Wait()
				if stopped != test.stopped {
					t.Errorf("the work was stopped: %v", stopped)
				}
				if (errs[1] == nil) == test.waiter || test.waiter && !errors.Is(errs[1], reason) {
					t.Errorf("the one that waits got %v", errs[1])
				}
				if test.stopped && !errors.Is(errs[0], reason) {
					t.Errorf("the one that makes it got %v", errs[0])
				}
				for _, g := range pages {
					if g != nil {
						p.unpin(g)
					}
				}
				// The only slot is free again, or its page is idle.
				g, err := p.pin(t.Context(), pageID{level: 2}, func(context.Context, int) error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				p.unpin(g)
			})
		})
	}
}

// TestALateRequestMakesAnUnwantedPageAgain joins a page after all others gave it up, before the work ended.
func TestALateRequestMakesAnUnwantedPageAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPages(2)
		first, leave := context.WithCancel(t.Context())
		end := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := p.pin(first, pageID{}, func(ctx context.Context, slot int) error {
				<-end // does not look at the context
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the first request got %v", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		made := 0
		wg.Go(func() {
			g, err := p.pin(t.Context(), pageID{}, func(context.Context, int) error { made++; return nil })
			if err != nil {
				t.Error(err)
				return
			}
			p.unpin(g)
		})
		synctest.Wait()
		close(end)
		wg.Wait()
		if made != 1 {
			t.Errorf("the page was made %d times", made)
		}
		if _, _, kept := p.counts(); kept != 1 || len(p.free) != 1 {
			t.Errorf("%d pages, %d slots are free", kept, len(p.free))
		}
	})
}

func TestAnErrorOfAPageIsThatOfAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPages(1)
		broken, end := errors.New("broken"), make(chan struct{})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := p.pin(t.Context(), pageID{}, func(context.Context, int) error { <-end; return broken }); !errors.Is(err, broken) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(end)
		wg.Wait()
		if _, misses, kept := p.counts(); misses != 1 || kept != 0 || len(p.free) != 1 {
			t.Errorf("made %d times, %d pages kept, %d slots free", misses, kept, len(p.free))
		}
	})
}
