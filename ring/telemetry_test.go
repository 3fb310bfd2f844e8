package ring

import (
	"testing"
	"time"

	"quern.dev/ring/internal/measure"
	"quern.dev/ring/internal/rings"
)

func TestATallyCountsWhatSingleMessagesDo(t *testing.T) {
	var one, many meter
	one.start(0.5)
	many.start(0.5)
	var n tally
	for i := range uint32(1000) {
		cycles, waited := 1000+i%3*(i%7), i*i
		one.handled(result{Result: rings.Result{Cycles: cycles, Waited: waited}, timed: true})
		n.add(&many, result{Result: rings.Result{Cycles: cycles, Waited: waited}, timed: true})
	}
	n.flush(&many)
	for _, c := range []struct {
		name      string
		got, want measure.Summary
	}{{"handler", many.handler.Summary(), one.handler.Summary()}, {"waiting", many.waiting.Summary(), one.waiting.Summary()}} {
		if c.got != c.want || c.want.Count != 1000 {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	if d := one.handler.Summary(); d.P50 < 500 || d.Max != 506 {
		t.Errorf("handler: %+v, want half a nanosecond a cycle", d)
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
			m.handled(result{Result: rings.Result{Cycles: 1000, Waited: 500}, timed: true})
		}
	})
	b.Run("tally", func(b *testing.B) {
		var n tally
		for b.Loop() {
			n.add(&m, result{Result: rings.Result{Cycles: 1000, Waited: 500}, timed: true})
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
