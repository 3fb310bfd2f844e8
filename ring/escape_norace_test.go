//go:build !race

package ring_test

import (
	"context"
	"testing"

	"quern.dev/kernel"
	"quern.dev/ring"
)

func TestPlainMessagesStayOnTheStack(t *testing.T) {
	rt := open(t, ring.Config{})
	type point struct{ X, Y, Z int64 }
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in, out *point) kernel.Action {
		*out = point{in.X + 1, in.Y + 2, in.Z + 3}
		return kernel.Reply
	})
	ctx := context.Background()
	round := func() {
		n := int64(len(rt.Device().Name())) // not a constant
		if err := a.Tell(ctx, point{n, n, n}); err != nil {
			t.Fatal(err)
		}
		batch := [4]point{{X: n}, {X: n}, {X: n}, {X: n}}
		if _, err := a.SendBatch(ctx, batch[:]); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < len(batch); {
			k, err := a.ReceiveBatch(ctx, batch[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += k
		}
		if p, err := a.Ask(ctx, point{X: n}); err != nil || p != (point{n + 1, 2, 3}) {
			t.Fatal(p, err)
		}
	}
	for range 100 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n >= 1 {
		t.Errorf("%v allocations per round", n)
	}
}
