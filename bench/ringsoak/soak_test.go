package main

import (
	"strings"
	"testing"
	"time"
)

func TestEveryMessageIsAccountedFor(t *testing.T) {
	duration := 2 * time.Second
	if testing.Short() {
		duration = 500 * time.Millisecond
	}
	if err := soakAll(t.Context(), options{devices: "cpu,sim", duration: duration, messages: 1 << 40, actors: 6, seed: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestASoakEndsWhenThereWereEnoughMessages(t *testing.T) {
	if err := soakAll(t.Context(), options{devices: "cpu", duration: time.Hour, messages: 10, actors: 2, seed: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoSoakIsAnError(t *testing.T) {
	for name, o := range map[string]options{
		"one actor":  {devices: "cpu", duration: time.Second, actors: 1},
		"no device":  {devices: "cuda:99", duration: time.Second, actors: 2},
		"no backend": {devices: "abacus", duration: time.Second, actors: 2},
	} {
		if err := soakAll(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestADifferenceOfAccountsIsFound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(m *member)
		want   string
	}{
		{"nothing is missing", func(*member) {}, ""},
		{"a message is lost", func(m *member) { m.final.Count-- }, "m: taken 10 messages with a sum of 0x64, handled 8 messages"},
		{"a message is damaged", func(m *member) { m.final.Sum++ }, "handled 9 messages with a sum of 0x5b"},
		{"a dead letter is lost", func(m *member) { m.dead.add(^uint64(0), ^uint64(9)) }, "dead letters 0 messages"},
		{"a reply is lost", func(m *member) { m.sent.add(1, 3) }, "m: sent 5 messages with a sum of 0x17, replies came to 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &member{name: "m", final: ledger{9, 90}}
			m.accepted.add(10, 100)
			m.dead.add(1, 10)
			m.sent.add(4, 20)
			m.received.add(4, 20)
			tt.change(m)
			err := m.compare()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestWhatGrowsIsFound(t *testing.T) {
	const mb = 1 << 20
	steady := []sample{{heap: 100 * mb, goroutines: 50}, {heap: 90 * mb, goroutines: 60}, {heap: 95 * mb, goroutines: 55}, {heap: 101 * mb, goroutines: 70}}
	if err := (&watch{samples: steady}).verdict(); err != nil {
		t.Errorf("a steady soak: %v", err)
	}
	for what, grown := range map[string]sample{
		"memory of the device": {device: 400 * mb}, "Go's heap": {heap: 400 * mb},
		"memory of the process": {resident: 400 * mb}, "the number of goroutines": {goroutines: 400},
	} {
		err := (&watch{samples: append(steady[:3:3], grown)}).verdict()
		if err == nil || !strings.HasPrefix(err.Error(), what+" grew from ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
