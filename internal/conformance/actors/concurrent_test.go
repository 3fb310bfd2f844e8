package actors

import (
	"context"
	"sync"
	"testing"

	"quern.dev/ring"
)

func TestEveryCallerGetsTheReplyToItsMessage(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		var list []*ring.Actor[Message, Message]
		for range 6 {
			a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 4})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, a)
		}
		var callers sync.WaitGroup
		for caller := range uint32(12) {
			callers.Go(func() {
				for i := range uint32(40) {
					v := caller<<16 | i
					r, err := list[(caller+i)%6].Ask(ctx, Message{[16]uint32{v, 15: ^v}})
					if err != nil || r.Words[0] != v+1 || r.Words[15] != ^v+1 {
						t.Errorf("caller %d, message %d: %x, %v", caller, i, r.Words, err)
						return
					}
				}
			})
		}
		callers.Wait()
		total := uint64(0)
		for i := range rt.Actors() {
			if i.Queued != 0 || i.Handler.Count != i.Accepted {
				t.Errorf("%+v, want all messages handled", i)
			}
			total += i.Accepted
		}
		if total != 12*40 {
			t.Errorf("%d messages, want %d", total, 12*40)
		}
	})
}

func TestRepliesComeInTheOrderOfTheMessages(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 16, Batch: 5})
		if err != nil {
			t.Fatal(err)
		}
		const n = 200
		var sender sync.WaitGroup
		sender.Go(func() {
			for i := uint32(0); i < n; i += 4 {
				batch := []Message{{[16]uint32{i}}, {[16]uint32{i + 1}}, {[16]uint32{i + 2}}, {[16]uint32{i + 3}}}
				if sent, err := a.SendBatch(ctx, batch); err != nil || sent != len(batch) {
					t.Errorf("sent %d of a batch: %v", sent, err)
					return
				}
			}
		})
		next := uint32(1)
		for r, err := range a.Replies(ctx) {
			if err != nil || r.Words[0] != next {
				t.Errorf("reply %d: %v, %v", next, r.Words[0], err)
				break
			}
			if next++; next > n {
				break
			}
		}
		sender.Wait()
	})
}
