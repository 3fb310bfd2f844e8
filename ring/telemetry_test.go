package ring

import (
	"math"
	"testing"
)

func TestBucketsHoldTheirNumbers(t *testing.T) {
	last := -1
	for v := uint64(0); v <= math.MaxUint32; v += 1 + v/17 {
		b := bucket(uint32(v))
		if b < last || b >= len(histogram{}) {
			t.Fatalf("bucket of %d is %d, after %d", v, b, last)
		}
		last = b
		if top := above(b); v >= top || v > 8 && float64(top) > 1.26*float64(v) {
			t.Fatalf("%d is in the bucket below %d", v, top)
		}
	}
	if above(bucket(math.MaxUint32)) != 1<<32 {
		t.Error("the last bucket does not end at 1<<32")
	}
}

func TestPercentilesOfAHistogram(t *testing.T) {
	var h histogram
	for v := range uint32(1000) {
		h.add(v)
	}
	d := h.durations(2)
	for _, c := range []struct {
		name       string
		got, exact int64
	}{{"p50", int64(d.P50), 1000}, {"p95", int64(d.P95), 1900}, {"p99", int64(d.P99), 1980}, {"max", int64(d.Max), 1998}} {
		if c.got < c.exact || float64(c.got) > 1.26*float64(c.exact) {
			t.Errorf("%s is %d, want at least %d and a quarter more at most", c.name, c.got, c.exact)
		}
	}
	if d.Count != 1000 {
		t.Errorf("count is %d", d.Count)
	}
}
