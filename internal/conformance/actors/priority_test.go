package actors

import (
	"context"
	"errors"
	"testing"

	"quern.dev/ring"
)

func TestHigherPrioritiesComeFirst(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Levels: 8, Capacity: 64, Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		// The replies tell in which order the messages were handled.
		priorities := []int{0, 255, 128, 64, 200, 100, 32, 170, 31, 129}
		handles := map[int]*ring.Actor[Sample, Reply]{}
		for i, p := range priorities {
			h, err := a.Priority(p)
			if err != nil {
				t.Fatal(err)
			}
			handles[p] = h
			for k := range 3 {
				if err := h.Send(ctx, Sample{Value: int16(10*i + k)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		order := map[int][3]int32{}
		for _, p := range []int{255, 200, 170, 128, 129, 100, 64, 32, 0, 31} {
			var at [3]int32
			for k := range at {
				r, err := handles[p].Receive(ctx)
				if err != nil {
					t.Fatal(err)
				}
				at[k] = r.Count
			}
			order[p] = at
		}
		next := int32(1)
		for _, p := range []int{255, 200, 170, 128, 129, 100, 64, 32, 0, 31} {
			if want := [3]int32{next, next + 1, next + 2}; order[p] != want {
				t.Errorf("priority %d was handled as %v, want %v", p, order[p], want)
			}
			next += 3
		}
		if r, err := a.Ask(ctx, Sample{}); err != nil || r.Count != 31 {
			t.Errorf("after that: %+v, %v", r, err)
		}
	})
}

func TestPrioritiesThatDoNotExist(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []int{-1, 256, 200} {
			if _, err := a.Priority(p); !errors.Is(err, ring.ErrInvalid) {
				t.Errorf("priority %d of an actor with one level: %v, want ErrInvalid", p, err)
			}
		}
		for _, o := range []ring.Options{{Capacity: -1}, {Capacity: 1_000_001}, {Batch: 65}, {Levels: 9}, {Nap: 1 << 40}, {Full: 9}, {State: 7}, {Name: "accumulate-1"}} {
			if _, err := SpawnAccumulate(ctx, rt, o); !errors.Is(err, ring.ErrInvalid) {
				t.Errorf("%+v: %v, want ErrInvalid", o, err)
			}
		}
	})
}
