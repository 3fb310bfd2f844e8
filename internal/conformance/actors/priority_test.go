package actors

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quern.dev/ring"
)

// The handler counts its messages, so replies tell in which order they were handled.
func TestHigherPrioritiesComeFirst(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		const each = 40 // more than a ring of another level than the default's takes
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
		// The sum so far is that of the values in the order of handling.
		sums := map[int32]int64{}
		for range each * len(priorities) {
			r, err := a.Receive(ctx)
			if err != nil {
				t.Fatal(err)
			}
			sums[r.Count] = r.Sum
		}
		order := slices.Clone(priorities)
		slices.Sort(order)
		slices.Reverse(order)
		sum, count := int64(0), int32(0)
		for _, p := range order {
			for k := range each {
				sum += int64(each*slices.Index(priorities, p) + k)
				if count++; sums[count] != sum {
					t.Fatalf("priority %d, message %d was not handled as number %d: a sum of %d, want %d", p, k, count, sums[count], sum)
				}
			}
		}
		if r, err := a.Ask(ctx, Sample{}); err != nil || r.Count != count+1 {
			t.Errorf("after that: %+v, %v", r, err)
		}
	})
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
		for _, o := range []ring.Options{{Capacity: -1}, {Capacity: 1_000_001}, {Batch: 65}, {Nap: 1 << 40}, {Full: 9}, {State: 7}, {Name: "accumulate-1"}} {
			if _, err := SpawnAccumulate(ctx, rt, o); !errors.Is(err, ring.ErrInvalid) {
				t.Errorf("%+v: %v, want ErrInvalid", o, err)
			}
		}
	})
}
