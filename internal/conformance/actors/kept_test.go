package actors

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"quern.dev/ring"
)

// boxed is how many numbers an actor's mailbox for messages of others holds.
const boxed = 256

// keeping makes an actor that is deactivated, and has kept a reply for one of those
// that it is connected with, whose mailbox is full and which is inactive. The replies
// are twice the numbers from 0 to boxed.
func keeping(t *testing.T, ctx context.Context, rt *ring.Runtime) (a, b *ring.Actor[int64, int64]) {
	t.Helper()
	a, b = spawned(t, ctx, rt, SpawnTwice, ring.Options{Name: "a"}), spawned(t, ctx, rt, SpawnSum, ring.Options{Name: "b", Inactive: true})
	ahead := spawned(t, ctx, rt, SpawnSum, ring.Options{Name: "ahead"}) // which gets all of them
	if err := ring.Connect(a, ahead, b); err != nil {
		t.Fatal(err)
	}
	for i := range int64(boxed + 1) {
		if err := a.Send(ctx, i, ring.Correlation(uint64(1000+i))); err != nil {
			t.Fatal(err)
		}
		if r, err := a.Receive(ctx); err != nil || r != 2*i {
			t.Fatalf("reply %d: %d, %v", i, r, err)
		}
	}
	total(t, ctx, ahead, all)
	if err := a.Deactivate(); err != nil {
		t.Fatal(err)
	}
	return a, b
}

const (
	last = 2 * boxed           // the reply that is kept
	all  = boxed * (boxed + 1) // the sum of the replies
)

func TestRepliesThatAreKeptArrive(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(ctx context.Context, rt *ring.Runtime, a, c *ring.Actor[int64, int64]) error
		also int64 // the sum of what the third actor gets

		double bool // which takes its time
	}{
		{"when their actor ends", func(ctx context.Context, _ *ring.Runtime, a, _ *ring.Actor[int64, int64]) error {
			_, err := a.Terminate(ctx)
			return err
		}, 0, true},
		{"when their actor is connected to another one", func(ctx context.Context, _ *ring.Runtime, a, c *ring.Actor[int64, int64]) error {
			if err := errors.Join(ring.Connect(a, c), a.Activate()); err != nil {
				return err
			}
			_, err := a.Ask(ctx, 50)
			return err
		}, 100, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := each
			if tt.double && !testing.Short() {
				run = eachAndTheDouble
			}
			run(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				a, b := keeping(t, ctx, rt)
				c := spawned(t, ctx, rt, SpawnSum, ring.Options{Name: "c"})
				if err := errors.Join(tt.do(ctx, rt, a, c), b.Activate()); err != nil {
					t.Fatal(err)
				}
				total(t, ctx, b, all)
				total(t, ctx, c, tt.also)
				ahead, err := ring.Find[int64, int64](rt, "ahead")
				if err != nil {
					t.Fatal(err)
				}
				total(t, ctx, ahead, all)
				if err := rt.Close(); err != nil {
					t.Error(err)
				}
				if n := rt.DeadLetters().Total(); n != 0 {
					t.Errorf("%d dead letters, want none", n)
				}
				addsUp(t, rt)
			})
		})
	}
}

func TestRepliesThatAreKeptForActorsThatTakeNone(t *testing.T) {
	end := func(ctx context.Context, a *ring.Actor[int64, int64]) error {
		_, err := a.Terminate(ctx)
		return err
	}
	for _, tt := range []struct {
		name string
		do   func(ctx context.Context, rt *ring.Runtime, a, b *ring.Actor[int64, int64]) error
	}{
		{"since they have terminated", func(ctx context.Context, _ *ring.Runtime, a, b *ring.Actor[int64, int64]) error {
			return errors.Join(end(ctx, b), end(ctx, a))
		}},
		{"since they are closed, too", func(context.Context, *ring.Runtime, *ring.Actor[int64, int64], *ring.Actor[int64, int64]) error {
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				a, b := keeping(t, ctx, rt)
				if err := errors.Join(tt.do(ctx, rt, a, b), rt.Close()); err != nil {
					t.Fatal(err)
				}
				counts, sum := map[ring.Reason]int{}, int64(0)
				for l := range rt.DeadLetters().All() {
					n := l.Body.(int64)
					if l.Actor != "b" || l.Sender != "a" || l.Correlation != uint64(1000+n/2) || (l.Reason == ring.ReasonRefused) != (n == last) {
						t.Errorf("%+v", l)
					}
					counts[l.Reason]++
					sum += n
				}
				if counts[ring.ReasonRefused] != 1 || counts[ring.ReasonTerminated] != boxed || sum != all {
					t.Errorf("dead letters %v with a sum of %d; want what was in the mailbox and the reply that was kept, with a sum of %d", counts, sum, all)
				}
				addsUp(t, rt)
			})
		})
	}
}

// The receiver handles a reply that the host delivers without a message of the program.
func TestAReplyThatTheHostDeliversWakesItsReceiver(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, b := keeping(t, ctx, rt)
		handled := func(want uint64) {
			t.Helper()
			for b.Info().Handled < want {
				if ctx.Err() != nil {
					t.Fatalf("%+v, want %d messages handled", b.Info(), want)
				}
				time.Sleep(time.Millisecond)
			}
		}
		if err := b.Activate(); err != nil {
			t.Fatal(err)
		}
		handled(boxed)
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		handled(boxed + 1)
	})
}

// Actors that have ended keep their replies, and not the rings for as many messages as
// they could have had.
func TestUnreadRepliesKeepNoRings(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const rounds, rings = 100, 300 << 10 // bytes of an actor's rings, at least
		var ended []*ring.Actor[Message, Message]
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := uint64(0)
		for i := range uint32(rounds) {
			a := spawned(t, ctx, rt, SpawnEcho, ring.Options{})
			if err := a.Send(ctx, Message{[16]uint32{i}}); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
			ended = append(ended, a)
			if i == 9 {
				before = heap()
			}
		}
		if grown := int64(heap() - before); grown > (rounds-10)*rings/4 {
			t.Errorf("%d actors that have ended keep %d bytes each", rounds-10, grown/(rounds-10))
		}
		check := func(list []*ring.Actor[Message, Message], from int) {
			for i, a := range list {
				if r, err := a.Receive(ctx); err != nil || r.Words[0] != uint32(from+i+1) {
					t.Fatalf("reply %d: %v, %v", from+i, r.Words[0], err)
				}
			}
		}
		check(ended[:rounds/2], 0)
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
		check(ended[rounds/2:], rounds/2)
		var state *ring.StateError
		if _, err := ended[0].Receive(ctx); !errors.As(err, &state) {
			t.Errorf("after the last reply: %v", err)
		}
	})
}
