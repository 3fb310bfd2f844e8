package spans

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A Set behaves like an array of flags.
func TestSpansAreASet(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(1, 2))
	var s Set
	var want [n]bool
	for range 5000 {
		r := Span{rng.IntN(n), rng.IntN(n + 1)}
		in := rng.IntN(2) == 0
		if in {
			s.Add(r)
		} else {
			s.Remove(r)
		}
		for i := r.Lo; i < r.Hi; i++ {
			want[i] = in
		}
		for i := range s {
			if s[i].Empty() || i > 0 && s[i-1].Hi >= s[i].Lo {
				t.Fatalf("%v is not in order", s)
			}
		}
		probe := Span{rng.IntN(n), rng.IntN(n + 1)}
		var have [n]bool
		for _, r := range s.Within(probe) {
			for i := r.Lo; i < r.Hi; i++ {
				have[i] = true
			}
		}
		any := false
		first, end := -1, n
		for i := range n {
			inside := i >= probe.Lo && i < probe.Hi
			if have[i] != (want[i] && inside) {
				t.Fatalf("element %d of %v within %v: %v", i, s, probe, have[i])
			}
			any = any || have[i]
			if inside && !want[i] && first < 0 {
				first = i
			}
			if first >= 0 && i < end && (!inside || want[i]) && i > first {
				end = i
			}
		}
		if s.Overlaps(probe) != any {
			t.Fatalf("%v overlaps %v: %v", s, probe, !any)
		}
		gap, found := s.Missing(probe)
		if found != (first >= 0) || found && gap != (Span{first, end}) {
			t.Fatalf("%v within %v misses %v (%v), want [%d,%d)", s, probe, gap, found, first, end)
		}
	}
	if slices.Contains(want[:], true) == (len(s) == 0) {
		t.Error("the set is empty when it should not be")
	}
}
