package archive

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// texts returns a random text, and one that is made of it by a few changes.
func texts(r *rand.Rand) (from, to string) {
	var a, b []string
	for range r.IntN(300) {
		line := strings.Repeat("x", r.IntN(4)) + "\n"
		a = append(a, line)
		for r.IntN(20) == 0 {
			b = append(b, "new "+line)
		}
		if r.IntN(20) > 0 {
			b = append(b, line)
		}
	}
	from, to = strings.Join(a, ""), strings.Join(b, "")
	if r.IntN(2) == 0 {
		from = strings.TrimSuffix(from, "\n")
	}
	return from, to
}

func TestDifferencesRestoreTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		from, to := texts(r)
		changes := difference(from, to)
		if got, err := apply(from, changes); err != nil || got != to {
			t.Fatalf("from %q to %q: %q, %v; changes %q", from, to, got, err, changes)
		}
	}
	text := strings.Repeat("a\nb\nc\n", 1000)
	if changes := difference(text, strings.Replace(text, "b", "B", 1)); len(changes) > 20 {
		t.Errorf("one line differs: %q", changes)
	}
	for _, bad := range []string{"x", "1", "0 0 2\na\n", "-1 0 0\n", "9 9 9\n"} {
		if got, err := apply("a\nb\n", bad); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}
