package ring

import (
	"context"
	"errors"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring/internal/watchdog"
)

// A check is late if the process had no processor or was stopped.
func TestLateChecksFindNoHandlerInGo(t *testing.T) {
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
	}, Options{HandlerTimeout: 1000 * time.Hour, Supervisor: func(Failure) Decision { return Leave }})
	if err != nil {
		t.Fatal(err)
	}
	for i, late := range []int{watchdog.Checks - 1, 1 + watchdog.Checks} { // the first check of a new message starts the timer again
		if err := a.Send(ctx, 0); err != nil {
			t.Fatal(err)
		}
		<-begun
		h := a.core.server.(*hostActor)
		for range late {
			h.mu.Lock()
			h.timer.Last = h.timer.Last.Add(-10_000 * time.Hour)
			h.mu.Unlock()
			h.check()
		}
		var stuck *StuckError
		if found := errors.As(a.Info().Err, &stuck); found != (i == 1) {
			t.Errorf("%d late checks: %v", late, a.Info().Err)
		}
		gate <- true
		if r, err := a.Receive(ctx); r != 7 || err != nil {
			t.Errorf("after %d late checks: %d, %v", late, r, err)
		}
	}
}
