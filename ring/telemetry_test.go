package ring

import (
	"math"
	"testing"
	"time"
)

func TestBucketsHoldTheirNumbers(t *testing.T) {
	last := -1
	for v := uint64(0); v <= math.MaxUint32; v += 1 + v/17 {
		b := bucket(uint32(v))
		if b < last || b >= buckets {
			t.Fatalf("bucket of %d is %d, after %d", v, b, last)
		}
		last = b
		if top := above(b); v >= top || float64(top-1) > 1.125*float64(v) {
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
	d := h.durations()
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

func TestATallyCountsWhatSingleMessagesDo(t *testing.T) {
	var one, many meter
	one.start(0.5)
	many.start(0.5)
	var n tally
	for i := range uint32(1000) {
		cycles, waited := 1000+i%3*(i%7), i*i
		one.handled(result{cycles: cycles, waited: waited, timed: true})
		n.add(&many, result{cycles: cycles, waited: waited, timed: true})
	}
	n.flush(&many)
	for _, c := range []struct {
		name      string
		got, want Durations
	}{{"handler", many.handler.durations(), one.handler.durations()}, {"waiting", many.waiting.durations(), one.waiting.durations()}} {
		if c.got != c.want || c.want.Count != 1000 {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	if d := one.handler.durations(); d.P50 < 500 || d.Max != 506 {
		t.Errorf("handler: %+v, want half a nanosecond a cycle", d)
	}
}

func TestRatesAreOfTheLastSeconds(t *testing.T) {
	at := time.Now()
	var r rate
	r.start(at)
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
		if got := r.at(at, s.count); got != s.want {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}
}

func TestPausesAreCountedByTheirCause(t *testing.T) {
	var p pauses
	add := func(cause string, leaving, ending, away, beginning time.Duration) {
		at := pausing{asked: time.Now()}
		at.left = at.asked.Add(leaving)
		at.ended = at.left.Add(ending)
		at.back = at.ended.Add(away)
		at.begun = at.back.Add(beginning)
		p.add(cause, &at)
	}
	add("free", 1000, 200, 30, 4)
	add("actor", 5, 5, 5, 5)
	add("free", 1000, 200, 30, 4)
	got := p.load()
	if len(got) != 2 || got[0].Cause != "actor" || got[1].Cause != "free" || got[1].Duration.Count != 2 {
		t.Fatalf("pauses are %+v", got)
	}
	free := got[1]
	for _, part := range []struct {
		name      string
		got, want time.Duration
	}{
		{"all", free.Duration.Sum, 2468}, {"leaving", free.Leaving.Sum, 2000}, {"ending", free.Ending.Sum, 400}, {"away", free.Away.Sum, 60}, {"beginning", free.Beginning.Sum, 8},
	} {
		if part.got != part.want {
			t.Errorf("%s of the pauses took %v, want %v", part.name, part.got, part.want)
		}
	}
}

func BenchmarkHandled(b *testing.B) {
	var m meter
	m.start(0.5)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			m.handled(result{cycles: 1000, waited: 500, timed: true})
		}
	})
	b.Run("tally", func(b *testing.B) {
		var n tally
		for b.Loop() {
			n.add(&m, result{cycles: 1000, waited: 500, timed: true})
		}
		n.flush(&m)
	})
	b.Run("round trip", func(b *testing.B) {
		i := uint64(0)
		for b.Loop() {
			m.answered(m.begin(i))
			i++
		}
	})
}
