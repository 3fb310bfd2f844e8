package ring

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Info is what is known of an actor at a time.
type Info struct {
	Name     string
	State    State
	Err      error  // why it has failed
	Accepted uint64 // messages that its mailbox has taken
	Queued   int    // of these, not handled yet
	Failures uint64 // of its handler
	Restarts uint64

	// Handler is how long the handler took, by the device's clock, for the
	// messages whose replies were taken. The simulator's clock counts instructions.
	Handler Durations
}

// Durations are percentiles, each too large by a quarter at most.
type Durations struct {
	Count              uint64
	P50, P95, P99, Max time.Duration
}

func (c *core) info() Info {
	i := Info{Name: c.name, State: c.current(), Err: c.cause(), Queued: c.queued(),
		Failures: c.failures.Load(), Restarts: c.restarts.Load(), Handler: c.handler.durations(c.rt.perCycle)}
	for _, m := range c.mailboxes {
		i.Accepted += m.tail.Load()
	}
	return i
}

// histogram counts numbers of 32 bits by their size: four buckets from each power
// of two to the next. It is safe for concurrent use.
type histogram [4 * 33]atomic.Uint64

// bucket is the bucket of v: its length in bits, and the two bits after the first.
func bucket(v uint32) int {
	n := bits.Len32(v)
	if n < 3 {
		return 4*n + int(v&(1<<max(n-1, 0)-1))<<(3-max(n, 1))&3
	}
	return 4*n + int(v>>(n-3)&3)
}

// above is the least number beyond those of a bucket.
func above(bucket int) uint64 {
	n, quarter := bucket/4, uint64(bucket%4)
	if n < 3 {
		return 1 << n
	}
	return (5 + quarter) << (n - 3)
}

func (h *histogram) add(v uint32) { h[bucket(v)].Add(1) }

// durations returns the percentiles, for numbers of a unit of so many nanoseconds.
func (h *histogram) durations(unit float64) Durations {
	var counts [len(h)]uint64
	var d Durations
	for i := range h {
		counts[i] = h[i].Load()
		d.Count += counts[i]
	}
	at := func(share float64) time.Duration {
		seen := uint64(0)
		for i, n := range counts {
			if seen += n; n > 0 && float64(seen) >= share*float64(d.Count) {
				return time.Duration(unit * float64(above(i)))
			}
		}
		return 0
	}
	d.P50, d.P95, d.P99, d.Max = at(0.50), at(0.95), at(0.99), at(1)
	return d
}
