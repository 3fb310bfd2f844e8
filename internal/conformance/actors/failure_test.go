package actors

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// each runs a test on every device there is.
func each(t *testing.T, test func(t *testing.T, ctx context.Context, rt *ring.Runtime)) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			rt := open(t, b)
			ctx := within(t, 10*time.Second)
			test(t, ctx, rt)
		})
	}
}

func TestStateOutlivesMessages(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "total", State: Total{Sum: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(1000)
		for i := range int16(50) {
			want += int64(-3 * i)
			r, err := a.Ask(ctx, Sample{Value: -3 * i})
			if err != nil {
				t.Fatal(err)
			}
			if r.Sum != want || r.Count != int32(i+1) || r.Last != [3]uint8{uint8(-3 * i), uint8(-3 * i >> 8), 0} {
				t.Fatalf("message %d: %+v, want a sum of %d", i, r, want)
			}
		}
		if _, err := a.Ask(ctx, Sample{Value: 5, Kind: Quiet}); !errors.Is(err, ring.ErrNoReply) {
			t.Errorf("a handler that does not reply: %v, want ErrNoReply", err)
		}
		if r, err := a.Ask(ctx, Sample{Value: 1, Kind: Finish}); err != nil || r.Count != 52 {
			t.Errorf("the last reply: %+v, %v", r, err)
		}
		var state *ring.StateError
		if _, err := a.Ask(ctx, Sample{}); !errors.As(err, &state) {
			t.Errorf("asking an actor that has stopped: %v, want a StateError", err)
		}
	})
}

// The simulator says in the handler's words what it finds.
func TestARaceOnTheStateIsReportedAsSuch(t *testing.T) {
	rt := open(t, gpu.Sim)
	ctx := within(t, 10*time.Second)
	for range 2 { // also of an actor that is not the first of its launch
		a, err := SpawnCareless(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Ask(ctx, 1)
		fault, ok := errors.AsType[*gpu.KernelError](err)
		const want = "data race in global memory: global load of 4 bytes: the actor's state.Count (the other access: actors/handlers.go:"
		if !ok || fault.Kind != gpu.DataRace || !strings.HasPrefix(fault.Reason, want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestHandlersThatFailStopTheirActorOnly(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for _, kind := range []Kind{Fail, Crash} {
			a, err := SpawnAccumulate(ctx, rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			other, err := SpawnAccumulate(ctx, rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Ask(ctx, Sample{Value: 7}); err != nil {
				t.Fatal(err)
			}
			_, err = a.Ask(ctx, Sample{Kind: kind})
			var handler *ring.HandlerError
			var kernel *gpu.KernelError
			if !errors.As(err, &handler) || handler.Ticket != 1 || !errors.As(err, &kernel) || kernel.File != "quern.dev/internal/conformance/actors/handlers.go" {
				t.Fatalf("kind %d: %v, want a HandlerError with a KernelError", kind, err)
			}
			if s := a.State(); s != ring.Failed {
				t.Errorf("kind %d: the actor is %v, want failed", kind, s)
			}
			var state *ring.StateError
			if _, err := a.Ask(ctx, Sample{}); !errors.As(err, &state) || state.State != ring.Failed {
				t.Errorf("kind %d: asking it again: %v, want a StateError", kind, err)
			}
			if r, err := other.Ask(ctx, Sample{Value: 3}); err != nil || r.Sum != 3 {
				t.Errorf("kind %d: the other actor: %+v, %v", kind, r, err)
			}
			if err := a.Restart(false); err != nil {
				t.Fatal(err)
			}
			if r, err := a.Ask(ctx, Sample{Value: 2}); err != nil || r.Sum != 9 {
				t.Errorf("kind %d: restarted with its state: %+v, %v", kind, r, err)
			}
			if _, err := a.Ask(ctx, Sample{Kind: kind}); err == nil {
				t.Errorf("kind %d: failed once only", kind)
			}
			if err := a.Restart(true); err != nil {
				t.Fatal(err)
			}
			if r, err := a.Ask(ctx, Sample{Value: 2}); err != nil || r.Sum != 2 {
				t.Errorf("kind %d: restarted without its state: %+v, %v", kind, r, err)
			}
		}
	})
}

func TestDeactivatedActorsKeepMessages(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Capacity: 8, Full: ring.Reject})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Deactivate(); err != nil {
			t.Fatal(err)
		}
		for i := range int16(8) {
			if err := a.Send(ctx, Sample{Value: i}); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Send(ctx, Sample{}); !errors.Is(err, ring.ErrQueueFull) {
			t.Errorf("a ninth message: %v, want ErrQueueFull", err)
		}
		if i := a.Info(); i.Queued != 8 || i.State != ring.Deactivated {
			t.Errorf("%+v, want 8 queued", i)
		}
		var state *ring.StateError
		if err := a.Deactivate(); !errors.As(err, &state) || state.Op != "deactivate" {
			t.Errorf("deactivating it again: %v, want a StateError", err)
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for i := range int64(8) {
			sum += i
			if r, err := a.Receive(ctx); err != nil || r.Sum != sum {
				t.Fatalf("reply %d: %+v, %v", i, r, err)
			}
		}
		for range 5 {
			if err := a.Tell(ctx, Sample{Value: 1}); err != nil {
				t.Fatal(err)
			}
		}
		f, err := a.Terminate(ctx)
		if err != nil || f.Dropped+f.DeadLettered != 0 || f.Drained > 5 {
			t.Errorf("%+v, %v", f, err)
		}
		if again, err := a.Terminate(ctx); err != nil || again != f {
			t.Errorf("terminated again: %+v, %v", f, err)
		}
		if i := a.Info(); i.State != ring.Terminated || i.Accepted != 13 || i.Queued != 0 {
			t.Errorf("%+v, want 13 messages", i)
		}
	})
}

func TestPanicsInChecksNameTheLine(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnFirstOf(ctx, rt, ring.Options{Name: "first"})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := a.Ask(ctx, [4]int32{2, 0, -9}); err != nil || v != -9 {
			t.Fatal(v, err)
		}
		_, err = a.Ask(ctx, [4]int32{4})
		var kernel *gpu.KernelError
		if !errors.As(err, &kernel) || kernel.Index != 4 || kernel.Length != 4 {
			t.Errorf("%v, want a KernelError of index 4", err)
		}
	})
}

