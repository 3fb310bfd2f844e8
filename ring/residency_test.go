package ring

import "testing"

func TestActorsThatFit(t *testing.T) {
	for _, tt := range []struct {
		name       string
		parts      []part
		processors int
		fit        bool
	}{
		{"as many as there is room for", []part{{32, 16}}, 2, true},
		{"one more", []part{{33, 16}}, 2, false},
		{"of two kinds", []part{{16, 16}, {4, 4}}, 2, true},
		{"of two kinds, one more", []part{{16, 16}, {5, 4}}, 2, false},
		{"a kind without actors takes nothing", []part{{0, 1}, {32, 16}}, 2, true},
		{"one that takes a whole multiprocessor", []part{{1, 1}, {1, 16}}, 1, false},
	} {
		if got := fits(tt.parts, tt.processors); got != tt.fit {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
