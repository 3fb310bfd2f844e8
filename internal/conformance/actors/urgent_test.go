package actors

import (
	"context"
	"slices"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
)

var priorities = [4]uint8{10, 255, 128, 0}

// TestSendWithToHostActors: a host actor takes what an actor on the device sends in the
// order of the priorities, and not what has expired.
func TestSendWithToHostActors(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		sender, err := SpawnUrge(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		var dated int
		seen := func(_ context.Context, c *ring.HostContext, in, out *int64) kernel.Action {
			if c.Priority() != int(priorities[*in]) {
				t.Errorf("message %d has priority %d, want %d", *in, c.Priority(), priorities[*in])
			}
			if at, ok := c.Deadline(); ok && time.Until(at) > 0 && time.Until(at) < 2*time.Minute {
				dated++
			}
			got = append(got, *in)
			*out = *in
			return kernel.Reply
		}
		receiver, err := ring.SpawnHost(ctx, rt, seen, ring.Options{Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		send := func(within time.Duration) {
			t.Helper()
			n, err := sender.Ask(ctx, Urgent{receiver.Ref(), int64(within), priorities})
			if n != 4 || err != nil {
				t.Fatalf("sent %d, %v", n, err)
			}
		}
		send(time.Minute)
		until(t, ctx, func() bool { return receiver.Info().Queued == 4 })
		send(-time.Second)
		until(t, ctx, func() bool { return receiver.Info().Expired == 4 })
		if err := receiver.Activate(); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, func() bool { return receiver.Info().Handled == 4 })
		if _, err := receiver.Ask(ctx, 1, ring.Priority(255)); err != nil { // after it, what the handler wrote can be read
			t.Fatal(err)
		}
		if want := []int64{1, 2, 0, 3, 1}; !slices.Equal(got, want) || dated != 4 {
			t.Errorf("handled %v, %d of them with a deadline ahead; want %v and 4", got, dated, want)
		}
	})
}

// TestSendWithToDeviceActors: a handler does not get what has expired.
func TestSendWithToDeviceActors(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		sender, err := SpawnUrge(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		receiver, err := SpawnUrged(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, within := range []time.Duration{time.Minute, -time.Minute, -time.Millisecond, time.Hour, -24 * time.Hour, 240 * time.Hour} {
			n, err := sender.Ask(ctx, Urgent{receiver.Ref(), int64(within), priorities})
			if n != 4 || err != nil {
				t.Fatalf("sent %d, %v", n, err)
			}
		}
		var i ring.Info
		until(t, ctx, func() bool { i = receiver.Info(); return i.Handled+i.Expired == 24 })
		if i.Handled != 12 || i.Expired != 12 || i.Queued != 0 {
			t.Errorf("handled %d, expired %d, %d left, want 12, 12, 0", i.Handled, i.Expired, i.Queued)
		}
		got, err := receiver.Ask(ctx, 0, ring.Priority(0))
		if want := [2]int64{3 * 6, 3 * (10 + 255 + 128)}; err != nil || got != want {
			t.Errorf("sums %v, %v, want %v", got, err, want)
		}
		f, err := receiver.Terminate(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if i := receiver.Info(); i.Expired != 12 || f.DeadLettered != 0 {
			t.Errorf("after the end: %d expired, %d dead letters", i.Expired, f.DeadLettered)
		}
		if i, n := receiver.Info(), rt.DeadLetters().Total(); i.DeadLetters != 0 || n != 0 {
			t.Errorf("%d dead letters of the actor, and %d of the runtime: expired messages of other actors on the device are only counted", i.DeadLetters, n)
		}
	})
}

// until waits until a condition holds.
func until(t *testing.T, ctx context.Context, holds func() bool) {
	t.Helper()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
		time.Sleep(time.Millisecond)
	}
}
