package actors

import (
	"context"
	"errors"
	"testing"

	"quern.dev/ring"
)

func spawned[In, Out any](t *testing.T, ctx context.Context, rt *ring.Runtime, spawn func(context.Context, *ring.Runtime, ring.Options) (*ring.Actor[In, Out], error), o ring.Options) *ring.Actor[In, Out] {
	t.Helper()
	a, err := spawn(ctx, rt, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// eventually waits until an actor has handled so many messages.
func total(t *testing.T, ctx context.Context, a *ring.Actor[int64, int64], want int64) {
	t.Helper()
	for {
		got, err := a.Ask(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
		if ctx.Err() != nil || got > want {
			t.Fatalf("the total is %d, want %d", got, want)
		}
	}
}

func TestActorsPlayBall(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		turns := uint32(fewer(1000, 200))
		end := spawned(t, ctx, rt, SpawnCollect, ring.Options{})
		a := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		b := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		if err := a.Tell(ctx, Ball{Back: b.Ref(), Left: turns}); err != nil {
			t.Fatal(err)
		}
		for {
			got, err := end.Ask(ctx, Ball{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Count != 0 {
				if got.Count != turns+1 || got.Sum != uint64(turns*(turns+1)/2) {
					t.Errorf("the ball came back as %+v", got)
				}
				return
			}
		}
	})
}

func TestPipelinesLoseNothing(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		n := int64(2000)
		if testing.Short() {
			n = 600 // more than the mailboxes hold, still
		}
		a, b, c := spawned(t, ctx, rt, SpawnTwice, ring.Options{}), spawned(t, ctx, rt, SpawnTwice, ring.Options{}), spawned(t, ctx, rt, SpawnSum, ring.Options{})
		other := spawned(t, ctx, rt, SpawnSum, ring.Options{})
		if err := ring.Connect(a, b); err != nil {
			t.Fatal(err)
		}
		if err := ring.Connect(b, c, other); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for i := range n {
			want += 4 * i
			if err := a.Tell(ctx, i); err != nil {
				t.Fatal(err)
			}
			if i%250 == 0 { // in the middle of it
				if err := rt.Quiesce("test"); err != nil {
					t.Fatal(err)
				}
				if err := rt.Resume(); err != nil {
					t.Fatal(err)
				}
			}
		}
		total(t, ctx, c, want)
		total(t, ctx, other, want)
	})
}

func TestThreadsSendMessagesOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const n = 1000 // more than the mailbox holds
		sum := spawned(t, ctx, rt, SpawnSum, ring.Options{})
		a, b := spawned(t, ctx, rt, SpawnScatter, ring.Options{}), spawned(t, ctx, rt, SpawnScatter, ring.Options{})
		for _, s := range []*ring.Actor[Burst, int32]{a, b} {
			if err := s.Send(ctx, Burst{To: sum.Ref(), First: 1, Count: n}); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range []*ring.Actor[Burst, int32]{a, b} {
			if got, err := s.Receive(ctx); err != nil || got != n {
				t.Fatalf("got %d, %v", got, err)
			}
		}
		total(t, ctx, sum, n*(n+1))
	})
}

