package ring

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

func TestVigilsCountLooksAndNotTheClock(t *testing.T) {
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
		v, now, found := vigil{patience: 8 * time.Second}, time.Now(), 0
		for i, l := range tt.looks {
			now = now.Add(l.after)
			if v.look(now, l.far) && found == 0 {
				found = i + 1
			}
		}
		if found != tt.found {
			t.Errorf("%s: look %d finds it, want %d", tt.name, found, tt.found)
		}
	}
}

func TestVigilsThatRestBeginAnew(t *testing.T) {
	v, now := vigil{patience: 8}, time.Now()
	for range 3 {
		for range looks {
			if now = now.Add(1); v.look(now, 1) {
				t.Fatal("found after a rest that was too short ago")
			}
		}
		v.rest()
	}
}

func TestVigilsAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			after time.Duration // that the channel is closed
			took  time.Duration
			done  bool
		}{{0, 0, true}, {3 * time.Second, 3 * time.Second, true}, {time.Hour, 8 * time.Second, false}} {
			done := make(chan struct{})
			time.AfterFunc(tt.after, func() { close(done) })
			v, begin := vigil{patience: 8 * time.Second}, time.Now()
			if got := v.await(done); got != tt.done || time.Since(begin) != tt.took {
				t.Errorf("%v for a channel that is closed after %v: %v, want %v after %v", got, tt.after, time.Since(begin), tt.done, tt.took)
			}
			<-done
		}
	})
}

// A look is late when the process had no processor, or was stopped.
func TestLateLooksFindNoHandlerInGo(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	rt, err := New(dev, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	ctx := context.Background()
	begun, gate := make(chan bool), make(chan bool)
	a, err := SpawnHost(ctx, rt, func(_ context.Context, _ *HostContext, _, out *int) kernel.Action {
		begun <- true
		<-gate
		*out = 7
		return kernel.Reply
	}, Options{Patience: 1000 * time.Hour, Supervisor: func(Failure) Decision { return Leave }})
	if err != nil {
		t.Fatal(err)
	}
	for i, late := range []int{looks - 1, 1 + looks} { // the first look at another message finds it new
		if err := a.Send(ctx, 0); err != nil {
			t.Fatal(err)
		}
		<-begun
		h := a.core.server.(*hostActor)
		for range late {
			h.mu.Lock()
			h.vigil.last = h.vigil.last.Add(-10_000 * time.Hour)
			h.mu.Unlock()
			h.look()
		}
		var stuck *StuckError
		if found := errors.As(a.Info().Err, &stuck); found != (i == 1) {
			t.Errorf("%d late looks: %v", late, a.Info().Err)
		}
		gate <- true
		if r, err := a.Receive(ctx); r != 7 || err != nil {
			t.Errorf("after %d late looks: %d, %v", late, r, err)
		}
	}
}
