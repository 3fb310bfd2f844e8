package routing

import (
	"context"
	"fmt"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// everyDevice runs a test with a runtime on each back end that has a device.
func everyDevice(t *testing.T, config ring.Config, test func(t *testing.T, ctx context.Context, rt *ring.Runtime)) {
	for _, b := range []gpu.Backend{gpu.CPU, gpu.Sim, gpu.CUDA} {
		t.Run(string(b), func(t *testing.T) {
			dev, err := gpu.Open(gpu.Config{Require: b})
			if err != nil {
				t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
			}
			defer closed(t, dev)
			rt, err := ring.New(dev, config)
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, rt)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			test(t, ctx, rt)
		})
	}
}

func closed(t *testing.T, c interface{ Close() error }) {
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

type counter = ring.Actor[Item, Tally]

// tallies makes n actors that count.
func tallies(t *testing.T, ctx context.Context, rt *ring.Runtime, n int) []*counter {
	list := make([]*counter, n)
	for i := range list {
		list[i] = must[*counter](t)(SpawnTally(ctx, rt, ring.Options{Name: fmt.Sprintf("tally %d", i)}))
	}
	return list
}

// counted asks actors what they have until all together they have so many items.
func counted(t *testing.T, ctx context.Context, actors []*counter, items int) []Tally {
	t.Helper()
	for {
		asks := make([]Item, len(actors))
		for i := range asks {
			asks[i].Ask = 1
		}
		got := must[[]Tally](t)(ring.Gather(ctx, actors, asks))
		n := 0
		for _, g := range got {
			n += int(g.Count)
		}
		if n == items {
			return got
		}
		if n > items {
			t.Fatalf("%d items have arrived of %d", n, items)
		}
	}
}
