package routing

import (
	"context"
	"testing"

	"quern.dev/ring"
)

type stage = ring.Actor[Item, Item]

func TestAPipelineLosesNothingAndKeepsTheOrder(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		first := must[*stage](t)(SpawnPlusOne(ctx, rt, ring.Options{Name: "first"}))
		second := must[*stage](t)(SpawnTimesTwo(ctx, rt, ring.Options{Name: "second"}))
		third := must[*stage](t)(SpawnPlusOne(ctx, rt, ring.Options{Name: "third"}))
		end := tallies(t, ctx, rt, 1)
		for _, err := range []error{ring.Connect(first, second), ring.Connect(second, third), ring.Connect(third, end[0])} {
			if err != nil {
				t.Fatal(err)
			}
		}
		const n = 2000
		sum := int64(0)
		for i := range int64(n) {
			if err := first.Tell(ctx, Item{Key: 1, Value: i}); err != nil {
				t.Fatal(err)
			}
			sum += (i+1)*2 + 1
		}
		if got := counted(t, ctx, end, n)[0]; got.Values != sum || got.Stages != 3*n || got.Turned != 0 {
			t.Errorf("%+v, want values %d", got, sum)
		}
	})
}

func TestRepliesFanOut(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		first := must[*stage](t)(SpawnPlusOne(ctx, rt, ring.Options{}))
		ends := tallies(t, ctx, rt, 3)
		if err := ring.Connect(first, ends...); err != nil {
			t.Fatal(err)
		}
		const n = 700
		for i := range int64(n) {
			if err := first.Tell(ctx, Item{Value: i}); err != nil {
				t.Fatal(err)
			}
		}
		if r := must[Item](t)(first.Ask(ctx, Item{Value: n})); r.Value != n+1 {
			t.Errorf("whoever asks gets %+v", r)
		}
		for i, got := range counted(t, ctx, ends, 3*(n+1)) {
			if got.Count != n+1 || got.Values != (n+1)*(n+2)/2 || got.Turned != 0 {
				t.Errorf("actor %d: %+v", i, got)
			}
		}
		if err := ring.Connect[Item, Item, Tally](first); err != nil {
			t.Fatal(err)
		}
		if err := first.Tell(ctx, Item{}); err != nil {
			t.Fatal(err)
		}
		must[Item](t)(first.Ask(ctx, Item{}))
		counted(t, ctx, ends, 3*(n+1))
	})
}
