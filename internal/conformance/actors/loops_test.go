package actors

import (
	"context"
	"testing"

	"quern.dev/ring"
)

// TestActorsSendToThemselvesAndEachOther gives actors many balls, some of which they send to
// themselves and some to each other.
func TestActorsSendToThemselvesAndEachOther(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spawn func(context.Context, *ring.Runtime, ring.Options) (*ring.Actor[Ball, Ball], error)
	}{
		{"of one warp", SpawnBounce},
		{"of two warps", SpawnBounceTogether},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				const balls, turns = 12, 20
				end := spawned(t, ctx, rt, SpawnCount, ring.Options{})
				a := spawned(t, ctx, rt, tt.spawn, ring.Options{State: Match{Result: end.Ref()}})
				b := spawned(t, ctx, rt, tt.spawn, ring.Options{State: Match{Result: end.Ref()}})
				for range balls {
					for _, to := range []*ring.Actor[Ball, Ball]{a, b} {
						if err := a.Tell(ctx, Ball{Back: to.Ref(), Left: turns}); err != nil {
							t.Fatal(err)
						}
					}
				}
				until(t, ctx, func() bool {
					for _, i := range []ring.Info{a.Info(), b.Info()} {
						if i.Err != nil {
							t.Fatal(i.Err)
						}
					}
					got, err := end.Ask(ctx, Ball{})
					if err != nil {
						t.Fatal(err)
					}
					return got.Count == 2*balls
				})
			})
		})
	}
}
