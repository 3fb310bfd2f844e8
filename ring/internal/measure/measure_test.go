package measure

import (
	"math"
	"testing"
	"time"
)

func TestBucketsHoldTheirNumbers(t *testing.T) {
	last := -1
	for v := uint64(0); v <= math.MaxUint32; v += 1 + v/17 {
		b := bucket(uint32(v))
		if b < last || b >= Buckets {
			t.Fatalf("bucket of %d is %d, after %d", v, b, last)
		}
		last = b
		if top := Above(b); v >= top || float64(top-1) > 1.125*float64(v) {
			t.Fatalf("%d is in the bucket below %d", v, top)
		}
	}
	if Above(bucket(math.MaxUint32)) != 1<<32 {
		t.Error("the last bucket does not end at 1<<32")
	}
}

func TestPercentilesOfAHistogram(t *testing.T) {
	var h Histogram
	for v := range uint32(1000) {
		h.Add(v)
	}
	d := h.Summary()
	for _, c := range []struct {
		name       string
		got, exact int64
	}{{"p50", int64(d.P50), 499}, {"p95", int64(d.P95), 949}, {"p99", int64(d.P99), 989}, {"max", int64(d.Max), 999}} {
		if c.got < c.exact || float64(c.got) > 1.125*float64(c.exact) {
			t.Errorf("%s is %d, want at least %d and an eighth more at most", c.name, c.got, c.exact)
		}
	}
	if d.Count != 1000 {
		t.Errorf("count is %d", d.Count)
	}
}

func TestRatesAreOfTheLastSeconds(t *testing.T) {
	at := time.Now()
	var r Rate
	r.Start(at)
	for _, s := range []struct {
		name  string
		after time.Duration
		count uint64
		want  float64
	}{
		{"at the start", 0, 0, 0},
		{"within the first second, since the start", 500 * time.Millisecond, 100, 200},
		{"after a second, since the start", 500 * time.Millisecond, 300, 300},
		{"after one and a half, since the start: the window is two seconds at most", 500 * time.Millisecond, 450, 300},
		{"after two, over the last", 500 * time.Millisecond, 1300, 1000},
		{"long after, since somebody looked", 10 * time.Second, 2300, 100},
		{"of a count that went back", time.Second, 0, 0},
	} {
		at = at.Add(s.after)
		if got := r.At(at, s.count); got != s.want {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}
}
