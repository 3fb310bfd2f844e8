package actors

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// BenchmarkAsk measures one message after the other, as percentiles of the time
// from the message to its reply.
func BenchmarkAsk(bm *testing.B) {
	for _, b := range backends {
		for _, cancellable := range []bool{false, true} {
			bm.Run(fmt.Sprintf("%s/cancellable=%v", b, cancellable), func(t *testing.B) {
				rt := open(t, b)
				ctx := context.Background()
				if cancellable {
					c, cancel := context.WithCancel(ctx)
					defer cancel()
					ctx = c
				}
				a, err := SpawnEcho(ctx, rt, ring.Options{})
				if err != nil {
					t.Fatal(err)
				}
				took := make([]time.Duration, 0, 1<<20)
				t.ReportAllocs()
				for t.Loop() {
					begin := time.Now()
					if _, err := a.Ask(ctx, Message{}); err != nil {
						t.Fatal(err)
					}
					if len(took) < cap(took) {
						took = append(took, time.Since(begin))
					}
				}
				slices.Sort(took)
				t.ReportMetric(float64(took[len(took)/2]), "p50-ns")
				t.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
			})
		}
	}
}

// BenchmarkThroughput measures batches of messages to actors and back.
func BenchmarkThroughput(bm *testing.B) {
	for _, b := range []gpu.Backend{gpu.CPU, gpu.CUDA} {
		for _, actors := range []int{1, 64, 1000} {
			bm.Run(fmt.Sprintf("%s/actors=%d", b, actors), func(t *testing.B) {
				rt := open(t, b)
				var list []*ring.Actor[Message, Message]
				for range actors {
					a, err := SpawnEcho(t.Context(), rt, ring.Options{Capacity: 1024})
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, a)
				}
				n := 0
				t.ReportAllocs()
				for t.Loop() {
					n += volley(t, list, 1<<16)
				}
				t.ReportMetric(float64(n)/t.Elapsed().Seconds()/1e6, "M-msg/s")
			})
		}
	}
}

// volley sends about total messages, some to each actor at a time, and receives
// the replies. It returns how many there were.
func volley(t *testing.B, list []*ring.Actor[Message, Message], total int) int {
	const batch = 256
	feeders := min(2, len(list))
	rounds := max(1, total/batch/len(list))
	var wg sync.WaitGroup
	for f := range feeders {
		wg.Go(func() {
			msgs, replies := make([]Message, batch), make([]Message, batch)
			for range rounds {
				for i := f; i < len(list); i += feeders {
					if _, err := list[i].SendBatch(t.Context(), msgs); err != nil {
						t.Error(err)
						return
					}
				}
				for i := f; i < len(list); i += feeders {
					for left := batch; left > 0; {
						n, err := list[i].ReceiveBatch(t.Context(), replies[:left])
						if err != nil {
							t.Error(err)
							return
						}
						left -= n
					}
				}
			}
		})
	}
	wg.Wait()
	return rounds * batch * len(list)
}

// BenchmarkPairs measures messages between actors that the program has no part in:
// pairs play ball, and each turn is one message. The rate must grow with the number of
// processors as long as there are pairs for them.
func BenchmarkPairs(bm *testing.B) {
	for _, b := range backends {
		for _, pairs := range []int{1, 2, 8, 32} {
			bm.Run(fmt.Sprintf("%s/pairs=%d", b, pairs), func(t *testing.B) {
				rt := open(t, b)
				ctx := t.Context()
				end, err := SpawnCount(ctx, rt, ring.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var first, second []*ring.Actor[Ball, Ball]
				for range pairs {
					x, err := SpawnBounce(ctx, rt, ring.Options{State: Match{Result: end.Ref()}})
					if err != nil {
						t.Fatal(err)
					}
					y, err := SpawnBounce(ctx, rt, ring.Options{State: Match{Result: end.Ref()}})
					if err != nil {
						t.Fatal(err)
					}
					first, second = append(first, x), append(second, y)
				}
				turns := t.N/pairs + 1
				t.ResetTimer()
				for i, a := range first {
					if err := a.Tell(ctx, Ball{Back: second[i].Ref(), Left: uint32(turns)}); err != nil {
						t.Fatal(err)
					}
				}
				for got := (Ball{}); got.Count < uint32(pairs); {
					time.Sleep(100 * time.Microsecond) // not to take part
					if got, err = end.Ask(ctx, Ball{}); err != nil {
						t.Fatal(err)
					}
				}
				t.ReportMetric(float64(pairs*turns)/t.Elapsed().Seconds()/1e6, "M-msg/s")
			})
		}
	}
}
