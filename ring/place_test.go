package ring_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/conformance/routing"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/ring"
)

// eachExecutor runs a test with actors on the CPU, and with resident actors of a stand-in
// for a GPU.
func eachExecutor(t *testing.T, test func(t *testing.T, ctx context.Context, rt *ring.Runtime)) {
	t.Run("cpu", func(t *testing.T) { test(t, within(t), open(t, ring.Config{})) })
	t.Run("resident", func(t *testing.T) {
		lib := fakecuda.New(1)
		lib.Blocks = 32
		t.Cleanup(cuda.Substitute(lib))
		dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
		if err != nil {
			t.Fatal(err)
		}
		rt, err := ring.New(dev, ring.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(rt.Close(), dev.Close()); err != nil {
				t.Error(err)
			}
		})
		test(t, within(t), rt)
	})
}

func spawnTally(t *testing.T, rt *ring.Runtime, count int64) *ring.Actor[routing.Item, routing.Tally] {
	t.Helper()
	a, err := routing.SpawnTally(within(t), rt, ring.Options{State: routing.Tally{Count: count}, Supervisor: func(ring.Failure) ring.Decision { return ring.Leave }})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func spawnPlusOne(t *testing.T, rt *ring.Runtime) *ring.Actor[routing.Item, routing.Item] {
	t.Helper()
	a, err := routing.SpawnPlusOne(within(t), rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wantStateError checks the error of an operation that came too late.
func wantStateError(t *testing.T, err error, want ring.State) {
	t.Helper()
	if denied, ok := errors.AsType[*ring.StateError](err); !ok || denied.State != want {
		t.Errorf("%v, want a StateError that says %v", err, want)
	}
}

func TestRestartLeavesTheStateOfTheActorInItsPlaceAlone(t *testing.T) {
	eachExecutor(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for _, writes := range []bool{false, true} {
			a := spawnTally(t, rt, 1)
			ring.Fail(a, errors.New("asked to"))
			var next *ring.Actor[routing.Item, routing.Tally]
			ring.Interrupt(a, writes, func() {
				if _, err := a.Terminate(ctx); err != nil {
					t.Error(err)
				}
				next = spawnTally(t, rt, 2)
			})
			wantStateError(t, a.Restart(true), ring.Terminated)
			if r, err := next.Ask(ctx, routing.Item{Ask: 1}); err != nil || r.Count != 2 {
				t.Errorf("the next actor begins with %d, %v, want 2", r.Count, err)
			}
		}
	})
}

func TestRestartsThatComeTooLateLeaveTheState(t *testing.T) {
	eachExecutor(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := spawnTally(t, rt, 1)
		if err := a.Tell(ctx, routing.Item{}); err != nil {
			t.Fatal(err)
		}
		for a.Info().Handled < 1 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		ring.Fail(a, errors.New("asked to"))
		ring.Interrupt(a, false, func() {
			if err := a.Restart(false); err != nil {
				t.Error(err)
			}
		})
		wantStateError(t, a.Restart(true), ring.Active)
		if r, err := a.Ask(ctx, routing.Item{Ask: 1}); err != nil || r.Count != 2 {
			t.Errorf("the actor goes on with %d, %v, want 2", r.Count, err)
		}
	})
}

func TestConnectLeavesTheActorInItsPlaceAlone(t *testing.T) {
	eachExecutor(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for _, writes := range []bool{false, true} {
			sink, a := spawnTally(t, rt, 0), spawnPlusOne(t, rt)
			var next *ring.Actor[routing.Item, routing.Item]
			ring.Interrupt(a, writes, func() {
				if _, err := a.Terminate(ctx); err != nil {
					t.Error(err)
				}
				next = spawnPlusOne(t, rt)
			})
			wantStateError(t, ring.Connect(a, sink), ring.Terminated)
			if _, err := next.Ask(ctx, routing.Item{}); err != nil {
				t.Fatal(err)
			}
			if r, err := sink.Ask(ctx, routing.Item{Ask: 1}); err != nil || r.Count != 0 {
				t.Errorf("%d replies of the next actor went on, %v", r.Count, err)
			}
		}
	})
}
