package ring_test

import (
	"context"
	"testing"
	"time"

	"quern.dev/internal/conformance/routing"
	"quern.dev/ring"
)

// longTimes are times for which an actor rests. The word of a deadline in a ring repeats
// after 73 minutes.
var longTimes = []time.Duration{time.Minute, 30 * time.Minute, 40 * time.Minute, 70 * time.Minute, 100 * time.Minute, 30 * time.Hour}

func TestMessagesExpireWhileTheirActorRests(t *testing.T) {
	eachExecutor(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for _, rest := range longTimes {
			a := spawnTally(t, rt, 0)
			if _, err := a.Ask(ctx, routing.Item{Ask: 1}); err != nil {
				t.Fatal(err)
			}
			if err := rt.Quiesce("let messages wait in the rings"); err != nil {
				t.Fatal(err)
			}
			for _, ttl := range []time.Duration{time.Second, rest - time.Second, rest + 10*time.Minute, rest + 10*time.Hour} {
				if err := a.Tell(ctx, routing.Item{}, ring.TTL(ttl)); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.Deactivate(); err != nil {
				t.Fatal(err)
			}
			sent := time.Now()
			ring.Pass(rt, rest)
			if err := rt.Resume(); err != nil {
				t.Fatal(err)
			}
			if err := a.Activate(); err != nil {
				t.Fatal(err)
			}
			if r, err := a.Ask(ctx, routing.Item{Ask: 1}); err != nil || r.Count != 2 {
				t.Errorf("after %v: %d messages are handled, %v, want 2", rest, r.Count, err)
			}
			if i := a.Info(); i.Expired != 2 {
				t.Errorf("after %v: %d messages have expired, want 2", rest, i.Expired)
			}
			for l := range rt.DeadLetters().All() {
				late := sent.Sub(l.Time)
				if within := late - rest + time.Second; l.Reason != ring.ReasonExpired || within.Abs() > 2*time.Second && (late-time.Second).Abs() > 2*time.Second {
					t.Errorf("after %v: %+v", rest, l)
				}
			}
			if _, err := a.Terminate(ctx); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestMailExpiresWhileItsActorRests(t *testing.T) {
	eachExecutor(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := routing.SpawnTally(ctx, rt, ring.Options{Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := ring.Mail(a, routing.Item{}, time.Second); err != nil {
			t.Fatal(err)
		}
		for range 4 { // 40 minutes
			if err := rt.Quiesce("let time pass"); err != nil {
				t.Fatal(err)
			}
			ring.Pass(rt, 10*time.Minute)
			if err := rt.Resume(); err != nil {
				t.Fatal(err)
			}
			if err := ring.RenewMail(rt); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		for a.Info().Queued > 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if r, err := a.Ask(ctx, routing.Item{Ask: 1}); err != nil || r.Count != 0 {
			t.Errorf("%d messages are handled, %v, want none", r.Count, err)
		}
		if i := a.Info(); i.Accepted != 2 || i.Expired != 1 {
			t.Errorf("%d messages were accepted, and %d have expired, want 2 and 1", i.Accepted, i.Expired)
		}
	})
}
