package actors

import (
	"testing"
	"time"

	"quern.dev/ring"
)

// TestMeasureBall measures turns of balls between actors on the device.
func TestMeasureBall(t *testing.T) {
	for _, pairs := range []int{1, 32} {
		rt := measured(t)
		ctx := within(t, 10*time.Second)
		end := spawned(t, ctx, rt, SpawnCount, ring.Options{})
		const turns = 200_000
		var first []*ring.Actor[Ball, Ball]
		var second []*ring.Actor[Ball, Ball]
		for range pairs {
			first = append(first, spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}}))
			second = append(second, spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}}))
		}
		begin := time.Now()
		for i, a := range first {
			if err := a.Tell(ctx, Ball{Back: second[i].Ref(), Left: turns}); err != nil {
				t.Fatal(err)
			}
		}
		for {
			got, err := end.Ask(ctx, Ball{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Count == uint32(pairs) {
				break
			}
		}
		took := time.Since(begin)
		t.Logf("%d pairs: %.0f ns there and back on average, %.2f M messages/s", pairs, 2*float64(took.Nanoseconds())/turns, float64(pairs)*turns/took.Seconds()/1e6)
	}
}
