package actors

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// A handler that never returns is found, and its launch is ended.
func TestHandlersThatNeverReturnAreFound(t *testing.T) {
	for _, b := range []gpu.Backend{gpu.CPU, gpu.Sim} {
		t.Run(string(b), func(t *testing.T) {
			dev, err := gpu.Open(gpu.Config{Require: b})
			if err != nil {
				t.Fatal(err)
			}
			const handlerTimeout = 60 * time.Millisecond
			rt, err := ring.New(dev, ring.Config{HandlerTimeout: handlerTimeout})
			if err != nil {
				t.Fatal(err)
			}
			ctx := within(t, 10*time.Second)
			failures := make(chan ring.Failure, 1)
			a, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "endless", Supervisor: func(f ring.Failure) ring.Decision {
				failures <- f
				return ring.Leave
			}})
			if err != nil {
				t.Fatal(err)
			}
			other, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "other"})
			if err != nil {
				t.Fatal(err)
			}

			short, stop := context.WithTimeout(ctx, time.Millisecond)
			defer stop()
			if _, err := a.Ask(short, Sample{Kind: Forever}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("asking: %v, want the context's error", err)
			}
			var stuck *ring.StuckError
			f := <-failures
			if !errors.As(f.Err, &stuck) || !slices.Equal(stuck.Actors, []string{"endless"}) || f.Actor != "endless" {
				t.Errorf("the supervisor got %+v, want a StuckError", f)
			}
			var state *ring.StateError
			if _, err := a.Ask(ctx, Sample{}); !errors.As(err, &state) || !errors.As(err, &stuck) || state.State != ring.Failed {
				t.Errorf("asking again: %v, want a StateError with a StuckError", err)
			}
			if r, err := other.Ask(ctx, Sample{Value: 3}); err != nil || r.Sum != 3 {
				t.Errorf("the other actor: %+v, %v", r, err)
			}
			for a.Info().Queued > 0 && ctx.Err() == nil { // it is about to be ended
				time.Sleep(time.Millisecond)
			}
			if i := a.Info(); i.Accepted != 1 || i.Failed != 1 || i.DeadLetters != 1 || i.Queued+i.Handled+i.Dropped != 0 {
				t.Errorf("account %+v, want 1 failed", i)
			}
			if err := a.Restart(true); err != nil {
				t.Fatal(err)
			}
			if r, err := a.Ask(ctx, Sample{Value: 4}); err != nil || r.Sum != 4 {
				t.Errorf("restarted: %+v, %v", r, err)
			}
			if err := errors.Join(rt.Close(), dev.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a handler used that returned after the runtime was closed is freed with the
// device, and is nobody's leak.
func TestHandlersThatReturnAfterTheRuntimeIsClosed(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.Sim})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := ring.New(dev, ring.Config{HandlerTimeout: slowness * 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	a, err := SpawnAccumulate(within(t, 10*time.Second), rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeout(context.Background(), slowness*10*time.Millisecond)
	defer stop()
	if _, err := a.Ask(short, Sample{Kind: Forever}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asking: %v, want the context's error", err)
	}
	var stuck *ring.StuckError
	if err := rt.Close(); !errors.As(err, &stuck) {
		t.Errorf("closing the runtime: %v, want a StuckError", err)
	}
	time.Sleep(slowness * 200 * time.Millisecond) // the simulator ends the handler
	if err := dev.Close(); err != nil {
		t.Error("closing the device:", err)
	}
}

func TestSupervisorsRestartWhatTheSimulatorEnds(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.Sim})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := ring.New(dev, ring.Config{HandlerTimeout: 60 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 20*time.Second)
	a, err := SpawnAccumulate(ctx, rt, ring.Options{Supervisor: func(ring.Failure) ring.Decision { return ring.Renew }})
	if err != nil {
		t.Fatal(err)
	}
	// Its caller runs the handler: nobody of the runtime's is at hand when that ends.
	if _, err := a.Ask(context.Background(), Sample{Kind: Forever}); err == nil {
		t.Error("a handler that does not return has replied")
	}
	for a.State() != ring.Active && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if r, err := a.Ask(ctx, Sample{Value: 4}); err != nil || r.Sum != 4 {
		t.Errorf("restarted: %+v, %v", r, err)
	}
	if err := errors.Join(rt.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
}

// A block handles many messages in one run, which may take longer than the runtime
// waits for one of them.
func TestRunsOfManyMessagesAreNotStuck(t *testing.T) {
	const handlerTimeout = 400 * time.Millisecond
	rt := openWith(t, gpu.CPU, ring.Config{HandlerTimeout: handlerTimeout})
	ctx := within(t, 20*time.Second)
	a := spawned(t, ctx, rt, SpawnLinger, ring.Options{Inactive: true})
	const n, each = 40, 20 * time.Millisecond
	for range n {
		if err := a.Send(ctx, int64(each)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	if err := a.Activate(); err != nil {
		t.Fatal(err)
	}
	for i := range int64(n) {
		if r, err := a.Receive(ctx); err != nil || r != i+1 {
			t.Fatalf("reply %d: %d, %v", i, r, err)
		}
	}
	if took := time.Since(begin); took < 3*handlerTimeout/2 {
		t.Errorf("the messages took %v, less than what the watchdog allows for one of them", took)
	}
}

func TestAsksWaitForActivation(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for _, tt := range []struct {
			name string
			ctx  context.Context
		}{{"with a context that can be cancelled", ctx}, {"without", context.Background()}} {
			a, err := SpawnAccumulate(ctx, rt, ring.Options{Inactive: true})
			if err != nil {
				t.Fatal(err)
			}
			replies := make(chan error)
			go func() {
				_, err := a.Ask(tt.ctx, Sample{Value: 1})
				replies <- err
			}()
			for a.Info().Queued == 0 {
				if ctx.Err() != nil {
					t.Fatal("the message does not arrive")
				}
			}
			if err := a.Activate(); err != nil {
				t.Fatal(err)
			}
			if err := <-replies; err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	})
}

func TestAsksEndWithTheActor(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		replies := make(chan error)
		go func() {
			_, err := a.Ask(context.Background(), Sample{Value: 1})
			replies <- err
		}()
		for a.Info().Queued == 0 {
			if ctx.Err() != nil {
				t.Fatal("the message does not arrive")
			}
		}
		if f, err := a.Terminate(ctx); err != nil || f.DeadLettered != 1 {
			t.Errorf("%+v, %v, want one dead letter", f, err)
		}
		var state *ring.StateError
		if err := <-replies; !errors.As(err, &state) {
			t.Errorf("%v, want a StateError", err)
		}
	})
}
