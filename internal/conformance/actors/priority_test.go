package actors

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// Each reply has the sum of the values so far, which tells in which order they were
// handled.
func TestHigherPrioritiesComeFirst(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		t.Run("what the rings take", func(t *testing.T) { inOrderOfPriority(t, ctx, rt, 5, true) })
		// A GPU may have handled what it has of a level before the host brings the rest.
		t.Run("more than that", func(t *testing.T) {
			inOrderOfPriority(t, ctx, rt, 40, rt.Device().Backend() != gpu.CUDA)
		})
	})
}

// inOrderOfPriority has an actor handle so many messages of each of some priorities,
// those of each in their order, and if exact those of higher ones first.
func inOrderOfPriority(t *testing.T, ctx context.Context, rt *ring.Runtime, each int, exact bool) {
	a, err := SpawnAccumulate(ctx, rt, ring.Options{Inactive: true})
	if err != nil {
		t.Fatal(err)
	}
	priorities := []int{0, 255, 128, 64, 200, 100, 32, 170, 31, 129, 130, 254}
	for k := range each {
		for i, p := range priorities {
			if err := a.Send(ctx, Sample{Value: int16(each*i + k)}, ring.Priority(p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if i := a.Info(); i.Queued != uint64(each*len(priorities)) || i.Accepted != i.Queued {
		t.Errorf("%+v, want all messages queued", i)
	}
	if err := a.Activate(); err != nil {
		t.Fatal(err)
	}
	sums := make([]int64, each*len(priorities)+1)
	for range each * len(priorities) {
		r, err := a.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		sums[r.Count] = r.Sum
	}
	next, before := make([]int, len(priorities)), 256
	for n := range each * len(priorities) {
		value := int(sums[n+1] - sums[n])
		if value < 0 || value >= each*len(priorities) {
			t.Fatalf("message %d that was handled has value %d", n, value)
		}
		i, k := value/each, value%each
		if k != next[i] {
			t.Fatalf("number %d was message %d of priority %d, want message %d", n, k, priorities[i], next[i])
		}
		next[i]++
		if exact && priorities[i] > before {
			t.Fatalf("number %d, message %d of priority %d, came after one of %d", n, k, priorities[i], before)
		}
		before = priorities[i]
	}
	if r, err := a.Ask(ctx, Sample{}); err != nil || int(r.Count) != each*len(priorities)+1 {
		t.Errorf("after that: %+v, %v", r, err)
	}
}

func TestMessageOptionsThatAreWrong(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name   string
			option ring.MessageOption
			want   error
		}{
			{"a priority below 0", ring.Priority(-1), ring.ErrInvalid},
			{"a priority above 255", ring.Priority(256), ring.ErrInvalid},
			{"a TTL of 0", ring.TTL(0), ring.ErrInvalid},
			{"a negative TTL", ring.TTL(-time.Second), ring.ErrInvalid},
			{"a deadline in the past", ring.Deadline(time.Now().Add(-time.Second)), ring.ErrExpired},
			{"no deadline", ring.Deadline(time.Time{}), ring.ErrExpired},
			{"no sender", ring.From(nil), ring.ErrInvalid},
			{"an option of nobody", ring.MessageOption{}, ring.ErrInvalid},
		} {
			if _, err := a.Ask(ctx, Sample{}, tt.option); !errors.Is(err, tt.want) {
				t.Errorf("%s: Ask: %v, want %v", tt.name, err, tt.want)
			}
			if err := a.Send(ctx, Sample{}, tt.option); !errors.Is(err, tt.want) {
				t.Errorf("%s: Send: %v, want %v", tt.name, err, tt.want)
			}
			if n, err := a.SendBatch(ctx, make([]Sample, 3), tt.option); n != 0 || !errors.Is(err, tt.want) {
				t.Errorf("%s: SendBatch: %d, %v, want %v", tt.name, n, err, tt.want)
			}
		}
		if i := a.Info(); i.Accepted != 0 {
			t.Errorf("%+v, want no message", i)
		}
		for _, o := range []ring.Options{{Capacity: -1}, {Capacity: 1_000_001}, {Batch: 65}, {MaxPause: 1 << 40}, {Full: 9}, {State: 7}, {Name: "accumulate-1"}} {
			if _, err := SpawnAccumulate(ctx, rt, o); !errors.Is(err, ring.ErrInvalid) {
				t.Errorf("%+v: %v, want ErrInvalid", o, err)
			}
		}
	})
}

// A message that the handler wants again stays before the later ones of its level. Others
// may be handled first.
func TestMessagesThatAreWantedAgainKeepTheirPlace(t *testing.T) {
	eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := spawned(t, ctx, rt, SpawnPersist, ring.Options{Inactive: true})
		for _, m := range []struct {
			try      Try
			priority int
		}{{Try{1, 5}, 128}, {Try{2, 0}, 128}, {Try{3, 0}, 128}, {Try{10, 0}, 0}, {Try{11, 0}, 0}} {
			if err := a.Tell(ctx, m.try, ring.Priority(m.priority)); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, func() bool { return a.Info().Queued == 0 })
		got, err := a.Ask(ctx, Try{Number: 12})
		if err != nil || got.Again != 5 || got.Count != 6 {
			t.Fatalf("%+v, %v", got, err)
		}
		var high, low []int32
		for _, n := range got.Order[:5] {
			if n < 10 {
				high = append(high, n)
			} else {
				low = append(low, n)
			}
		}
		if !slices.Equal(high, []int32{1, 2, 3}) || !slices.Equal(low, []int32{10, 11}) {
			t.Errorf("handled in the order %v", got.Order)
		}
	})
}
