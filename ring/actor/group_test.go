package actor

import "testing"

func TestKeysAreSpreadEvenlyAndFewMove(t *testing.T) {
	const keys = 100_000
	for _, n := range []int{1, 2, 3, 10, 64, 100} {
		counts, moved := make([]int, n), 0
		for i := range uint64(keys) {
			key := i * i
			p, q := Pick(key, n), Pick(key, n+1)
			counts[p]++
			if p != q {
				moved++
				if q != n {
					t.Fatalf("with member %d more, key %d goes from %d to %d", n, key, p, q)
				}
			}
		}
		for p, c := range counts {
			if ideal := keys / n; c < ideal*8/10 || c > ideal*12/10 {
				t.Errorf("of %d members, number %d has %d keys, want about %d", n, p, c, ideal)
			}
		}
		if ideal := keys / (n + 1); moved < ideal*8/10 || moved > ideal*12/10 {
			t.Errorf("with one more member than %d, %d keys move, want about %d", n, moved, ideal)
		}
	}
	if Pick(1, 0) != -1 {
		t.Error("a member is chosen from none")
	}
}
