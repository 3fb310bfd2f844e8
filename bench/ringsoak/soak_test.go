package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
)

func TestEveryMessageIsAccountedFor(t *testing.T) {
	const duration = 500 * time.Millisecond // CI runs the program for longer
	if err := soakAll(t.Context(), options{devices: "cpu,sim", duration: duration, messages: 1 << 40, actors: 6, seed: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestPollingReceiversReceiveAllReplies(t *testing.T) {
	o := options{duration: time.Second, messages: 1 << 40, actors: 7, seed: 1}
	s, err := open(t.Context(), "cpu", o)
	if err != nil {
		t.Fatal(err)
	}
	s.roles = rolesOn(gpu.CUDA, 8, o.actors)
	if s.roles.polling == 0 || s.roles.polling+s.roles.blocking >= o.actors {
		t.Errorf("%+v", s.roles)
	}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRolesAreValidForAnyMachine(t *testing.T) {
	for _, b := range []gpu.Backend{gpu.CUDA, gpu.CPU, gpu.Sim} {
		for _, processors := range []int{1, 2, 16, 500} {
			for _, actors := range []int{2, 3, 32, 1000} {
				n := rolesOn(b, processors, actors)
				if n.streams < 1 || n.askers < 1 || n.askers > feeders || n.concurrent < 1 || n.blocking > actors || n.blocking < actors && n.polling < 1 {
					t.Errorf("%s, %d processors, %d actors: %+v", b, processors, actors, n)
				}
			}
		}
	}
}

func TestAwaitedNamesPendingWork(t *testing.T) {
	s := &soak{actors: []*member{{name: "done"}, {name: "behind"}}}
	s.actors[1].sent.add(ledger{5, 50})
	s.actors[1].received.add(ledger{2, 20})
	end := s.running.enter("stream 1")
	s.running.enter("asker 2")
	end()
	if got, want := s.awaited(), "asker 2; missing replies: behind 3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 12 {
		s.running.enter(fmt.Sprintf("worker %02d", i))
	}
	if got := s.running.String(); !strings.HasSuffix(got, "worker 06, 5 more") {
		t.Errorf("a long list is %q", got)
	}
}

func TestSoakEndsAfterEnoughMessages(t *testing.T) {
	if err := soakAll(t.Context(), options{devices: "cpu", duration: time.Hour, messages: 10, actors: 2, seed: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestInvalidOptionsAreErrors(t *testing.T) {
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

func TestDifferenceOfAccountsIsReported(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(m *member)
		want   string
	}{
		{"nothing is missing", func(*member) {}, ""},
		{"a message is lost", func(m *member) { m.final.Count-- }, "m: accepted 10 messages with a sum of 0x64, handled 8 messages"},
		{"a message is damaged", func(m *member) { m.final.Sum++ }, "handled 9 messages with a sum of 0x5b"},
		{"a dead letter is lost", func(m *member) { m.dead.remove(ledger{1, 10}) }, "dead letters 0 messages"},
		{"a reply is lost", func(m *member) { m.sent.add(ledger{1, 3}) }, "m: sent 5 messages with a sum of 0x17, received replies for 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &member{name: "m", final: ledger{9, 90}}
			m.accepted.add(ledger{10, 100})
			m.dead.add(ledger{1, 10})
			m.sent.add(ledger{4, 20})
			m.received.add(ledger{4, 20})
			tt.change(m)
			err := m.compare()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestGrowthIsReported(t *testing.T) {
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

// BenchmarkBookkeeping measures the cost per streamed message outside of package ring:
// creating the message and accounting for it and its reply.
func BenchmarkBookkeeping(b *testing.B) {
	var m member
	var batch [mostSent]message
	replies := make([]answer, mostSent*3/4)
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		compose(batch[:], r.Uint64())
		all, answered := entries(batch[:])
		m.accepted.add(all)
		m.sent.add(answered)
		m.received.add(received(replies))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*mostSent), "ns/message")
}