func TestSupervisorsDecide(t *testing.T) {
	for _, tt := range []struct {
		name     string
		decision ring.Decision
		sum      int64 // of the next reply, 0 if the actor ends
	}{
		{"an actor that resumes has its state", ring.Resume, 12},
		{"an actor that is renewed has the state that it was spawned with", ring.Renew, 102},
		{"an actor that is ended takes no messages", ring.End, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				failures := make(chan ring.Failure, 1)
				a, err := SpawnAccumulate(ctx, rt, ring.Options{State: Total{Sum: 100}, Supervisor: func(f ring.Failure) ring.Decision {
					failures <- f
					return tt.decision
				}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := a.Ask(ctx, Sample{Value: -90}); err != nil {
					t.Fatal(err)
				}
				if _, err := a.Ask(ctx, Sample{Kind: Crash}); err == nil {
					t.Fatal("the handler did not fail")
				}
				if f := <-failures; f.Actor != a.Name() || f.Count != 1 || f.Err == nil {
					t.Errorf("the supervisor got %+v", f)
				}
				for a.State() == ring.Failed {
					if ctx.Err() != nil {
						t.Fatal("the actor stays failed")
					}
				}
				r, err := a.Ask(ctx, Sample{Value: 2})
				var state *ring.StateError
				switch {
				case tt.sum == 0 && !errors.As(err, &state):
					t.Errorf("%v, want a StateError", err)
				case tt.sum != 0 && (err != nil || r.Sum != tt.sum):
					t.Errorf("%+v, %v, want a sum of %d", r, err, tt.sum)
				}
			})
		})
	}
}
