package ring

import (
	"quern.dev/internal/prometheus"
	"quern.dev/ring/internal/measure"
)

// The bounds of histograms are powers of two of nanoseconds: every power from 256 ns
// to a millisecond, then every second one to 4.3 s.
const (
	firstBound = 8
	fineBound  = 20
	lastBound  = 32
)

// writeHistogram writes a histogram of nanoseconds, in seconds.
func writeHistogram(p *prometheus.Writer, name string, h *measure.Histogram, labels ...prometheus.Label) {
	counts, n := h.Load()
	with := func(bound string) []prometheus.Label {
		return append(labels[:len(labels):len(labels)], label("le", bound))
	}
	below, next := uint64(0), 0
	for power := firstBound; power <= lastBound; power++ {
		if power > fineBound && power%2 != 0 {
			continue
		}
		for ; next < measure.Buckets && measure.Above(next) <= 1<<power; next++ {
			below += counts[next]
		}
		p.Sample(name+"_bucket", float64(below), with(prometheus.Decimal(float64(uint64(1)<<power)/1e9))...)
	}
	p.Sample(name+"_bucket", float64(n), with("+Inf")...)
	p.Sample(name+"_sum", float64(h.Sum())/1e9, labels...)
	p.Sample(name+"_count", float64(n), labels...)
}