func TestMessagesToActorsThatHaveEndedAreRefused(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		stage, sum := spawned(t, ctx, rt, SpawnTwice, ring.Options{}), spawned(t, ctx, rt, SpawnSum, ring.Options{})
		connect := func(to *ring.Actor[int64, int64]) {
			t.Helper()
			if err := ring.Connect(stage, to); err != nil {
				t.Fatal(err)
			}
		}
		pass := func(n int64) {
			t.Helper()
			for range n {
				if got, err := stage.Ask(ctx, 1); err != nil || got != 2 {
					t.Fatal(got, err)
				}
			}
		}
		connect(sum)
		pass(3)
		total(t, ctx, sum, 6)
		if _, err := sum.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		pass(4)
		// A loop that has sent to the actor before may deliver one more message, for nobody.
		for i := sum.Info(); i.Refused+i.Dropped != 4; i = sum.Info() {
			if ctx.Err() != nil {
				t.Fatalf("%d messages are refused and %d dropped, want 4", i.Refused, i.Dropped)
			}
		}
		left := sum.Info().Dropped
		if left > 1 {
			t.Errorf("%d messages were accepted after the end of the actor", left)
		}
		if n := rt.DeadLetters().Total(); n != 0 {
			t.Errorf("%d dead letters, but each reply was received", n)
		}
		// The next actor in its place begins with an open mailbox and counts of its own.
		next := spawned(t, ctx, rt, SpawnSum, ring.Options{})
		if next.Ref().Mailbox != sum.Ref().Mailbox {
			t.Fatalf("the place of an actor that has ended is not used: %v, want %v", next.Ref(), sum.Ref())
		}
		if n := rt.DeadLetters().Total(); n != left {
			t.Errorf("%d dead letters, but %d messages were left", n, left)
		}
		// Who still sends to the one before does not reach it.
		pass(5)
		for next.Info().Refused != 5 {
			if ctx.Err() != nil {
				t.Fatalf("%d messages are refused, want 5", next.Info().Refused)
			}
		}
		connect(next)
		pass(2)
		total(t, ctx, next, 4)
		if i := next.Info(); i.Refused != 5 || i.Queued != 0 || i.Accepted < 2 || i.Accepted != i.Handled {
			t.Errorf("%+v: want all that was accepted to be handled", i)
		}
	})
}

func TestActorsCannotBeConnectedToOnesThatHaveEnded(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		stage, sum := spawned(t, ctx, rt, SpawnTwice, ring.Options{}), spawned(t, ctx, rt, SpawnSum, ring.Options{})
		if err := ring.Connect(stage, sum); err != nil {
			t.Fatal(err)
		}
		device, host := spawned(t, ctx, rt, SpawnSum, ring.Options{}), sinkOnHost(t, ctx, rt)
		for _, ended := range []*ring.Actor[int64, int64]{device, host} {
			if _, err := ended.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
			err := ring.Connect(stage, sum, ended)
			state, ok := errors.AsType[*ring.StateError](err)
			if !ok || state.Actor != ended.Name() || state.State != ring.Terminated || state.Op != "connect" {
				t.Errorf("connected to %s, which has ended: %v", ended.Name(), err)
			}
		}
		if got, err := stage.Ask(ctx, 1); err != nil || got != 2 {
			t.Fatal(got, err)
		}
		total(t, ctx, sum, 2) // it is still connected
	})
}

func TestActorsInThePlaceOfConnectedOnesAreNotConnected(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		end := spawned(t, ctx, rt, SpawnSum, ring.Options{})
		const n = 4
		for i := range int64(2 * n) {
			stage := spawned(t, ctx, rt, SpawnTwice, ring.Options{})
			if i%2 == 0 {
				if err := ring.Connect(stage, end); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := stage.Ask(ctx, 1); err != nil || got != 2 {
				t.Fatal(got, err)
			}
			if _, err := stage.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
		}
		total(t, ctx, end, 2*n)
	})
}

func TestASenderLearnsThatTheReceiverHasEnded(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		sender, sum := spawned(t, ctx, rt, SpawnScatter, ring.Options{}), spawned(t, ctx, rt, SpawnSum, ring.Options{})
		burst := Burst{To: sum.Ref(), First: 1, Count: 70}
		if n, err := sender.Ask(ctx, burst); err != nil || n != 70 {
			t.Fatalf("%d sent, %v", n, err)
		}
		total(t, ctx, sum, 70*71/2)
		if _, err := sum.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if n, err := sender.Ask(ctx, burst); err != nil || n != -1 {
			t.Fatalf("%d sent to an actor that has ended, %v", n, err)
		}
	})
}
