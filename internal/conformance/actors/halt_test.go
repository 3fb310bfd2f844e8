package actors

import (
	"context"
	"errors"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// inCallers are the devices whose blocks run in their callers.
var inCallers = []gpu.Backend{gpu.CPU, gpu.Sim}

// closesSoon closes a runtime, and fails the test if that takes long.
func closesSoon(t *testing.T, rt *ring.Runtime) error {
	t.Helper()
	done := make(chan error)
	go func() { done <- rt.Close() }()
	select {
	case err := <-done:
		return err
	case <-time.After(slowness * 5 * time.Second):
		t.Fatal("the runtime does not close")
		return nil
	}
}

// TestClosingWhileGroupsChange: both stop all actors.
func TestClosingWhileGroupsChange(t *testing.T) {
	for _, b := range inCallers {
		t.Run(string(b), func(t *testing.T) {
			for range 10 {
				dev, err := gpu.Open(gpu.Config{Require: b})
				if err != nil {
					t.Fatal(err)
				}
				rt, err := ring.New(dev, ring.Config{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				g, err := ring.NewGroup[int64](rt, "g")
				if err != nil {
					t.Fatal(err)
				}
				members := [2]*ring.Actor[int64, int64]{}
				for i := range members {
					if members[i], err = SpawnLinger(ctx, rt, ring.Options{Capacity: 8}); err != nil {
						t.Fatal(err)
					}
					go func() {
						for ctx.Err() == nil {
							_ = members[i].Tell(ctx, 20_000)
						}
					}()
				}
				for range 2 {
					go func() {
						for ctx.Err() == nil {
							_ = g.Add(members[0])
							_ = g.Remove(members[0])
						}
					}()
				}
				time.Sleep(3 * time.Millisecond)
				err = closesSoon(t, rt)
				var stuck *ring.StuckError
				if errors.As(err, &stuck) {
					t.Errorf("closed: %v", err)
				}
				stop()
				if err := dev.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestClosingWithAStuckHandler: another actor has a message that it cannot handle
// meanwhile, where blocks take turns.
func TestClosingWithAStuckHandler(t *testing.T) {
	for _, b := range inCallers {
		t.Run(string(b), func(t *testing.T) {
			for range 2 {
				dev, err := gpu.Open(gpu.Config{Require: b})
				if err != nil {
					t.Fatal(err)
				}
				rt, err := ring.New(dev, ring.Config{HandlerTimeout: slowness * 400 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				var actors [2]*ring.Actor[Sample, Reply]
				for i := range actors {
					if actors[i], err = SpawnAccumulate(t.Context(), rt, ring.Options{}); err != nil {
						t.Fatal(err)
					}
				}
				for i, kind := range []Kind{Forever, 0} {
					if err := actors[i].Tell(t.Context(), Sample{Kind: kind}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(slowness * 30 * time.Millisecond) // until it is at the message, and not so long that it is found
				}
				var stuck *ring.StuckError
				if err := closesSoon(t, rt); !errors.As(err, &stuck) || len(stuck.Actors) != 1 {
					t.Errorf("closed: %v, want a StuckError of one actor", err)
				}
				for dev.Close() != nil && t.Context().Err() == nil { // until the handler has noticed
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
}

// TestSpawningBesideAStuckHandler: the new actor's state waits for the simulator, which the
// handler has until the watchdog finds it.
func TestSpawningBesideAStuckHandler(t *testing.T) {
	for _, b := range inCallers {
		t.Run(string(b), func(t *testing.T) {
			dev, err := gpu.Open(gpu.Config{Require: b})
			if err != nil {
				t.Fatal(err)
			}
			rt, err := ring.New(dev, ring.Config{HandlerTimeout: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			a, err := SpawnAccumulate(t.Context(), rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Tell(t.Context(), Sample{Kind: Forever}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
			begin := time.Now()
			other, err := SpawnAccumulate(t.Context(), rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > slowness*5*time.Second {
				t.Errorf("the actor was there after %v", took)
			}
			if r, err := other.Ask(t.Context(), Sample{Value: 2}); err != nil || r.Sum != 2 {
				t.Errorf("%+v, %v", r, err)
			}
			_ = closesSoon(t, rt)
			for dev.Close() != nil && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
			}
		})
	}
}
