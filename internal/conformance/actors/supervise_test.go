package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

func TestSupervisorsLearnWhereAHandlerFailed(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		failures := make(chan ring.Failure, 1)
		o := ring.Options{Supervisor: func(f ring.Failure) ring.Decision { failures <- f; return ring.Resume }, MaxRestarts: 100}
		first, err := SpawnFirstOf(ctx, rt, o)
		if err != nil {
			t.Fatal(err)
		}
		total, err := SpawnAccumulate(ctx, rt, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name string
			fail func() error
		}{
			{"an index out of range", func() error { _, err := first.Ask(ctx, [4]int32{4}); return err }},
			{"a panic of one thread", func() error { _, err := total.Ask(ctx, Sample{Kind: Fail}); return err }},
			{"a panic of all threads", func() error { _, err := total.Ask(ctx, Sample{Kind: Crash}); return err }},
		} {
			for i := range uint64(3) {
				err := tt.fail()
				f := <-failures
				kernel, ok := errors.AsType[*gpu.KernelError](f.Err)
				if !ok || kernel.File != "quern.dev/internal/conformance/actors/handlers.go" || kernel.Line == 0 || !errors.Is(err, kernel) {
					t.Errorf("%s, failure %d: the caller got %v, the supervisor %+v", tt.name, i, err, f)
				}
				for first.State() == ring.Failed || total.State() == ring.Failed {
					if ctx.Err() != nil {
						t.Fatal("the actor stays failed")
					}
				}
			}
		}
		if r, err := first.Ask(ctx, [4]int32{3, 0, 0, 9}); err != nil || r != 9 {
			t.Errorf("after three failures: %d, %v", r, err)
		}
		if i := first.Info(); i.Failed != 3 || i.Restarts != 3 || i.State != ring.Active {
			t.Errorf("%+v, want three failures and restarts", i)
		}
		if i := total.Info(); i.Failed != 6 || i.Restarts != 6 || i.State != ring.Active {
			t.Errorf("%+v, want six failures and restarts", i)
		}
	})
}

func TestCrashLoopsAreEscalated(t *testing.T) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			escalated := make(chan ring.Failure, 1)
			rt, ctx := openWith(t, b, ring.Config{Supervisor: func(f ring.Failure) ring.Decision {
				escalated <- f
				return ring.End
			}}), within(t, 20*time.Second)
			a, err := SpawnAccumulate(ctx, rt, ring.Options{MaxRestarts: 2, Supervisor: func(ring.Failure) ring.Decision { return ring.Renew }})
			if err != nil {
				t.Fatal(err)
			}
			for range 100 { // it fails as often as it is let
				if err := a.Tell(ctx, Sample{Kind: Crash}); err != nil {
					break
				}
			}
			f := <-escalated
			if f.Actor != a.Name() || f.Count != 3 || !f.Escalated {
				t.Errorf("the runtime's supervisor got %+v, want the third failure", f)
			}
			termination, err := a.Terminate(ctx)
			if err != nil {
				t.Fatal(err)
			}
			i := a.Info()
			if letters := rt.DeadLetters().Count(ring.ReasonTerminated); i.State != ring.Terminated || letters != uint64(termination.DeadLettered) || i.Accepted != 3+letters {
				t.Errorf("%+v; %d dead letters; %+v", termination, letters, i)
			}
			var state *ring.StateError
			var kernel *gpu.KernelError
			if _, err := a.Ask(ctx, Sample{}); !errors.As(err, &state) || !errors.As(err, &kernel) {
				t.Errorf("asked after its end: %v, want a StateError with the failure", err)
			}
		})
	}
}

func TestActorsThatComeAndGo(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		n := fewer(300, 100)
		if rt.Device().Backend() == gpu.CPU {
			n = fewer(10_000, 2000)
		}
		stays, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "stays"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			a, err := SpawnAccumulate(ctx, rt, ring.Options{Capacity: 16, State: Total{Sum: int64(i)}})
			if err != nil {
				t.Fatal(err)
			}
			if r, err := a.Ask(ctx, Sample{Value: 1}); err != nil || r.Sum != int64(i+1) || r.Count != 1 {
				t.Fatalf("actor %d: %+v, %v", i, r, err)
			}
			if err := a.Tell(ctx, Sample{Value: 1}); err != nil {
				t.Fatal(err)
			}
			if f, err := a.Terminate(ctx); err != nil || f.DeadLettered+f.Dropped > 0 {
				t.Fatalf("actor %d: %+v, %v", i, f, err)
			}
			if i%100 == 0 {
				if r, err := stays.Ask(ctx, Sample{Value: 1}); err != nil || r.Count != int32(i/100+1) {
					t.Fatalf("the actor that stays: %+v, %v", r, err)
				}
			}
		}
	})
}

func TestRepliesOutliveTheirActor(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		var gone []*ring.Actor[Sample, Reply]
		for i := range 20 {
			a, err := SpawnAccumulate(ctx, rt, ring.Options{Name: fmt.Sprint("number ", i), Capacity: 16})
			if err != nil {
				t.Fatal(err)
			}
			for k := range int16(3) {
				if err := a.Send(ctx, Sample{Value: int16(i)*10 + k}); err != nil {
					t.Fatal(err)
				}
			}
			if f, err := a.Terminate(ctx); err != nil || f.DeadLettered+f.Dropped > 0 {
				t.Fatalf("%+v, %v", f, err)
			}
			gone = append(gone, a)
		}
		for i, a := range gone {
			sum := int64(0)
			for k := range 3 {
				sum += int64(10*i + k)
				if r, err := a.Receive(ctx); err != nil || r.Sum != sum {
					t.Fatalf("actor %d, reply %d: %+v, %v; want %d", i, k, r, err, sum)
				}
			}
			var state *ring.StateError
			if _, err := a.Receive(ctx); !errors.As(err, &state) || state.State != ring.Terminated {
				t.Errorf("no more replies: %v, want a StateError", err)
			}
		}
	})
}
