// Package measure implements the measurements of telemetry: distributions of durations,
// and rates.
package measure

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Rate measures how fast a count grows. It keeps two readings of the count.
type Rate struct {
	mu        sync.Mutex
	old, last reading
}

type reading struct {
	at    time.Time
	count uint64
}

// rateWindow is the minimum time between the two readings of a rate.
const rateWindow = time.Second

// Start sets the time of the first reading.
func (r *Rate) Start(now time.Time) {
	r.old.at = now
	r.last.at = now
}

// At adds a reading and returns the rate per second.
func (r *Rate) At(now time.Time, count uint64) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.last.at) >= rateWindow {
		r.old, r.last = r.last, reading{now, count}
	}
	took := now.Sub(r.old.at).Seconds()
	if took <= 0 || count < r.old.count {
		return 0
	}
	return float64(count-r.old.count) / took
}

// Histogram counts 32-bit numbers by size: eight buckets from each power of two to the
// next. It is safe for concurrent use.
type Histogram struct {
	counts [Buckets]atomic.Uint64
	sum    atomic.Uint64
	max    atomic.Uint32
}

// Buckets is the number of buckets of a Histogram.
const Buckets = (33 - bucketBits) << bucketBits

// Numbers below 1<<bucketBits have their own buckets.
const bucketBits = 3

// bucket returns the bucket of v: the position of its highest bit above bucketBits,
// and the next bits.
func bucket(v uint32) int {
	up := max(bits.Len32(v)-bucketBits-1, 0)
	return up<<bucketBits + int(v>>up)
}

// Above returns the smallest number above a bucket.
func Above(bucket int) uint64 {
	up := max(bucket>>bucketBits-1, 0)
	return uint64(bucket-up<<bucketBits+1) << up
}

// Add counts v.
func (h *Histogram) Add(v uint32) { h.addMany(bucket(v), 1, uint64(v), v) }

// addMany adds n numbers of one bucket.
func (h *Histogram) addMany(bucket int, n, sum uint64, largest uint32) {
	h.counts[bucket].Add(n)
	h.sum.Add(sum)
	for old := h.max.Load(); largest > old && !h.max.CompareAndSwap(old, largest); {
		old = h.max.Load()
	}
}

// Load returns the counts by bucket, and their total.
func (h *Histogram) Load() (counts [Buckets]uint64, n uint64) {
	for i := range h.counts {
		counts[i] = h.counts[i].Load()
		n += counts[i]
	}
	return counts, n
}

// Sum returns the sum of the numbers.
func (h *Histogram) Sum() uint64 { return h.sum.Load() }

// Time adds the nanoseconds between two times.
func (h *Histogram) Time(from, to time.Time) {
	h.Add(uint32(min(max(to.Sub(from), 0), 1<<32-1)))
}

// Summary describes a distribution of durations. Percentiles are at most an eighth too
// large.
type Summary struct {
	Count              uint64
	Sum                time.Duration
	P50, P95, P99, Max time.Duration
}

// Summary returns the distribution of numbers of nanoseconds.
func (h *Histogram) Summary() Summary {
	counts, n := h.Load()
	most := uint64(h.max.Load())
	at := func(share float64) time.Duration {
		seen := uint64(0)
		for i, c := range counts {
			if seen += c; c > 0 && float64(seen) >= share*float64(n) {
				return time.Duration(min(Above(i)-1, most))
			}
		}
		return 0
	}
	return Summary{Count: n, Sum: time.Duration(h.sum.Load()),
		P50: at(0.50), P95: at(0.95), P99: at(0.99), Max: time.Duration(most)}
}

// Streak collects numbers of one bucket, so that consecutive similar numbers cost one
// access to the histogram.
type Streak struct {
	bucket int
	n, sum uint64
	max    uint32
}

// Add counts v in h, now or in a later call.
func (s *Streak) Add(h *Histogram, v uint32) {
	if b := bucket(v); b != s.bucket || s.n == 0 {
		s.Flush(h)
		s.bucket = b
	}
	s.n++
	s.sum += uint64(v)
	s.max = max(s.max, v)
}

// Flush adds what Add has held back to h.
func (s *Streak) Flush(h *Histogram) {
	if s.n > 0 {
		h.addMany(s.bucket, s.n, s.sum, s.max)
		*s = Streak{}
	}
}
